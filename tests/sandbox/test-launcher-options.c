/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/launcher/options.h"
#include "sandbox/spec.h"

static void test_all(void) {
        const char *argv[] = { "launcher", "--not-namespace=user:1", "--not-namespace=net:2", "--service=42",
                "--socket=/run/bus", "--abstract=name", "--hidden=/home", "--read=/etc", "--execute=/usr",
                "--write=/data", "--write=/tmp", "--keep=PATH", "--", "/usr/bin/node", "--probe", "--",
                NULL };
        const char *wrong = NULL;
        Options options;

        g_assert_cmpint(options_parse(G_N_ELEMENTS(argv) - 1, (char **) argv, &options, &wrong), ==, 0);
        g_assert_null(wrong);
        g_assert_cmpint(options.service, ==, 42);
        g_assert_cmpuint(options.namespaces.n, ==, 2);
        g_assert_cmpstr(options.namespaces.words[1], ==, "net:2");
        g_assert_cmpstr(options.sockets.words[0], ==, "/run/bus");
        g_assert_cmpstr(options.abstract.words[0], ==, "name");
        g_assert_cmpstr(options.hidden.words[0], ==, "/home");
        g_assert_cmpuint(options.write.n, ==, 2);
        g_assert_cmpstr(options.keep.words[0], ==, "PATH");
        g_assert_false(options.probe); /* that was the runtime's */
        g_assert_cmpstr(options.command[0], ==, "/usr/bin/node");
        g_assert_cmpstr(options.command[1], ==, "--probe");
        g_assert_cmpstr(options.command[2], ==, "--");
        g_assert_null(options.command[3]);
        options_done(&options);
}

static void test_refused(void) {
        static const struct {
                const char *argument;
                const char *runtime;
        } cases[] = {
                { "--unknown", "/usr/bin/node" },
                { "--socket=", "/usr/bin/node" },
                { "--service=", "/usr/bin/node" },
                { "--service=0", "/usr/bin/node" },
                { "--service=-1", "/usr/bin/node" },
                { "--service=4x", "/usr/bin/node" },
                { "--read", "/usr/bin/node" },
                { "word", "/usr/bin/node" },
                { "--service=4", "node" },
                { "--service=4", NULL },
                { "--without=seccomp", "/usr/bin/node" },
                { "--probe", "/usr/bin/node" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const char *argv[] = { "launcher", cases[i].argument, "--", cases[i].runtime, NULL };
                const char *wrong = NULL;
                Options options = { .service = 7 };

                g_assert_cmpint(options_parse(cases[i].runtime ? 4 : 3, (char **) argv, &options, &wrong),
                                ==, -EINVAL);
                g_assert_nonnull(wrong);
                g_assert_cmpint(options.service, ==, 7);
        }
}

/* What the service writes is what the launcher understands. */
static void test_command_is_understood(void) {
        static const char *const environment[] = { "PATH=/usr/bin", "A=b=c", NULL };
        static const char *const arguments[] = { "--flag", "/host/x.mjs", "--tier=plugin", NULL };
        static const char *const sockets[] = { "/run/a", "/run/b", NULL };
        const char *const *keep = environment, *const *words = arguments, *const *paths = sockets;
        SandboxSpec spec = {
                .unit = "x.service",
                .plugin_id = "x",
                .launcher = "/l",
                .runtime = "/home/u/.nvm/node",
                .arguments = words,
                .environment = keep,
                .plugin_tree = "/p",
                .data_directory = "/d",
                .workspace = "/home/u/work",
                .sockets = paths,
        };
        g_auto(GStrv) command = NULL;
        const char *wrong = NULL;
        Options options;

        g_assert_cmpint(sandbox_spec_command(&spec, &command), ==, 0);
        g_assert_cmpstr(command[0], ==, SANDBOX_LAUNCHER_PATH);
        g_assert_cmpint(options_parse((int) g_strv_length(command), command, &options, &wrong), ==, 0);
        g_assert_cmpint(options.service, ==, getpid());
        g_assert_cmpuint(options.namespaces.n, ==, 4);
        g_assert_cmpuint(options.sockets.n, ==, 2);
        g_assert_cmpuint(options.keep.n, ==, 2);
        g_assert_cmpstr(options.keep.words[1], ==, "A");
        g_assert_cmpuint(options.write.n, ==, 2);
        g_assert_cmpstr(options.command[0], ==, "/runtime/node");
        g_assert_cmpstr(options.command[3], ==, "--tier=plugin");
        g_assert_null(options.command[4]);
        g_assert_false(options.probe || options.without_landlock);
        options_done(&options);
}

/* A folder of somebody's own gets rights, but no trial files: it is on lists of its own. */
static void test_workspaces(void) {
        static const struct {
                WorkspaceAccess access;
                size_t read, work, run;
        } cases[] = {
                { WORKSPACE_READ, 1, 0, 0 },
                { WORKSPACE_WRITE, 0, 1, 0 },
                { WORKSPACE_RUN, 0, 0, 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                SandboxSpec spec = {
                        .unit = "x.service",
                        .plugin_id = "x",
                        .launcher = "/l",
                        .runtime = "/usr/bin/tool",
                        .workspace = "/home/u/work",
                        .workspace_access = cases[i].access,
                };
                g_auto(GStrv) command = NULL;
                const char *wrong = NULL;
                Options options;
                size_t fixed;

                g_assert_cmpint(sandbox_spec_command(&spec, &command), ==, 0);
                g_assert_cmpint(options_parse((int) g_strv_length(command), command, &options, &wrong), ==, 0);
                for (fixed = 0; fixed < options.read.n; fixed++)
                        if (strcmp(options.read.words[fixed], "/home/u/work") == 0)
                                break;
                g_assert_cmpint(fixed < options.read.n, ==, cases[i].read == 1);
                g_assert_cmpuint(options.work.n, ==, cases[i].work);
                g_assert_cmpuint(options.run.n, ==, cases[i].run);
                g_assert_cmpuint(options.write.n, ==, 1);
                options_done(&options);
        }
}

static void test_helper_and_probe(void) {
        SandboxSpec spec = { .unit = "x.service", .plugin_id = "x", .launcher = "/l", .probe = true };
        g_auto(GStrv) command = NULL;
        const char *wrong = NULL;
        Options options;

        g_assert_cmpint(sandbox_spec_command(&spec, &command), ==, 0);
        g_assert_cmpint(options_parse((int) g_strv_length(command), command, &options, &wrong), ==, 0);
        g_assert_true(options.probe);
        g_assert_null(options.command);
        g_assert_cmpuint(options.write.n, ==, 1); /* without a data directory /tmp alone */
        g_assert_cmpstr(options.write.words[0], ==, "/tmp");
        options_done(&options);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/launcher-options/all", test_all);
        g_test_add_func("/launcher-options/refused", test_refused);
        g_test_add_func("/launcher-options/command-is-understood", test_command_is_understood);
        g_test_add_func("/launcher-options/workspaces", test_workspaces);
        g_test_add_func("/launcher-options/helper-and-probe", test_helper_and_probe);
        return g_test_run();
}
