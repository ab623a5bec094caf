/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "policy/hook-fold.h"

#define LABEL_CHARS_MAX   64
#define RECEIPT_CHARS_MAX 240
#define CLIP_MARK         " [clipped]"
#define CONTEXT_MARK      "[hook context]\n"

struct HookFold {
        HookVerdict verdict;
        char *label;
        char *plugin;
        char *reason;
        char *receipt;
        char *revision;
        size_t revision_size;
        char *revisor;
        GString *context;
        size_t context_chars;
        bool context_full;
        unsigned allows;
        unsigned asked;
};

static const char *const failure_words[_HOOK_FAILURE_MAX] = {
        [HOOK_FAILURE_TIMED_OUT] = "did not answer in time",
        [HOOK_FAILURE_EXITED] = "ended without an answer",
        [HOOK_FAILURE_KILLED] = "was killed by a signal",
        [HOOK_FAILURE_THREW] = "failed",
        [HOOK_FAILURE_MALFORMED] = "gave an answer that is no verdict",
        [HOOK_FAILURE_TOO_LARGE] = "gave a revision that is too large",
        [HOOK_FAILURE_ABSENT] = "has no running host",
        [HOOK_FAILURE_REVOKED] = "was withdrawn while it was asked",
};

static const char *const verdict_words[_HOOK_VERDICT_MAX] = {
        [HOOK_NO_OPINION] = "no-opinion",
        [HOOK_ASK] = "ask",
        [HOOK_DENY] = "deny",
        [HOOK_NO_VERDICT] = "no-verdict",
};

const char *hook_failure_to_string(HookFailure failure) {
        return failure >= 0 && failure < _HOOK_FAILURE_MAX ? failure_words[failure] : NULL;
}

const char *hook_verdict_to_string(HookVerdict verdict) {
        return verdict >= 0 && verdict < _HOOK_VERDICT_MAX ? verdict_words[verdict] : NULL;
}

HookFold *hook_fold_new(void) {
        HookFold *fold = g_new0(HookFold, 1);

        fold->context = g_string_new(NULL);
        return fold;
}

HookFold *hook_fold_free(HookFold *fold) {
        if (!fold)
                return NULL;

        g_free(fold->label);
        g_free(fold->plugin);
        g_free(fold->reason);
        g_free(fold->receipt);
        g_free(fold->revision);
        g_free(fold->revisor);
        (void) g_string_free(fold->context, TRUE);
        g_free(fold);
        return NULL;
}

/* ---- texts ---- */

/* Cuts a valid UTF-8 text to a number of characters, the mark included. */
static char *clip(char *text, size_t chars_max) {
        size_t mark = strlen(CLIP_MARK);
        char *end;

        if (g_utf8_strlen(text, -1) <= (glong) chars_max)
                return text;

        end = g_utf8_offset_to_pointer(text, (glong) (chars_max - mark));
        *end = '\0';
        end = g_strconcat(text, CLIP_MARK, NULL);
        g_free(text);
        return end;
}

static char *clean_text(const char *text, size_t size, size_t chars_max) {
        return clip(sanitize_strip(text, size), chars_max);
}

static char *clean_line(const char *text, size_t chars_max) {
        /* Four bytes a character at most, escapes may make it longer: clip() has the last word. */
        return clip(sanitize_line(text, chars_max * 4, NULL), chars_max);
}

static void add_context(HookFold *fold, const HookSource *source, const char *text, size_t size) {
        g_autofree char *label = clean_line(source->label, LABEL_CHARS_MAX);
        g_autofree char *clean = clean_text(text, size, HOOK_TEXT_CHARS_MAX);
        g_autofree char *block = g_strdup_printf(
                        "%s%s: %s\n", fold->context->len == 0 ? CONTEXT_MARK : "", label, clean);
        size_t chars = (size_t) g_utf8_strlen(block, -1);
        size_t left = HOOK_CONTEXT_CHARS_MAX - fold->context_chars;

        if (fold->context_full)
                return;
        if (chars > left) {
                size_t mark = strlen(CLIP_MARK);

                /* Without room for the mark the earlier text must lose some; that never happens to be much.
                 */
                fold->context_full = true;
                if (left < mark)
                        g_string_truncate(fold->context,
                                        (gsize) (g_utf8_offset_to_pointer(fold->context->str,
                                                                 (glong) (fold->context_chars -
                                                                                 (mark - left))) -
                                                        fold->context->str));
                else
                        g_string_append_len(fold->context, block,
                                        g_utf8_offset_to_pointer(block, (glong) (left - mark)) - block);
                g_string_append(fold->context, CLIP_MARK);
                fold->context_chars = HOOK_CONTEXT_CHARS_MAX;
                return;
        }
        g_string_append(fold->context, block);
        fold->context_chars += chars;
}

