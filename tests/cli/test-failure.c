/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "cli/failure.h"
#include "common/errors.h"

/* Exit statuses that scripts rely on. */
static void test_status(void) {
        static const struct {
                const char *name;
                int status;
        } cases[] = {
                { ERROR_INVALID_ARGUMENTS, 2 },
                { ERROR_NO_SUCH_PLUGIN, 3 },
                { ERROR_NO_SUCH_TOOL, 3 },
                { ERROR_NO_SUCH_COMMAND, 3 },
                { ERROR_NO_SUCH_DECISION, 3 },
                { ERROR_REFUSED_BY_POLICY, 4 },
                { ERROR_DENIED, 4 },
                { ERROR_HOOK_DENIED, 4 },
                { ERROR_NOT_AUTHORIZED, 4 },
                { ERROR_EXECUTION_FAILED, 6 },
                { ERROR_HOST_UNAVAILABLE, 6 },
                { ERROR_SANDBOX_REFUSED, 6 },
                { ERROR_DEADLINE_EXCEEDED, 6 },
                { ERROR_HOOK_FAILED, 6 },
                { ERROR_NOT_TRUSTED, 7 },
                { ERROR_CONTENT_CHANGED, 7 },
                { ERROR_CAPABILITIES_CHANGED, 7 },
                { ERROR_STILL_ENABLED, 7 },
                { ERROR_ALREADY_INSTALLED, 7 },
                { ERROR_INVALID_MANIFEST, 7 },
                { ERROR_NO_APPROVER, 8 },
                { ERROR_TIMED_OUT, 8 },
                { ERROR_WITHDRAWN, 8 },
                { SD_BUS_ERROR_SERVICE_UNKNOWN, 5 },
                { SD_BUS_ERROR_NO_SERVER, 5 },
                { SD_BUS_ERROR_DISCONNECTED, 5 },
                { SD_BUS_ERROR_NAME_HAS_NO_OWNER, 5 },
                { "org.freedesktop.DBus.Error.Spawn.ServiceNotFound", 5 },
                { "org.freedesktop.systemd1.NoSuchUnit", 5 },
                { "org.freedesktop.DBus.Error.TimedOut", 5 },
                { SD_BUS_ERROR_TIMEOUT, 1 },
                { "org.freedesktop.DBus.Error.UnknownMethod", 1 },
                { ERROR_BUSY, 1 },
                { "com.example.Unheard.Of", 1 },
                { NULL, 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s", cases[i].name);
                g_assert_cmpint(failure_status(cases[i].name), ==, cases[i].status);
        }
}

/* C4: an approval that was denied, refused by policy or not answered is told apart by name; every name has a
 * status. */
static void test_all_names(void) {
        static const char *const names[] = {
                ERROR_INVALID_ARGUMENTS,
                ERROR_INVALID_OPTION,
                ERROR_TOO_LARGE,
                ERROR_LIMIT_EXCEEDED,
                ERROR_BUSY,
                ERROR_NO_SUCH_PLUGIN,
                ERROR_AMBIGUOUS_PLUGIN,
                ERROR_NO_SUCH_TOOL,
                ERROR_NO_SUCH_COMMAND,
                ERROR_NO_SUCH_SESSION,
                ERROR_NO_SUCH_REQUEST,
                ERROR_NO_SUCH_APPROVAL,
                ERROR_NO_SUCH_GRANT,
                ERROR_NO_SUCH_DECISION,
                ERROR_NO_SUCH_KEY,
                ERROR_NO_SUCH_SKILL,
                ERROR_STALE_SELECTION,
                ERROR_INVALID_MANIFEST,
                ERROR_INVALID_BUNDLE,
                ERROR_PATH_TRAVERSAL,
                ERROR_LINK_FOUND,
                ERROR_NO_BUNDLE,
                ERROR_SEVERAL_BUNDLES,
                ERROR_NETWORK_APPROVAL,
                ERROR_NETWORK_DENIED,
                ERROR_INVALID_TOKEN,
                ERROR_CONTENT_CHANGED,
                ERROR_CAPABILITIES_CHANGED,
                ERROR_NOT_TRUSTED,
                ERROR_NOT_ACTIVE,
                ERROR_STILL_ENABLED,
                ERROR_ALREADY_INSTALLED,
                ERROR_NOT_INSTALLED_BY_US,
                ERROR_NOT_AUTHORIZED,
                ERROR_REFUSED_BY_POLICY,
                ERROR_DENIED,
                ERROR_TIMED_OUT,
                ERROR_NO_APPROVER,
                ERROR_WITHDRAWN,
                ERROR_HOOK_DENIED,
                ERROR_HOOK_FAILED,
                ERROR_EXECUTION_FAILED,
                ERROR_DEADLINE_EXCEEDED,
                ERROR_HOST_UNAVAILABLE,
                ERROR_SANDBOX_REFUSED,
                ERROR_ALREADY_DECIDED,
                ERROR_DIGEST_MISMATCH,
                ERROR_NOT_APPROVER,
                ERROR_OWN_APPROVAL,
        };
        static const char *const general[] = { ERROR_LIMIT_EXCEEDED, ERROR_BUSY, NULL };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_test_message("%s", names[i]);
                if (!g_strv_contains(general, names[i]))
                        g_assert_cmpint(failure_status(names[i]), !=, EXIT_STATUS_FAILURE);
        }
}

