/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <signal.h>
#include <string.h>

#include "service/tool-hook-end.h"

/* HK-07, HK-08: a hook's process that is gone said nothing, whatever its status; also one that is not there is not read as 0. */
static void test_no_end_is_a_verdict(void) {
        static const struct {
                UnitEnd kind;
                int status;
                HookFailure expected;
        } cases[] = {
                { UNIT_END_EXITED, 0, HOOK_FAILURE_EXITED },
                { UNIT_END_EXITED, 1, HOOK_FAILURE_EXITED },
                { UNIT_END_EXITED, 2, HOOK_FAILURE_EXITED },
                { UNIT_END_EXITED, -1, HOOK_FAILURE_EXITED },
                { UNIT_END_SIGNAL, SIGKILL, HOOK_FAILURE_KILLED },
                { UNIT_END_SIGNAL, -1, HOOK_FAILURE_KILLED },
                { UNIT_END_MEMORY, SIGKILL, HOOK_FAILURE_KILLED },
                { UNIT_END_TIMEOUT, -1, HOOK_FAILURE_KILLED },
                { UNIT_END_STOPPED, 0, HOOK_FAILURE_ABSENT },
                { UNIT_END_MANAGER_LOST, -1, HOOK_FAILURE_ABSENT },
                { _UNIT_END_INVALID, -1, HOOK_FAILURE_ABSENT },
        };
        const HookSource source = { .label = "guard", .plugin = "p", .strict = true };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const HostEnd end = { .kind = cases[i].kind, .status = cases[i].status, .reason = "a cause" };
                g_autoptr(HookFold) fold = hook_fold_new();

                g_test_message("%s %d", unit_end_to_string(end.kind) ?: "unknown", end.status);
                g_assert_cmpint(hook_failure_of_end(&end), ==, cases[i].expected);
                g_assert_cmpint(hook_fold_add_failure(fold, &source, hook_failure_of_end(&end), end.reason), ==, 1);
                g_assert_cmpint(hook_fold_verdict(fold), ==, HOOK_NO_VERDICT);
                g_assert_nonnull(strstr(hook_fold_receipt(fold), "\"guard\""));
                g_assert_nonnull(strstr(hook_fold_receipt(fold), hook_failure_to_string(cases[i].expected)));
                g_assert_nonnull(strstr(hook_fold_receipt(fold), "a cause"));
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/hook-end/HK-07-HK-08-B1-no-end-is-a-verdict", test_no_end_is_a_verdict);
        return g_test_run();
}