/* ---- folding ---- */

static const char *const receipt_words[_HOOK_VERDICT_MAX] = {
        [HOOK_ASK] = "asks for a person",
        [HOOK_DENY] = "said no",
        [HOOK_NO_VERDICT] = "could not be asked",
};

static void set_receipt(HookFold *fold, const char *detail) {
        g_autofree char *one_line = detail && *detail != '\0' ? clean_line(detail, RECEIPT_CHARS_MAX) : NULL;
        char *receipt = g_strdup_printf("hook \"%s\" %s%s%s", fold->label, receipt_words[fold->verdict],
                        one_line ? ": " : "", one_line ? one_line : "");

        g_free(fold->receipt);
        fold->receipt = clip(receipt, RECEIPT_CHARS_MAX);
}

/* Takes a verdict unless a stronger one, or an equal earlier one, stands. Returns whether it was taken. */
static bool take(HookFold *fold, const HookSource *source, HookVerdict verdict, const char *reason,
                size_t size) {
        if (verdict <= fold->verdict)
                return false;

        fold->verdict = verdict;
        g_free(fold->label);
        fold->label = clean_line(source->label, LABEL_CHARS_MAX);
        g_free(fold->plugin);
        fold->plugin = g_strdup(source->plugin);
        g_free(fold->reason);
        fold->reason = reason ? clean_text(reason, size, HOOK_TEXT_CHARS_MAX) : NULL;
        set_receipt(fold, fold->reason);
        return true;
}

static int fail(HookFold *fold, const HookSource *source, HookFailure failure, const char *detail) {
        g_autofree char *reason = NULL;

        assert(failure >= 0 && failure < _HOOK_FAILURE_MAX);
        if (!source->strict)
                return 0;

        reason = g_strdup_printf(
                        "it %s%s%s", failure_words[failure], detail ? ": " : "", detail ? detail : "");
        (void) take(fold, source, HOOK_NO_VERDICT, reason, strlen(reason));
        return 1;
}

int hook_fold_add_failure(
                HookFold *fold, const HookSource *source, HookFailure failure, const char *detail) {
        fold->asked++;
        return fail(fold, source, failure, detail);
}

/* Whether an object has no other members than these two; either may be NULL. */
static bool has_only(Jval object, const char *first, const char *second) {
        size_t known = (first && !jval_is(jval_member(object, first), J_ABSENT)) +
                       (second && !jval_is(jval_member(object, second), J_ABSENT));

        return jval_length(object) == known;
}

static int fold_revision(HookFold *fold, const HookSource *source, Jval input) {
        size_t size;
        const char *text;

        if (!jval_is(input, J_OBJECT))
                return fail(fold, source, HOOK_FAILURE_MALFORMED, "a revision must be an object");
        text = jval_source(input, &size);
        if (size > HOOK_REVISION_BYTES_MAX)
                return fail(fold, source, HOOK_FAILURE_TOO_LARGE, NULL);

        g_free(fold->revision);
        fold->revision = g_strndup(text, size);
        fold->revision_size = size;
        g_free(fold->revisor);
        fold->revisor = clean_line(source->label, LABEL_CHARS_MAX);
        return 0;
}

static int fold_reason(HookFold *fold, const HookSource *source, Jval answer, HookVerdict verdict) {
        Jval reason = jval_member(answer, "reason");
        size_t size = 0;
        const char *text = jval_string(reason, &size);

        if (!has_only(answer, "kind", "reason") || (!text && !jval_is(reason, J_ABSENT)))
                return fail(fold, source, HOOK_FAILURE_MALFORMED, NULL);
        if (verdict == HOOK_DENY && !text)
                return fail(fold, source, HOOK_FAILURE_MALFORMED, "a deny needs a reason");

        (void) take(fold, source, verdict, text, size);
        return verdict == HOOK_DENY;
}

