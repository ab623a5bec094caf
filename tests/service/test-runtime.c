/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "service/runtime.h"

static void test_version(void) {
        static const struct {
                const char *text;
                int r;
                unsigned version[3];
        } cases[] = {
                { "v24.22.3\n", 0, { 24, 22, 3 } },
                { "22.19.0", 0, { 22, 19, 0 } },
                { "1.4.5\n", 0, { 1, 4, 5 } },
                { "v24.0.0-nightly", -EINVAL, {} },
                { "v24", -EINVAL, {} },
                { "v24.x.1", -EINVAL, {} },
                { "", -EINVAL, {} },
                { "v999999999999.1.1", -EINVAL, {} },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                unsigned version[3] = {};

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(runtime_version_parse(cases[i].text, version), ==, cases[i].r);
                g_assert_cmpmem(version, sizeof version, cases[i].version, sizeof version);
        }
}

static void test_floor(void) {
        static const struct {
                RuntimeKind kind;
                unsigned version[3];
                bool meets;
        } cases[] = {
                { RUNTIME_NODE, { 22, 18, 9 }, false }, { RUNTIME_NODE, { 22, 19, 0 }, true }, { RUNTIME_NODE, { 23, 9, 0 }, false },
                { RUNTIME_NODE, { 24, 0, 0 }, true },   { RUNTIME_NODE, { 26, 1, 0 }, true },  { RUNTIME_NODE, { 20, 20, 0 }, false },
                { RUNTIME_BUN, { 1, 3, 99 }, false },   { RUNTIME_BUN, { 1, 4, 0 }, true },    { RUNTIME_BUN, { 2, 0, 0 }, true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpint(runtime_version_meets_floor(cases[i].kind, cases[i].version), ==, cases[i].meets);
}

/* ---- real files that can be run ---- */

typedef struct Fixture {
        char *directory;
        sd_event *event;
} Fixture;

static void fixture_up(Fixture *fixture, const void *data) {
        (void) data;
        fixture->directory = g_dir_make_tmp("runtime-XXXXXX", NULL);
        g_assert_nonnull(fixture->directory);
        g_assert_cmpint(sd_event_new(&fixture->event), ==, 0);
}

static void fixture_down(Fixture *fixture, const void *data) {
        g_autofree char *command = g_strdup_printf("rm -rf '%s'", fixture->directory);

        (void) data;
        fixture->event = sd_event_unref(fixture->event);
        g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
        g_free(fixture->directory);
}

/* A program in @folder that says @output, and leaves a mark when it is run. */
static char *make_program(const Fixture *fixture, const char *folder, const char *name, const char *output) {
        g_autofree char *directory = g_build_filename(fixture->directory, folder, NULL);
        g_autofree char *script = g_strdup_printf("#!/bin/sh\n: > '%s/ran-%s'\nprintf '%%s' '%s'\n", fixture->directory, name, output);
        char *path = g_build_filename(directory, name, NULL);

        g_assert_cmpint(g_mkdir_with_parents(directory, 0755), ==, 0);
        g_assert_true(g_file_set_contents(path, script, -1, NULL));
        g_assert_cmpint(chmod(path, 0755), ==, 0);
        return path;
}

static void test_candidates(Fixture *fixture, const void *data) {
        g_autofree char *good = make_program(fixture, "bin", "node", "v24.1.0"), *hidden = NULL, *local = NULL, *search = NULL;
        g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *working = g_build_filename(fixture->directory, "work", NULL);
        g_auto(GStrv) found = NULL;
        RuntimeConfig config = { .kind = RUNTIME_NODE };

        (void) data;
        hidden = make_program(fixture, "a/node_modules/.bin", "node", "v24.2.0");
        local = make_program(fixture, "work/bin", "node", "v24.3.0");
        search = g_strdup_printf("bin:%s/a/node_modules/.bin:%s/work/bin:%s/bin:%s/bin", fixture->directory, fixture->directory,
                                 fixture->directory, fixture->directory);
        config.search_path = search;

        found = runtime_candidates(&config, working, "/home/nobody", skipped);
        g_assert_cmpuint(g_strv_length(found), ==, 1);
        g_assert_cmpstr(found[0], ==, good);
        g_assert_cmpuint(skipped->len, ==, 2);

        /* The rule about the working directory is off at the root and above the home. */
        g_clear_pointer(&found, g_strfreev);
        found = runtime_candidates(&config, "/", "/home/nobody", NULL);
        g_assert_cmpuint(g_strv_length(found), ==, 2);
        g_clear_pointer(&found, g_strfreev);
        found = runtime_candidates(&config, working, working, NULL);
        g_assert_cmpuint(g_strv_length(found), ==, 2);

        /* A configured one is the only candidate. */
        g_clear_pointer(&found, g_strfreev);
        config.node = "/opt/node";
        found = runtime_candidates(&config, working, "/home/nobody", NULL);
        g_assert_cmpuint(g_strv_length(found), ==, 1);
        g_assert_cmpstr(found[0], ==, "/opt/node");
}

typedef struct Selection {
        bool done;
        char *path, *version, *why;
        sd_event *event;
} Selection;

static void on_selected(const Runtime *runtime, const char *why, void *userdata) {
        Selection *selection = userdata;

        selection->done = true;
        selection->path = g_strdup(runtime ? runtime->path : NULL);
        selection->version = g_strdup(runtime ? runtime->version : NULL);
        selection->why = g_strdup(why);
}

static Selection run_selection(const Fixture *fixture, const RuntimeConfig *config) {
        g_autoptr(RuntimeSelector) selector = runtime_selector_new(fixture->event, config);
        Selection selection = {};

        runtime_selector_select(selector, on_selected, &selection);
        while (!selection.done)
                g_assert_cmpint(sd_event_run(fixture->event, 20 * G_USEC_PER_SEC), >, 0);
        return selection;
}

static void selection_done(Selection *selection) {
        g_free(selection->path);
        g_free(selection->version);
        g_free(selection->why);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Selection, selection_done)

static void test_select_first_suitable(Fixture *fixture, const void *data) {
        g_autofree char *old = make_program(fixture, "old", "node", "v20.1.0\\n"), *good = make_program(fixture, "good", "node", "v22.19.0");
        g_autofree char *search = g_strdup_printf("%s/old:%s/good", fixture->directory, fixture->directory);
        g_auto(Selection) selection = run_selection(fixture, &(RuntimeConfig) { .kind = RUNTIME_NODE, .search_path = search });

        (void) data;
        (void) old;
        g_assert_cmpstr(selection.path, ==, good);
        g_assert_cmpstr(selection.version, ==, "22.19.0");
}

static void test_select_none(Fixture *fixture, const void *data) {
        g_autofree char *old = make_program(fixture, "old", "node", "v20.1.0"), *search = g_strdup_printf("%s/old", fixture->directory);
        g_auto(Selection) selection = run_selection(fixture, &(RuntimeConfig) { .kind = RUNTIME_NODE, .search_path = search });

        (void) data;
        g_assert_null(selection.path);
        g_assert_nonnull(strstr(selection.why, "^22.19"));
        g_assert_nonnull(strstr(selection.why, "20.1.0"));
        g_assert_nonnull(strstr(selection.why, old));
}

/* A program of any text */
static char *make_script(const Fixture *fixture, const char *folder, const char *text) {
        char *path = make_program(fixture, folder, "node", "");

        g_assert_true(g_file_set_contents(path, text, -1, NULL));
        g_assert_cmpint(chmod(path, 0755), ==, 0);
        return path;
}

/* Also when nobody asks for its exit status: process 1 of a container may not. */
static bool has_ended(const char *pid) {
        g_autofree char *path = g_strdup_printf("/proc/%s/stat", pid), *text = NULL;

        return !g_file_get_contents(path, &text, NULL, NULL) || strstr(text, ") Z ") || strstr(text, ") X ");
}

static void wait_until_gone(const char *file) {
        g_autofree char *pid = NULL;

        g_assert_true(g_file_get_contents(file, &pid, NULL, NULL));
        g_strchomp(pid);
        g_assert_cmpint(g_ascii_strtoll(pid, NULL, 10), >, 1);
        while (!has_ended(pid))
                g_usleep(10000);
}

/* One that never answers, one that never ends answering and one that leaves something running hold up nobody for ever. */
static void test_candidates_that_hang(Fixture *fixture, const void *data) {
        g_autofree char *pid = g_build_filename(fixture->directory, "pid", NULL), *left = g_build_filename(fixture->directory, "left", NULL);
        g_autofree char *hangs = g_strdup_printf("#!/bin/sh\nsleep 1000 &\necho $! > '%s'\nwait\n", pid);
        g_autofree char *leaves = g_strdup_printf("#!/bin/sh\nsleep 1000 &\necho $! > '%s'\necho v18.0.0\n", left);
        g_autofree char *first = make_script(fixture, "first", hangs), *third = make_script(fixture, "third", leaves);
        g_autofree char *second = make_script(fixture, "second", "#!/bin/sh\nwhile echo v24; do :; done\nexit 1\n");
        g_autofree char *search = g_strdup_printf("%s/first:%s/second:%s/third", fixture->directory, fixture->directory, fixture->directory);
        g_autofree char *late = g_strdup_printf("%s --version gave no answer in ", first);
        g_autofree char *failed = g_strdup_printf("%s --version failed", second), *old = g_strdup_printf("%s is 18.0.0", third);
        g_auto(Selection) selection = run_selection(fixture, &(RuntimeConfig) { .kind = RUNTIME_NODE, .search_path = search });

        (void) data;
        g_assert_null(selection.path);
        g_assert_nonnull(strstr(selection.why, late));
        g_assert_nonnull(strstr(selection.why, failed));
        g_assert_nonnull(strstr(selection.why, old));
        wait_until_gone(pid);
        wait_until_gone(left);
}

/* A configured path that fails is reported; nothing else is searched (contract 3.1). */
static void test_explicit_never_falls_back(Fixture *fixture, const void *data) {
        g_autofree char *good = make_program(fixture, "good", "node", "v24.0.0"), *search = g_strdup_printf("%s/good", fixture->directory);
        g_autofree char *missing = g_build_filename(fixture->directory, "missing", NULL);
        g_autofree char *mark = g_build_filename(fixture->directory, "ran-node", NULL);
        g_auto(Selection) selection = run_selection(
                        fixture, &(RuntimeConfig) { .kind = RUNTIME_NODE, .node = missing, .search_path = search });

        (void) data;
        (void) good;
        g_assert_null(selection.path);
        g_assert_nonnull(strstr(selection.why, missing));
        g_assert_cmpint(access(mark, F_OK), <, 0);
}

/* The probe runs with an empty environment: what we know must not reach a program that only claims to be a runtime. */
static void test_probe_environment(Fixture *fixture, const void *data) {
        g_autofree char *directory = g_build_filename(fixture->directory, "bin", NULL), *path = g_build_filename(directory, "node", NULL);
        g_autofree char *script = g_strdup_printf("#!/bin/sh\n/usr/bin/env > '%s/environment'\necho v24.0.0\n", fixture->directory);
        g_autofree char *seen_path = g_build_filename(fixture->directory, "environment", NULL), *seen = NULL;
        g_auto(Selection) selection = {};

        (void) data;
        g_assert_cmpint(g_mkdir(directory, 0755), ==, 0);
        g_assert_true(g_file_set_contents(path, script, -1, NULL));
        g_assert_cmpint(chmod(path, 0755), ==, 0);
        g_setenv("RUNTIME_TEST_SECRET", "zz", TRUE);
        selection = run_selection(fixture, &(RuntimeConfig) { .kind = RUNTIME_NODE, .search_path = directory });
        g_unsetenv("RUNTIME_TEST_SECRET");

        g_assert_cmpstr(selection.version, ==, "24.0.0");
        g_assert_true(g_file_get_contents(seen_path, &seen, NULL, NULL));
        g_assert_null(strstr(seen, "RUNTIME_TEST_SECRET"));
}

/* ---- Bun, and the automatic choice ---- */

static RuntimeConfig config_of(RuntimeKind kind, const char *folder) {
        return (RuntimeConfig) { .kind = kind, .search_path = folder, .bun_install = "/nowhere" };
}

static void test_bun_never_falls_back(Fixture *fixture, const void *data) {
        g_autofree char *node = make_program(fixture, "bin", "node", "v24.0.0"), *bun = make_program(fixture, "bin", "bun", "1.3.9");
        g_autofree char *folder = g_path_get_dirname(bun), *mark = g_build_filename(fixture->directory, "ran-node", NULL);
        const RuntimeConfig config = config_of(RUNTIME_BUN, folder);
        g_auto(Selection) selection = run_selection(fixture, &config);

        (void) data;
        (void) node;
        g_assert_null(selection.path);
        g_assert_nonnull(strstr(selection.why, "Bun 1.4"));
        g_assert_nonnull(strstr(selection.why, "1.3.9"));
        g_assert_cmpint(access(mark, F_OK), <, 0);
}

static void test_auto_prefers_bun(Fixture *fixture, const void *data) {
        g_autofree char *node = make_program(fixture, "bin", "node", "v24.0.0"), *bun = make_program(fixture, "bin", "bun", "1.4.5");
        g_autofree char *folder = g_path_get_dirname(bun);
        const RuntimeConfig config = config_of(RUNTIME_AUTO, folder);
        g_auto(Selection) selection = run_selection(fixture, &config);

        (void) data;
        (void) node;
        g_assert_cmpstr(selection.path, ==, bun);
}

static void test_auto_names_why_it_is_node(Fixture *fixture, const void *data) {
        g_autofree char *node = make_program(fixture, "bin", "node", "v24.0.0"), *bun = make_program(fixture, "bin", "bun", "1.2.0");
        g_autofree char *folder = g_path_get_dirname(bun), *empty = g_build_filename(fixture->directory, "empty", NULL);
        const RuntimeConfig old = config_of(RUNTIME_AUTO, folder), none = config_of(RUNTIME_AUTO, empty);
        g_auto(Selection) selection = run_selection(fixture, &old), nothing = run_selection(fixture, &none);

        (void) data;
        g_assert_cmpstr(selection.path, ==, node);
        g_assert_nonnull(strstr(selection.why, "not Bun"));
        g_assert_nonnull(strstr(selection.why, "1.2.0"));
        g_assert_null(nothing.path);
        g_assert_nonnull(strstr(nothing.why, "Bun 1.4 or newer, or Node"));
}

/* Bun says its version but does not come up: Node from then on, said once; a reload may try again. */
static void test_auto_falls_back_once(Fixture *fixture, const void *data) {
        g_autofree char *node = make_program(fixture, "bin", "node", "v24.0.0"), *bun = make_program(fixture, "bin", "bun", "1.4.5");
        g_autofree char *folder = g_path_get_dirname(bun);
        const RuntimeConfig config = config_of(RUNTIME_AUTO, folder);
        g_autoptr(RuntimeSelector) selector = runtime_selector_new(fixture->event, &config);
        const char *expected[] = { bun, node, bun };
        bool first = false;

        (void) data;
        for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
                g_auto(Selection) selection = {};

                runtime_selector_select(selector, on_selected, &selection);
                while (!selection.done)
                        g_assert_cmpint(sd_event_run(fixture->event, 20 * G_USEC_PER_SEC), >, 0);
                g_assert_cmpstr(selection.path, ==, expected[i]);
                if (i == 0) {
                        g_assert_true(runtime_selector_fail(selector, RUNTIME_BUN, "exit 70", &first));
                        g_assert_true(first);
                        g_assert_true(runtime_selector_fail(selector, RUNTIME_BUN, "exit 70", &first));
                        g_assert_false(first);
                } else if (i == 1) {
                        g_assert_nonnull(strstr(selection.why, "exit 70"));
                        g_assert_false(runtime_selector_fail(selector, RUNTIME_NODE, "exit 1", &first));
                        runtime_selector_reset(selector, &config);
                }
        }
        /* What completed a handshake stays. */
        runtime_selector_pin(selector);
        g_assert_false(runtime_selector_fail(selector, RUNTIME_BUN, "late", &first));
}

/* One more selection of @selector; its path is @path, which says @version. */
static void expect_selection(const Fixture *fixture, RuntimeSelector *selector, const char *path, const char *version) {
        g_auto(Selection) selection = {};

        runtime_selector_select(selector, on_selected, &selection);
        while (!selection.done)
                g_assert_cmpint(sd_event_run(fixture->event, 20 * G_USEC_PER_SEC), >, 0);
        g_assert_cmpstr(selection.path, ==, path);
        g_assert_cmpstr(selection.version, ==, version);
}

/* What completed a handshake is kept, whatever else there is to be had since; what did not is looked for anew. */
static void test_pinned_stays(Fixture *fixture, const void *data) {
        g_autofree char *old = make_program(fixture, "second", "node", "v24.0.0"), *newer = NULL;
        g_autofree char *search = g_strdup_printf("%s/first:%s/second", fixture->directory, fixture->directory);
        const RuntimeConfig config = config_of(RUNTIME_NODE, search);
        g_autoptr(RuntimeSelector) selector = runtime_selector_new(fixture->event, &config);
        bool first = false;

        (void) data;
        expect_selection(fixture, selector, old, "24.0.0");
        g_free(make_program(fixture, "second", "node", "v24.1.0"));
        g_assert_false(runtime_selector_fail(selector, RUNTIME_NODE, "exit 1", &first));
        expect_selection(fixture, selector, old, "24.1.0");

        runtime_selector_pin(selector);
        newer = make_program(fixture, "first", "node", "v26.0.0");
        expect_selection(fixture, selector, old, "24.1.0");
        g_assert_false(runtime_selector_fail(selector, RUNTIME_NODE, "exit 1", &first));
        runtime_selector_reset(selector, &config);
        expect_selection(fixture, selector, old, "24.1.0");
}

static void test_bun_is_looked_for_where_it_installs_itself(Fixture *fixture, const void *data) {
        g_autofree char *bun = make_program(fixture, "own/bin", "bun", "1.4.0"), *own = g_build_filename(fixture->directory, "own", NULL);
        g_autofree char *home_bun = make_program(fixture, "home/.bun/bin", "bun", "1.4.0");
        g_autofree char *home = g_build_filename(fixture->directory, "home", NULL);
        RuntimeConfig config = { .kind = RUNTIME_BUN, .search_path = "", .bun_install = own };
        g_auto(GStrv) found = runtime_candidates(&config, "/", home, NULL);

        (void) data;
        g_assert_cmpuint(g_strv_length(found), ==, 1);
        g_assert_cmpstr(found[0], ==, bun);
        g_clear_pointer(&found, g_strfreev);
        config.bun_install = NULL;
        found = runtime_candidates(&config, "/", home, NULL);
        g_assert_cmpuint(g_strv_length(found), ==, 1);
        g_assert_cmpstr(found[0], ==, home_bun);
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        sigset_t signals;

        (void) sigemptyset(&signals);
        (void) sigaddset(&signals, SIGCHLD);
        g_assert_cmpint(sigprocmask(SIG_BLOCK, &signals, NULL), ==, 0);
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/runtime/version", test_version);
        g_test_add_func("/runtime/H12-version-floors", test_floor);
        ADD("/runtime/H10-bun-never-falls-back", test_bun_never_falls_back);
        ADD("/runtime/auto-prefers-bun", test_auto_prefers_bun);
        ADD("/runtime/H10-auto-names-why-it-is-node", test_auto_names_why_it_is_node);
        ADD("/runtime/H10-auto-falls-back-once", test_auto_falls_back_once);
        ADD("/runtime/H13-pinned-stays", test_pinned_stays);
        ADD("/runtime/bun-where-it-installs-itself", test_bun_is_looked_for_where_it_installs_itself);
        ADD("/runtime/H11-candidates", test_candidates);
        ADD("/runtime/first-suitable", test_select_first_suitable);
        ADD("/runtime/none-names-floor-and-finds", test_select_none);
        ADD("/runtime/H11-candidates-that-hang", test_candidates_that_hang);
        ADD("/runtime/explicit-never-falls-back", test_explicit_never_falls_back);
        ADD("/runtime/probe-environment-is-empty", test_probe_environment);
        return g_test_run();
}
