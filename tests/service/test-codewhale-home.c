/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "fixture.h"
#include "service/codewhale-home.h"

static void test_paths(void) {
        g_autoptr(CodewhaleHome) home = NULL, set = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        g_assert_cmpint(codewhale_home_new("/a/../b/", &home, NULL), ==, 0);
        g_assert_cmpstr(codewhale_home_get_path(home, HOME_ROOT), ==, "/b");
        g_assert_cmpstr(codewhale_home_get_path(home, HOME_PLUGINS), ==, "/b/plugins");
        g_assert_cmpstr(codewhale_home_get_path(home, HOME_STAGED), ==, "/b/extensions/staged");
        g_assert_cmpint(codewhale_home_new("relative", &set, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_INVALID_OPTION);

        g_setenv("CODEWHALE_HOME", "/elsewhere", TRUE);
        g_assert_cmpint(codewhale_home_new(NULL, &set, NULL), ==, 0);
        g_assert_cmpstr(codewhale_home_get_path(set, HOME_ROOT), ==, "/elsewhere");
        g_unsetenv("CODEWHALE_HOME");
}

static void test_folders(void) {
        char *folder = fixture_new_folder();
        g_autofree char *path = g_build_filename(folder, "a/b", NULL), *staged = NULL, *real = NULL;
        g_autoptr(CodewhaleHome) home = NULL;
        struct stat status;
        int fd;

        g_assert_cmpint(codewhale_home_new(path, &home, NULL), ==, 0);
        g_assert_cmpint(codewhale_home_open(home, HOME_STAGED), ==, -ENOENT);
        g_assert_false(fixture_exists(folder, "a")); /* looking makes nothing */

        fd = codewhale_home_make(home, HOME_STAGED);
        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(fstat(fd, &status), ==, 0);
        g_assert_cmpuint(status.st_mode & 07777, ==, 0700);
        close_fd(&fd);

        /* Others may look into the home, but not write there or below. */
        g_assert_cmpint(g_chmod(path, 0755), ==, 0);
        fd = codewhale_home_open(home, HOME_STAGED);
        g_assert_cmpint(fd, >=, 0);
        close_fd(&fd);
        g_assert_cmpint(g_chmod(path, 0775), ==, 0);
        g_assert_cmpint(codewhale_home_open(home, HOME_STAGED), ==, -EPERM);
        g_assert_nonnull(strstr(codewhale_home_explain(-EPERM), "others may write"));
        g_assert_cmpint(g_chmod(path, 0700), ==, 0);
        staged = g_build_filename(path, "extensions/staged", NULL);
        g_assert_cmpint(g_chmod(staged, 0702), ==, 0);
        g_assert_cmpint(codewhale_home_open(home, HOME_STAGED), ==, -EPERM);

        real = g_build_filename(path, "real", NULL);
        g_assert_cmpint(g_rename(staged, real), ==, 0);
        g_assert_cmpint(symlink(real, staged), ==, 0);
        fd = codewhale_home_make(home, HOME_STAGED);
        g_assert_true(fd == -ELOOP || fd == -ENOTDIR);
        g_assert_nonnull(strstr(codewhale_home_explain(fd), "link"));
        fixture_remove(folder);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/service/codewhale-home/paths", test_paths);
        g_test_add_func("/service/codewhale-home/folders", test_folders);
        return g_test_run();
}