static int fold_object(HookFold *fold, const HookSource *source, Jval answer) {
        Jval kind = jval_member(answer, "kind");
        size_t size;
        const char *text;

        if (jval_equals_text(kind, "deny"))
                return fold_reason(fold, source, answer, HOOK_DENY);
        if (jval_equals_text(kind, "ask"))
                return fold_reason(fold, source, answer, HOOK_ASK);
        if (jval_equals_text(kind, "revise") && has_only(answer, "kind", "input"))
                return fold_revision(fold, source, jval_member(answer, "input"));
        if (jval_equals_text(kind, "abstain") && has_only(answer, "kind", NULL))
                return 0;
        if (jval_equals_text(kind, "allow")) {
                /* Nothing is approved in advance. The owner is told once, by whoever sees the count. */
                fold->allows++;
                return 0;
        }
        if (jval_equals_text(kind, "annotate") && has_only(answer, "kind", "text")) {
                text = jval_string(jval_member(answer, "text"), &size);
                if (text) {
                        add_context(fold, source, text, size);
                        return 0;
                }
        }
        return fail(fold, source, HOOK_FAILURE_MALFORMED, NULL);
}

int hook_fold_add_answer(HookFold *fold, const HookSource *source, Jval answer) {
        fold->asked++;
        switch (jval_type(answer)) {
        case J_ABSENT:
        case J_NULL:
                return 0;
        case J_OBJECT:
                return fold_object(fold, source, answer);
        default:
                return fail(fold, source, HOOK_FAILURE_MALFORMED, NULL);
        }
}

int hook_fold_add_text(HookFold *fold, const HookSource *source, const char *json, size_t size) {
        g_autoptr(Jdoc) doc = NULL;

        if (jdoc_parse(json, size, NULL, &doc, NULL) < 0) {
                fold->asked++;
                return fail(fold, source, HOOK_FAILURE_MALFORMED, "it is not JSON");
        }
        return hook_fold_add_answer(fold, source, jdoc_root(doc));
}

/* What a shell hook printed: {"decision":..., "reason":..., "updatedInput":..., "additionalContext":...}. */
static int fold_output(HookFold *fold, const HookSource *source, Jval output) {
        Jval decision = jval_member(output, "decision"), reason = jval_member(output, "reason");
        Jval input = jval_member(output, "updatedInput"), context = jval_member(output, "additionalContext");
        HookVerdict verdict = jval_equals_text(decision, "deny") || jval_equals_text(decision, "block")
                                              ? HOOK_DENY
                              : jval_equals_text(decision, "ask") ? HOOK_ASK
                                                                  : HOOK_NO_OPINION;
        size_t size = 0;
        const char *text = jval_string(context, &size);
        int r = 0;

        if (text)
                add_context(fold, source, text, size);
        if (jval_equals_text(decision, "allow"))
                fold->allows++;
        if (!jval_is(input, J_ABSENT) && verdict != HOOK_DENY)
                r = fold_revision(fold, source, input);
        if (r == 0 && verdict != HOOK_NO_OPINION) {
                text = jval_string(reason, &size);
                (void) take(fold, source, verdict, text, size);
                r = verdict == HOOK_DENY;
        }
        return r;
}

int hook_fold_add_process(
                HookFold *fold, const HookSource *source, int status, const char *output, size_t size) {
        static const char hard_deny[] = "it ended with status 2";
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *detail = NULL;

        fold->asked++;
        if (status == 2) {
                (void) take(fold, source, HOOK_DENY, hard_deny, strlen(hard_deny));
                return 1;
        }
        if (status < 0)
                return fail(fold, source, HOOK_FAILURE_KILLED, NULL);
        if (status > 0) {
                detail = g_strdup_printf("status %d", status);
                return fail(fold, source, HOOK_FAILURE_EXITED, detail);
        }
        if (jdoc_parse(output, size, NULL, &doc, NULL) < 0 || !jval_is(jdoc_root(doc), J_OBJECT))
                return 0;
        return fold_output(fold, source, jdoc_root(doc));
}

/* ---- what came out ---- */

HookVerdict hook_fold_verdict(const HookFold *fold) {
        return fold->verdict;
}

const char *hook_fold_label(const HookFold *fold) {
        return fold->label;
}

const char *hook_fold_plugin(const HookFold *fold) {
        return fold->plugin;
}

const char *hook_fold_reason(const HookFold *fold) {
        return fold->reason;
}

const char *hook_fold_receipt(const HookFold *fold) {
        return fold->receipt;
}

const char *hook_fold_revision(const HookFold *fold, size_t *ret_size) {
        if (fold->revision && ret_size)
                *ret_size = fold->revision_size;
        return fold->revision;
}

const char *hook_fold_revisor(const HookFold *fold) {
        return fold->revisor;
}

const char *hook_fold_context(const HookFold *fold) {
        return fold->context->len > 0 ? fold->context->str : NULL;
}

unsigned hook_fold_allows(const HookFold *fold) {
        return fold->allows;
}

unsigned hook_fold_asked(const HookFold *fold) {
        return fold->asked;
}
