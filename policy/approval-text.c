/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "common/sha256.h"
#include "policy/approval-text.h"

#define DIGEST_DOMAIN     "codewhale-approval-card-v1"
#define LINE_BYTES_MAX    512
#define BUILD_SHOWN_CHARS 12
#define SPACES_MAX        16
#define LINE_ENDS_MAX     4
#define LOOKED_AT_BYTES   (16 * APPROVAL_PREVIEW_BYTES_MAX)

void approval_text_done(ApprovalText *text) {
        g_clear_pointer(&text->title, g_free);
        g_clear_pointer(&text->body, g_free);
        g_clear_pointer(&text->preview, g_free);
        g_clear_pointer(&text->digest, g_free);
}

/* ---- making text safe to show ---- */

char *approval_text_squeeze(const char *text, bool *ret_squeezed) {
        g_autoptr(GString) out = g_string_sized_new(strlen(text));
        bool squeezed = false;

        while (*text != '\0') {
                size_t blanks = 0, ends = 0;

                while (text[blanks] == ' ' || text[blanks] == '\t')
                        blanks++;
                while (text[ends] == '\n')
                        ends++;
                if (blanks > SPACES_MAX || ends > LINE_ENDS_MAX) {
                        g_string_append_printf(out, "[%zu %s]", MAX(blanks, ends),
                                        ends > 0 ? "line ends" : "blanks");
                        squeezed = true;
                } else if (blanks + ends > 0)
                        g_string_append_len(out, text, (gssize) (blanks + ends));
                text += blanks + ends;
                if (blanks + ends == 0)
                        g_string_append_c(out, *text++);
        }
        *ret_squeezed = squeezed;
        return g_string_free(g_steal_pointer(&out), FALSE);
}

/* One line of somebody else's; "" for NULL. */
static char *clean(const char *text, bool *escaped) {
        g_autofree char *line = NULL;
        SanitizeFlags flags;
        bool squeezed;
        char *out;

        line = sanitize_line(text ? text : "", LINE_BYTES_MAX, &flags);
        out = approval_text_squeeze(line, &squeezed);
        *escaped |= flags != 0 || squeezed;
        return out;
}

static void make_preview(const ApprovalFacts *facts, ApprovalText *text) {
        g_autofree char *safe = NULL, *squeezed = NULL;
        SanitizeFlags flags, again;
        bool was_squeezed;

        size_t size = MIN(facts->arguments_size, LOOKED_AT_BYTES);

        /* Squeezed before it is cut, or padding would decide what can be seen. A character is at most ten
         * bytes as an escape. What lies beyond is not looked at: megabytes would hold up everybody to show
         * nothing more. */
        safe = sanitize_block_n(facts->arguments, size, size * 10 + 1, &flags);
        squeezed = approval_text_squeeze(safe, &was_squeezed);
        text->preview = sanitize_block(squeezed, APPROVAL_PREVIEW_BYTES_MAX, &again);
        text->escaped |= (flags & SANITIZE_ESCAPED) || was_squeezed;
        text->cut = (again & SANITIZE_CUT) || size < facts->arguments_size;
}

/* ---- the body ---- */

static void append_field(GString *body, const char *label, const char *value, ApprovalText *text) {
        g_autofree char *line = NULL;

        if (!value)
                return;
        line = clean(value, &text->escaped);
        g_string_append_printf(body, "%s: %s\n", label, line);
}

static void append_builder(GString *body, const char *label, const BuildScope *build, const char *name,
                ApprovalText *text) {
        g_autofree char *line = NULL, *shown = NULL;

        if (!build)
                return;
        line = g_strdup_printf("%s%s%s%s, build %.*s", name ? name : build->plugin, name ? " (" : "",
                        name ? build->plugin : "", name ? ")" : "", BUILD_SHOWN_CHARS, build->content_hash);
        shown = clean(line, &text->escaped);
        g_string_append_printf(body, "%s: %s\n", label, shown);
}

/* A listener's reason is its own words. NULL: this step asked for nothing. */
static char *reason_of(const TraceStep *step, bool *escaped) {
        if (step->verdict != VERDICT_ASK)
                return NULL;
        *escaped |= step->escaped;
        return clean(step->why, escaped);
}

