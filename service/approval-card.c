/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "common/sha256.h"
#include "service/approval-card.h"

#define KIND "tool-call"
#define BUILD_SHOWN_CHARS 12

void approval_card_done(ApprovalCard *card) {
        g_free(card->title);
        g_free(card->json);
        g_free(card->digest);
        g_clear_pointer(&card->scopes, g_ptr_array_unref);
        *card = (ApprovalCard) {};
}

static ApprovalSubject card_subject(const Invocation *invocation, BuildScope *build) {
        const Registration *target = invocation->target;

        *build = (BuildScope) {
                .plugin = owner_get_plugin_id(target->owner), .content_hash = owner_get_content_hash(target->owner),
        };
        return (ApprovalSubject) { .tool = target->name, .build = build };
}

/* Why it asks: the steps of the decision that said so. */
static void write_reasons(const Invocation *invocation, JWriter *writer, GString *text) {
        const Trace *trace = invocation->decision.trace;

        jwriter_begin_array(writer);
        for (size_t i = 0; i < trace_length(trace); i++) {
                const TraceStep *step = trace_step(trace, i);

                if (step->verdict != VERDICT_ASK)
                        continue;
                jwriter_string(writer, step->why);
                g_string_append_printf(text, "Asked because: %s\n", step->why);
        }
        jwriter_end_array(writer);
}

static void write_grants(const Invocation *invocation, bool cut, JWriter *writer, GPtrArray *scopes) {
        BuildScope build;
        const ApprovalSubject subject = card_subject(invocation, &build);

        jwriter_begin_array(writer);
        for (GrantWidth width = 0; width < _GRANT_WIDTH_MAX; width++) {
                g_autofree char *words = NULL;

                /* Nobody may allow for longer what they could not read to its end (pains C8). */
                if (cut || !(invocation->decision.offers & GRANT_OFFER(width)))
                        continue;
                words = grant_words(&subject, &invocation->keys, width, 0);
                jwriter_begin_object(writer);
                jwriter_member_string(writer, "scope", grant_width_to_string(width));
                jwriter_member_string(writer, "words", words);
                jwriter_end_object(writer);
                g_ptr_array_add(scopes, g_strdup(grant_width_to_string(width)));
        }
        jwriter_end_array(writer);
        g_ptr_array_add(scopes, NULL);
}

static GString *card_text(const Invocation *invocation, const char *arguments, bool cut) {
        const Registration *target = invocation->target;
        GString *text = g_string_new(NULL);
        const char *revisor = invocation->fold ? hook_fold_revisor(invocation->fold) : NULL;

        g_string_append_printf(text, "Tool \"%s\" of plugin %s (%s, build %.*s) wants to run.\n", target->name,
                               plugin_get_name(owner_get_plugin(target->owner)), owner_get_plugin_id(target->owner),
                               BUILD_SHOWN_CHARS, owner_get_content_hash(target->owner));
        g_string_append_printf(text, "Asked by %s in session %s%s%s. The plugin runs alone in a sandbox of its own.\n",
                               invocation->client, invocation->session->id, invocation->session->label[0] ? " " : "",
                               invocation->session->label);
        if (revisor)
                g_string_append_printf(text, "A listener changed the arguments: %s\n", revisor);
        g_string_append_printf(text, "Arguments%s:\n%s\n", cut ? " (cut; the rest is not shown here)" : "", arguments);
        return text;
}

static char *card_digest(const Invocation *invocation, const char *json, size_t json_size) {
        g_autoptr(Sha256) hash = sha256_new();

        sha256_update_text(hash, "codewhale-approval-card-v1");
        sha256_update_framed(hash, invocation->call_id, sizeof invocation->call_id);
        sha256_update_framed(hash, invocation->input, invocation->input_size);
        sha256_update_framed(hash, json, json_size);
        return sha256_finish_hex(hash);
}

static void write_origin(const Invocation *invocation, JWriter *writer) {
        g_autofree char *tool = g_strdup_printf("%s: %s", owner_get_plugin_id(invocation->target->owner), invocation->target->name);

        jwriter_key(writer, "origin");
        jwriter_begin_array(writer);
        jwriter_string(writer, invocation->client);
        jwriter_string(writer, tool);
        jwriter_end_array(writer);
}

void approval_card_make(const Invocation *invocation, ApprovalCard *ret) {
        const Registration *target = invocation->target;
        SanitizeFlags flags;
        g_autofree char *arguments = sanitize_block_n(
                        invocation->input, invocation->input_size, APPROVAL_PREVIEW_BYTES_MAX, &flags);
        g_autofree char *inner = NULL;
        bool cut = flags & SANITIZE_CUT;
        g_autoptr(GString) text = card_text(invocation, arguments, cut);
        g_auto(JWriter) writer = {};
        size_t size;

        ret->title = g_strdup_printf("%s wants to run %s", plugin_get_name(owner_get_plugin(target->owner)), target->name);
        ret->scopes = g_ptr_array_new_with_free_func(g_free);

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "kind", KIND);
        jwriter_member_string(&writer, "call_id", invocation->call_id);
        jwriter_member_string(&writer, "title", ret->title);
        write_origin(invocation, &writer);
        jwriter_member_string(&writer, "session", invocation->session->id);
        jwriter_member_string(&writer, "plugin", owner_get_plugin_id(target->owner));
        jwriter_member_string(&writer, "build", owner_get_content_hash(target->owner));
        jwriter_member_string(&writer, "tool", target->name);
        jwriter_member_string(&writer, "arguments", arguments);
        jwriter_member_uint(&writer, "arguments_size", invocation->input_size);
        jwriter_member_boolean(&writer, "cut", cut);
        jwriter_member_boolean(&writer, "escaped", flags & SANITIZE_ESCAPED);
        jwriter_key(&writer, "reasons");
        write_reasons(invocation, &writer, text);
        jwriter_key(&writer, "grants");
        write_grants(invocation, cut, &writer, ret->scopes);
        jwriter_member_string(&writer, "text", text->str);
        jwriter_end_object(&writer);
        inner = jwriter_steal(&writer, &size);

        ret->digest = card_digest(invocation, inner, size);
        /* The digest can't be part of what it is over, so it goes in at the end. */
        ret->json = g_strdup_printf("%.*s,\"digest\":\"%s\"}", (int) size - 1, inner, ret->digest);
}
