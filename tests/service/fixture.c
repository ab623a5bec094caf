/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "fixture.h"

char *fixture_new_folder(void) {
        char *folder = g_dir_make_tmp("codewhale-test-XXXXXX", NULL);

        g_assert_nonnull(folder);
        return folder;
}

void fixture_remove(char *folder) {
        g_autofree char *parent = g_path_get_dirname(folder), *name = g_path_get_basename(folder);
        _cleanup_close_ int fd = safe_open_directory(parent);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(safe_remove_tree_at(fd, name), ==, 0);
        g_free(folder);
}

void fixture_write(const char *folder, const char *path, const char *data, gssize size) {
        g_autofree char *full = g_build_filename(folder, path, NULL), *parent = g_path_get_dirname(full);
        _cleanup_close_ int fd = -EBADF;
        size_t left = size < 0 ? strlen(data) : (size_t) size;

        g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
        /* In place, as an editor might: not by replacing the file. */
        fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        g_assert_cmpint(fd, >=, 0);
        while (left > 0) {
                ssize_t n = write(fd, data, left);

                g_assert_cmpint(n, >, 0);
                data += n;
                left -= (size_t) n;
        }
}

void fixture_write_format(const char *folder, const char *path, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        fixture_write(folder, path, text, -1);
}

void fixture_make_directory(const char *folder, const char *path) {
        g_autofree char *full = g_build_filename(folder, path, NULL);

        g_assert_cmpint(g_mkdir_with_parents(full, 0700), ==, 0);
}

char *fixture_read(const char *folder, const char *path) {
        g_autofree char *full = g_build_filename(folder, path, NULL);
        char *text = NULL;

        return g_file_get_contents(full, &text, NULL, NULL) ? text : NULL;
}

gboolean fixture_exists(const char *folder, const char *path) {
        g_autofree char *full = g_build_filename(folder, path, NULL);
        struct stat status;

        return lstat(full, &status) == 0;
}

size_t fixture_count(const char *folder, const char *path) {
        g_autofree char *full = g_build_filename(folder, path, NULL);
        g_autoptr(GDir) directory = g_dir_open(full, 0, NULL);
        size_t count = 0;

        while (directory && g_dir_read_name(directory))
                count++;
        return count;
}

void fixture_bundle(const char *folder, const char *name) {
        fixture_write_format(folder, "plugin.json",
                        "{\"$schema\":\"https://agent-plugins.org/schemas/plugin.json\",\"name\":\"%s\",\"version\":\"1.0.0\","
                        "\"extensions\":{\"net.codewhale\":{\"native\":{\"path\":\"native/main.mjs\"}}}}",
                        name);
        fixture_write(folder, "native/main.mjs", "export function apply() {}\n", -1);
}
