/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "sandbox/explain.h"
#include "sandbox/launcher-exit.h"

/* A /proc/sys with one setting in it. */
static char *make_sysctl(const char *name, const char *value) {
        char *root = g_dir_make_tmp("sysctl-XXXXXX", NULL);

        if (name) {
                g_autofree char *path = g_build_filename(root, name, NULL),
                                *folder = g_path_get_dirname(path);

                g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
                g_assert_true(g_file_set_contents(path, value, -1, NULL));
        }
        return root;
}

static void remove_sysctl(char *root, const char *name) {
        if (name) {
                g_autofree char *path = g_build_filename(root, name, NULL),
                                *folder = g_path_get_dirname(path);

                g_assert_cmpint(g_unlink(path), ==, 0);
                g_assert_cmpint(g_rmdir(folder), ==, 0);
        }
        g_assert_cmpint(g_rmdir(root), ==, 0);
        g_free(root);
}

static void test_user_namespaces(void) {
        static const struct {
                const char *name;
                const char *value;
                const char *expected; /* part of the sentence; NULL: nothing forbids them */
        } cases[] = {
                { NULL, NULL, NULL },
                { "kernel/apparmor_restrict_unprivileged_userns", "1\n",
                                "kernel.apparmor_restrict_unprivileged_userns" },
                { "kernel/apparmor_restrict_unprivileged_userns", "0\n", NULL },
                { "kernel/unprivileged_userns_clone", "0\n", "kernel.unprivileged_userns_clone" },
                { "kernel/unprivileged_userns_clone", "1\n", NULL },
                { "user/max_user_namespaces", "0\n", "user.max_user_namespaces" },
                { "user/max_user_namespaces", "1000\n", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *root = make_sysctl(cases[i].name, cases[i].value);
                g_autofree char *reason = NULL, *setup = NULL, *of_system = NULL, *step = NULL;

                explain_set_sysctl_root(root);
                reason = explain_user_namespaces();
                setup = explain_setup(226, false);
                of_system = explain_setup(226, true);
                explain_set_sysctl_root(NULL);
                remove_sysctl(root, cases[i].name);

                g_assert_nonnull(strstr(setup, "NAMESPACE"));
                if (!cases[i].expected) {
                        g_assert_null(reason);
                        continue;
                }
                g_assert_nonnull(strstr(reason, cases[i].expected));
                g_assert_nonnull(strstr(setup, cases[i].expected));

                /* The next step is named; root's manager is not held by what is forbidden to users. */
                step = g_strdup_printf("'sysctl %s=", cases[i].expected);
                g_assert_nonnull(strstr(reason, step));
                g_assert_null(strstr(of_system, cases[i].expected));
        }
}

static void test_setup(void) {
        static const struct {
                int status;
                bool is_setup;
                const char *word;
        } cases[] = {
                { 0, false, NULL },
                { 1, false, NULL },
                { 65, false, NULL },
                { 184, false, NULL },
                { 199, false, NULL },
                { 200, true, "CHDIR" },
                { 203, true, "EXEC" },
                { 217, true, "USER" },
                { 225, true, "NETWORK" },
                { 226, true, "NAMESPACE" },
                { 228, true, "SECCOMP" },
                { 239, true, "unknown step" },
                { 245, true, "245" },
                { 246, false, NULL },
                { 255, false, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = NULL;

                g_assert_cmpint(explain_is_setup_status(cases[i].status), ==, cases[i].is_setup);
                if (!cases[i].is_setup)
                        continue;
                text = explain_setup(cases[i].status, false);
                g_assert_nonnull(strstr(text, cases[i].word));
                g_assert_nonnull(strstr(text, "could not be set up"));
        }
}

/* A missing network namespace, a mount that is not to be had (a masked /proc among them) and a missing user namespace are three things. */
static void test_steps(void) {
        static const struct {
                int status;
                const char *word;
        } steps[] = { { 225, "network namespace" }, { 226, "NAMESPACE" }, { 217, "user namespace" } };

        for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
                g_autofree char *text = explain_setup(steps[i].status, false);

                g_test_message("%s", text);
                for (size_t n = 0; n < G_N_ELEMENTS(steps); n++) {
                        g_autofree char *other = explain_setup(steps[n].status, false);

                        g_assert_true((i == n) == g_str_equal(text, other));
                }
                g_assert_nonnull(strstr(text, steps[i].word));
        }
}

/* Neither the host's own exit codes nor systemd's are taken for the launcher's. */
static void test_launcher(void) {
        static const int others[] = { 0, 1, 64, 65, 70, 78, 126, 127, 179, 186, 200, 226 };

        for (int status = LAUNCHER_EXIT_USAGE; status <= LAUNCHER_EXIT_EXEC; status++)
                g_assert_nonnull(explain_launcher_status(status));
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                g_assert_null(explain_launcher_status(others[i]));
}

static void test_signal(void) {
        g_autofree char *kill = explain_signal(9), *segv = explain_signal(11), *none = explain_signal(99);

        g_assert_cmpstr(kill, ==, "SIGKILL");
        g_assert_cmpstr(segv, ==, "SIGSEGV");
        g_assert_cmpstr(none, ==, "signal 99");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/explain/SY-07-user-namespaces", test_user_namespaces);
        g_test_add_func("/explain/SY-08-SY-09-steps-are-told-apart", test_steps);
        g_test_add_func("/explain/SY-16-setup", test_setup);
        g_test_add_func("/explain/launcher", test_launcher);
        g_test_add_func("/explain/signal", test_signal);
        return g_test_run();
}
