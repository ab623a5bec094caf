/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "fixture.h"
#include "service/bundle.h"
#include "service/discovery.h"

static GPtrArray *list(const char *folder, const char *const *names, Diagnostics **ret_diagnostics) {
        DiscoveryRoot roots[4];
        char *paths[4];
        size_t count = 0;
        GPtrArray *entries;

        for (; names[count]; count++) {
                paths[count] = g_build_filename(folder, names[count], NULL);
                roots[count] = (DiscoveryRoot) { .scope = PLUGIN_USER, .path = paths[count] };
        }
        *ret_diagnostics = diagnostics_new();
        entries = discovery_list(roots, count, *ret_diagnostics);
        while (count > 0)
                g_free(paths[--count]);
        return entries;
}

static void test_roots(void) {
        static const struct {
                const char *names[3];
                size_t entries;
                DiagnosticCode code; /* _DIAGNOSTIC_CODE_MAX: nothing to say */
        } cases[] = {
                { { "root" }, 2, _DIAGNOSTIC_CODE_MAX },
                { { "link" }, 0, DIAGNOSTIC_ROOT_SYMLINK },
                { { "file" }, 0, DIAGNOSTIC_ROOT_NOT_DIRECTORY },
                { { "missing" }, 0, _DIAGNOSTIC_CODE_MAX },
                { { "file/below" }, 0, _DIAGNOSTIC_CODE_MAX },
                { { "root", "root" }, 2, DIAGNOSTIC_DUPLICATE_ROOT },
                { { "root", "other/../root" }, 2, DIAGNOSTIC_DUPLICATE_ROOT },
                { { "root", "by-link/root" }, 2, DIAGNOSTIC_DUPLICATE_ROOT },
        };
        char *folder = fixture_new_folder();
        g_autofree char *link = g_build_filename(folder, "link", NULL), *by_link = g_build_filename(folder, "by-link", NULL);

        fixture_make_directory(folder, "root/b");
        fixture_make_directory(folder, "root/a");
        fixture_make_directory(folder, "other");
        fixture_write(folder, "file", "", 0);
        g_assert_cmpint(symlink("root", link), ==, 0);
        g_assert_cmpint(symlink(".", by_link), ==, 0);

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Diagnostics) diagnostics = NULL;
                g_autoptr(GPtrArray) entries = list(folder, cases[i].names, &diagnostics);

                g_test_message("case %zu", i);
                g_assert_cmpuint(entries->len, ==, cases[i].entries);
                g_assert_cmpuint(diagnostics_count(diagnostics), ==, cases[i].code == _DIAGNOSTIC_CODE_MAX ? 0 : 1);
                if (cases[i].code != _DIAGNOSTIC_CODE_MAX)
                        g_assert_nonnull(diagnostics_find(diagnostics, cases[i].code));
        }
        fixture_remove(folder);
}

static void test_children(void) {
        const char *const names[] = { "root", NULL };
        char *folder = fixture_new_folder();
        g_autofree char *link = g_build_filename(folder, "root/c-link", NULL);
        g_autoptr(Diagnostics) diagnostics = NULL;
        g_autoptr(GPtrArray) entries = NULL;

        fixture_bundle(folder, "elsewhere");
        fixture_make_directory(folder, "root/b/inner");
        fixture_make_directory(folder, "root/a");
        fixture_make_directory(folder, "root/.staging-0123");
        fixture_make_directory(folder, "root/.hidden");
        fixture_write(folder, "root/state.json", "{}", -1);
        g_assert_cmpint(symlink("..", link), ==, 0);

        entries = list(folder, names, &diagnostics);
        g_assert_cmpuint(entries->len, ==, 3);
        for (size_t i = 0; i < entries->len; i++) {
                static const char *const expected[] = { ".hidden", "a", "b" };
                g_autofree char *name = g_path_get_basename(((DiscoveryEntry *) g_ptr_array_index(entries, i))->path);

                g_assert_cmpstr(name, ==, expected[i]);
        }
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, 1);
        g_assert_cmpint(diagnostics_get(diagnostics, 0)->code, ==, DIAGNOSTIC_BUNDLE_SYMLINK);
        g_assert_true(g_str_has_suffix(diagnostics_get(diagnostics, 0)->path, "root/c-link"));
        fixture_remove(folder);
}

/* Between the two looks of one discovery somebody writes. */
static void test_changed_during(void) {
        BundleOptions options = { .extension_host = true };
        char *folder = fixture_new_folder();
        _cleanup_close_ int root = safe_open_directory(folder);
        unsigned dropped = 0;

        for (unsigned at = 1; at < 40; at++) {
                g_autoptr(BundleLoad) load = NULL;
                int r = 1;

                fixture_bundle(folder, "x");
                load = bundle_load_new(root, &options);
                for (unsigned step = 0; step < at && r > 0; step++)
                        r = bundle_load_step(load);
                fixture_write(folder, "native/main.mjs", "changed\n", -1);
                while (r > 0)
                        r = bundle_load_step(load);
                if (r == -EAGAIN) {
                        g_assert_nonnull(diagnostics_find(bundle_load_get_diagnostics(load), DIAGNOSTIC_BUNDLE_CHANGED));
                        dropped++;
                } else
                        g_assert_cmpint(r, ==, 0); /* it saw only the old or only the new bytes */
        }
        g_assert_cmpuint(dropped, >=, 2);
        fixture_remove(folder);
}

static void test_id(void) {
        g_autofree char *user = discovery_plugin_id(PLUGIN_USER, "/a", "x");
        g_autofree char *other = discovery_plugin_id(PLUGIN_USER, "/b", "x");
        g_autofree char *workspace = discovery_plugin_id(PLUGIN_WORKSPACE, "/a", "x");

        g_assert_true(g_str_has_prefix(user, "user/"));
        g_assert_true(g_str_has_suffix(user, "/x"));
        g_assert_cmpuint(strlen(user), ==, strlen("user/") + 12 + strlen("/x"));
        g_assert_cmpstr(user, !=, other);
        g_assert_true(g_str_has_prefix(workspace, "workspace/"));
        g_assert_true(strncmp(user + strlen("user/"), workspace + strlen("workspace/"), 12) != 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/service/discovery/M01-roots", test_roots);
        g_test_add_func("/service/discovery/M02-link-bundle", test_children);
        g_test_add_func("/service/discovery/M02-changed-during-discovery", test_changed_during);
        g_test_add_func("/service/discovery/id", test_id);
        return g_test_run();
}
