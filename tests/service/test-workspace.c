/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "service/workspace.h"

typedef struct Fixture {
        char *base, *path, *other, *link;
} Fixture;

static void fixture_up(Fixture *fixture, const void *data) {
        (void) data;
        fixture->base = g_dir_make_tmp("codewhale-workspace-XXXXXX", NULL);
        fixture->path = g_build_filename(fixture->base, "work", NULL);
        fixture->other = g_build_filename(fixture->base, "other", NULL);
        fixture->link = g_build_filename(fixture->base, "link", NULL);
        g_assert_cmpint(g_mkdir(fixture->path, 0700), ==, 0);
}

static void fixture_down(Fixture *fixture, const void *data) {
        (void) data;
        (void) unlink(fixture->link);
        (void) g_rmdir(fixture->path);
        (void) g_rmdir(fixture->other);
        g_assert_cmpint(g_rmdir(fixture->base), ==, 0);
        g_free(fixture->base);
        g_free(fixture->path);
        g_free(fixture->other);
        g_free(fixture->link);
}

static void assert_check(const Workspace *workspace, const char *expected) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        (void) workspace_check(workspace, &error);
        g_assert_cmpstr(error.name, ==, expected);
}

static void test_renamed_and_replaced(Fixture *fixture, const void *data) {
        g_autoptr(Workspace) workspace = NULL;

        (void) data;
        g_assert_cmpint(workspace_open(fixture->path, &workspace, NULL), ==, 0);
        assert_check(workspace, NULL);
        g_assert_cmpint(g_rename(fixture->path, fixture->other), ==, 0);
        assert_check(workspace, ERROR_REFUSED_BY_POLICY);
        g_assert_cmpint(g_mkdir(fixture->path, 0700), ==, 0);
        assert_check(workspace, ERROR_REFUSED_BY_POLICY);
        g_assert_cmpint(g_rmdir(fixture->path), ==, 0);
        g_assert_cmpint(g_rename(fixture->other, fixture->path), ==, 0);
        assert_check(workspace, NULL);
}

/* A link may lead to it; when the link leads elsewhere, that is another folder. */
static void test_link(Fixture *fixture, const void *data) {
        g_autoptr(Workspace) workspace = NULL;

        (void) data;
        g_assert_cmpint(g_mkdir(fixture->other, 0700), ==, 0);
        g_assert_cmpint(symlink(fixture->path, fixture->link), ==, 0);
        g_assert_cmpint(workspace_open(fixture->link, &workspace, NULL), ==, 0);
        assert_check(workspace, NULL);
        g_assert_cmpint(unlink(fixture->link), ==, 0);
        g_assert_cmpint(symlink(fixture->other, fixture->link), ==, 0);
        assert_check(workspace, ERROR_REFUSED_BY_POLICY);
}

static void test_no_folder(Fixture *fixture, const void *data) {
        const char *const paths[] = { "/etc/passwd", "/nowhere/at/all", "/dev/null", fixture->other };

        (void) data;
        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                Workspace *workspace = NULL;

                g_test_message("%s", paths[i]);
                g_assert_cmpint(workspace_open(paths[i], &workspace, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_INVALID_OPTION);
                g_assert_null(workspace);
        }
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        ADD("/workspace/renamed-and-replaced", test_renamed_and_replaced);
        ADD("/workspace/link", test_link);
        ADD("/workspace/no-folder", test_no_folder);
        return g_test_run();
}