static void append_reasons(GString *body, const Trace *trace, ApprovalText *text) {
        for (size_t i = 0; trace && i < trace_length(trace); i++) {
                const TraceStep *step = trace_step(trace, i);
                g_autofree char *why = reason_of(step, &text->escaped);

                if (why)
                        g_string_append_printf(body, "Asked because: %s (%s)\n", why, step->source);
        }
}

static void append_operands(GString *body, const ApprovalFacts *facts, ApprovalText *text) {
        for (size_t i = 0; i < facts->n_operands; i++) {
                g_autofree char *path = clean(facts->operands[i].path, &text->escaped);

                if (*facts->operands[i].sha256 == '\0')
                        g_string_append_printf(body, "File: %s (not there yet)\n", path);
                else
                        g_string_append_printf(body, "File: %s (as it is now: %.16s)\n", path,
                                        facts->operands[i].sha256);
        }
}

static void append_offers(GString *body, const ApprovalFacts *facts, unsigned offers) {
        for (GrantWidth width = 0; width < _GRANT_WIDTH_MAX; width++) {
                g_autofree char *words = NULL;

                if (!(offers & GRANT_OFFER(width)))
                        continue;
                words = grant_words(facts->subject, facts->keys, width, 0);
                g_string_append_printf(body, "May be allowed for the session (%s): %s\n",
                                grant_width_to_string(width), words);
        }
}

static char *make_body(const ApprovalFacts *facts, ApprovalText *text) {
        const ApprovalSubject *subject = facts->subject;
        g_autoptr(GString) body = g_string_new(NULL);

        append_field(body, "Tool", subject->tool, text);
        append_builder(body, "Plugin", subject->build, facts->plugin_name, text);
        append_builder(body, "Called by plugin", subject->called_from,
                        subject->build ? NULL : facts->plugin_name, text);
        append_field(body, "In its tool", facts->caller_tool, text);
        append_field(body, "Asked for by", facts->client, text);
        append_field(body, "Session", facts->session, text);
        append_field(body, "Workspace", facts->workspace, text);
        append_field(body, "Notice", facts->notice, text);
        append_field(body, "Arguments revised by hook", facts->revisor, text);
        append_reasons(body, facts->trace, text);
        append_operands(body, facts, text);
        append_offers(body, facts, text->offers);
        g_string_append_printf(body, "Arguments, written by somebody else%s (%zu bytes):\n%s\n",
                        text->cut ? ", CUT" : "", facts->arguments_size, text->preview);
        return g_string_free(g_steal_pointer(&body), FALSE);
}

static char *make_title(const ApprovalFacts *facts, ApprovalText *text) {
        const BuildScope *who =
                        facts->subject->called_from ? facts->subject->called_from : facts->subject->build;
        g_autofree char *line = g_strdup_printf("%s wants to run %s",
                        who ? (facts->plugin_name ? facts->plugin_name : who->plugin) : facts->client,
                        facts->subject->tool);

        return clean(line, &text->escaped);
}

/* ---- the digest ---- */

static void hash_optional(Sha256 *hash, const char *text) {
        sha256_update_u64(hash, text != NULL);
        if (text)
                sha256_update_framed(hash, text, strlen(text));
}

static void hash_build(Sha256 *hash, const BuildScope *build) {
        sha256_update_u64(hash, build != NULL);
        if (!build)
                return;
        hash_optional(hash, build->plugin);
        hash_optional(hash, build->content_hash);
        hash_optional(hash, build->entry);
        hash_optional(hash, build->selection);
        hash_optional(hash, build->boot);
}

static char *make_digest(const ApprovalFacts *facts, const ApprovalText *text) {
        g_autoptr(Sha256) hash = sha256_new();

        sha256_update_text(hash, DIGEST_DOMAIN);
        hash_optional(hash, facts->kind);
        hash_optional(hash, facts->call_id);
        hash_optional(hash, facts->session);
        hash_optional(hash, facts->client);
        hash_optional(hash, facts->workspace);
        hash_optional(hash, facts->subject->tool);
        hash_build(hash, facts->subject->build);
        hash_build(hash, facts->subject->called_from);
        hash_optional(hash, facts->keys ? facts->keys->exact : NULL);
        sha256_update_framed(hash, facts->arguments, facts->arguments_size);
        sha256_update_u64(hash, facts->n_operands);
        for (size_t i = 0; i < facts->n_operands; i++) {
                hash_optional(hash, facts->operands[i].path);
                hash_optional(hash, facts->operands[i].sha256);
        }
        sha256_update_u64(hash, text->offers);
        sha256_update_u64(hash, (text->cut ? 1u : 0u) | (text->escaped ? 2u : 0u));
        hash_optional(hash, text->title);
        hash_optional(hash, text->body);
        return sha256_finish_hex(hash);
}