static void test_hint(void) {
        Cli user = {}, system = { .options[OPTION_SYSTEM] = "" };
        g_autofree char *named = failure_hint(&user, ERROR_NOT_TRUSTED, "counter");
        g_autofree char *quoted = failure_hint(&user, ERROR_NOT_TRUSTED, "a; rm -rf x");
        g_autofree char *unnamed = failure_hint(&user, ERROR_STILL_ENABLED, NULL);
        g_autofree char *start = failure_hint(&user, SD_BUS_ERROR_SERVICE_UNKNOWN, NULL);
        g_autofree char *start_system = failure_hint(&system, SD_BUS_ERROR_SERVICE_UNKNOWN, NULL);
        g_autofree char *none = failure_hint(&user, "com.example.Unheard.Of", "x");

        g_assert_true(g_str_has_suffix(named, "codewhalectl review counter"));
        g_assert_true(g_str_has_suffix(quoted, "codewhalectl review 'a; rm -rf x'"));
        g_assert_true(g_str_has_suffix(unnamed, "codewhalectl disable NAME"));
        g_assert_nonnull(strstr(start, "systemctl --user start codewhale-extensions.service"));
        g_assert_nonnull(strstr(start_system, "systemctl --system start codewhale-extensions.service"));
        g_assert_null(none);
}

static void test_quote(void) {
        static const struct {
                const char *word, *quoted;
        } cases[] = {
                { "counter", "counter" },
                { "user/01ab/x", "user/01ab/x" },
                { "", "''" },
                { "-x", "'-x'" },
                { "a b", "'a b'" },
                { "$(x)", "'$(x)'" },
                { "é", "'é'" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *quoted = failure_quote(cases[i].word);

                g_assert_cmpstr(quoted, ==, cases[i].quoted);
        }
}

/* What is printed is one line of the error and the hint, never escape sequences that the error carries
 * (AP-07). */
static void test_report(void) {
        if (g_test_subprocess()) {
                sd_bus_error error =
                                SD_BUS_ERROR_MAKE_CONST(ERROR_NO_SUCH_PLUGIN, "No plugin '\x1b[2J%s%n\n'.");
                Cli cli = {};

                exit(failure_report(&cli, -2, &error, "x"));
        }

        g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
        g_test_trap_assert_failed();
        g_test_trap_assert_stderr(
                        "codewhalectl: No plugin '\\x1b[2J%s%n\\x0a'.\nKnown ones: codewhalectl list\n");
        g_test_trap_assert_stdout("");
}

/* When the service names the next step itself, a second one would only confuse. */
static void test_report_once(void) {
        if (g_test_subprocess()) {
                sd_bus_error error = SD_BUS_ERROR_MAKE_CONST(
                                ERROR_NO_APPROVER, "Run 'codewhalectl approve --watch' first.");
                Cli cli = {};

                exit(failure_report(&cli, -2, &error, NULL));
        }

        g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
        g_test_trap_assert_failed();
        g_test_trap_assert_stderr("codewhalectl: Run 'codewhalectl approve --watch' first.\n");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cli/failure/status", test_status);
        g_test_add_func("/cli/failure/all-names", test_all_names);
        g_test_add_func("/cli/failure/hint", test_hint);
        g_test_add_func("/cli/failure/quote", test_quote);
        g_test_add_func("/cli/failure/AP-07-report", test_report);
        g_test_add_func("/cli/failure/report-once", test_report_once);
        return g_test_run();
}
