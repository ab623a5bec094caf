/* SPDX-License-Identifier: MIT */

/* What a listener or a shell hook answers: a known verdict, bounded valid texts, and a revision that is an
 * object. */

#include <string.h>

#include "common/limits.h"
#include "fuzz.h"
#include "policy/hook-fold.h"

static void check_text(const char *text, glong chars_max) {
        MUST(!text || (g_utf8_validate(text, -1, NULL) && g_utf8_strlen(text, -1) <= chars_max));
}

static void check(const HookFold *fold) {
        const char *revision;
        size_t size = 0;

        MUST(hook_verdict_to_string(hook_fold_verdict(fold)));
        MUST((hook_fold_verdict(fold) == HOOK_NO_OPINION) == !hook_fold_receipt(fold));
        check_text(hook_fold_reason(fold), HOOK_TEXT_CHARS_MAX);
        check_text(hook_fold_context(fold), HOOK_CONTEXT_CHARS_MAX);
        check_text(hook_fold_receipt(fold), 240);
        revision = hook_fold_revision(fold, &size);
        if (revision) {
                g_autoptr(Jdoc) doc = NULL;

                MUST(size <= HOOK_REVISION_BYTES_MAX);
                MUST(jdoc_parse(revision, size, NULL, &doc, NULL) == 0 && jval_is(jdoc_root(doc), J_OBJECT));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const HookSource strict = { .label = "s", .plugin = "p", .strict = true },
                                lenient = { .label = "l" };
        g_autoptr(HookFold) answers = hook_fold_new(), processes = hook_fold_new();
        const char *text = (const char *) data;

        (void) hook_fold_add_text(answers, &strict, text, size);
        check(answers);
        (void) hook_fold_add_text(answers, &lenient, text, size);
        check(answers);
        (void) hook_fold_add_process(processes, &lenient, size > 0 ? data[0] % 4 : 0, text, size);
        check(processes);
        (void) hook_fold_add_process(processes, &strict, 0, text, size);
        check(processes);
        return 0;
}