void approval_text_make(const ApprovalFacts *facts, ApprovalText *ret) {
        ApprovalText text = {};

        assert(facts->kind && facts->call_id && facts->client && facts->subject);
        assert(facts->n_operands <= OPERANDS_MAX);
        make_preview(facts, &text);
        text.offers = text.cut || !facts->keys ? 0 : facts->offers;
        text.title = make_title(facts, &text);
        text.body = make_body(facts, &text);
        text.digest = make_digest(facts, &text);
        *ret = text;
}

/* ---- for approvers ---- */

static void write_clean(JWriter *writer, const char *key, const char *value) {
        g_autofree char *line = NULL;
        bool escaped = false;

        if (!value)
                return;
        line = clean(value, &escaped);
        jwriter_member_string(writer, key, line);
}

static void write_origin(const ApprovalFacts *facts, JWriter *writer) {
        const BuildScope *links[] = { facts->subject->called_from, facts->subject->build };
        const char *chain[] = {
                facts->client,
                links[0] ? links[0]->plugin : NULL,
                facts->caller_tool,
                links[1] ? links[1]->plugin : NULL,
                facts->subject->tool,
        };

        jwriter_key(writer, "origin");
        jwriter_begin_array(writer);
        for (size_t i = 0; i < G_N_ELEMENTS(chain); i++) {
                bool escaped = false;
                g_autofree char *line = chain[i] ? clean(chain[i], &escaped) : NULL;

                if (line)
                        jwriter_string(writer, line);
        }
        jwriter_end_array(writer);
}

static void write_lists(const ApprovalText *text, const ApprovalFacts *facts, JWriter *writer) {
        jwriter_key(writer, "operands");
        jwriter_begin_array(writer);
        for (size_t i = 0; i < facts->n_operands; i++) {
                jwriter_begin_object(writer);
                write_clean(writer, "path", facts->operands[i].path);
                jwriter_member_string(writer, "sha256", facts->operands[i].sha256);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);

        jwriter_key(writer, "reasons");
        jwriter_begin_array(writer);
        for (size_t i = 0; facts->trace && i < trace_length(facts->trace); i++) {
                bool escaped = false;
                g_autofree char *why = reason_of(trace_step(facts->trace, i), &escaped);

                if (why)
                        jwriter_string(writer, why);
        }
        jwriter_end_array(writer);

        jwriter_key(writer, "grants");
        jwriter_begin_array(writer);
        for (GrantWidth width = 0; width < _GRANT_WIDTH_MAX; width++) {
                g_autofree char *words = NULL;

                if (!(text->offers & GRANT_OFFER(width)))
                        continue;
                words = grant_words(facts->subject, facts->keys, width, 0);
                jwriter_begin_object(writer);
                jwriter_member_string(writer, "scope", grant_width_to_string(width));
                jwriter_member_string(writer, "words", words);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

void approval_text_write(const ApprovalText *text, const ApprovalFacts *facts, JWriter *writer) {
        const BuildScope *build =
                        facts->subject->build ? facts->subject->build : facts->subject->called_from;

        jwriter_begin_object(writer);
        jwriter_member_string(writer, "kind", facts->kind);
        jwriter_member_string(writer, "call_id", facts->call_id);
        jwriter_member_string(writer, "title", text->title);
        write_origin(facts, writer);
        write_clean(writer, "session", facts->session);
        if (build) {
                write_clean(writer, "plugin", build->plugin);
                write_clean(writer, "build", build->content_hash);
        }
        write_clean(writer, "tool", facts->subject->tool);
        write_clean(writer, "workspace", facts->workspace);
        jwriter_member_string(writer, "arguments", text->preview);
        jwriter_member_uint(writer, "arguments_size", facts->arguments_size);
        jwriter_member_boolean(writer, "cut", text->cut);
        jwriter_member_boolean(writer, "escaped", text->escaped);
        write_lists(text, facts, writer);
        jwriter_member_string(writer, "text", text->body);
        jwriter_member_string(writer, "digest", text->digest);
        jwriter_end_object(writer);
}
