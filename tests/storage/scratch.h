/* SPDX-License-Identifier: MIT */
#pragma once

/* A directory of a test's own, gone when the test is. In memory where that can be had: what is tested is the
 * order of operations, and thousands of real fsyncs would only take time. */

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/safe-file.h"

typedef struct Scratch {
        char *path;
        int fd;
} Scratch;

static inline const char *scratch_base(void) {
        return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
}

static inline void scratch_init(Scratch *scratch) {
        scratch->path = g_build_filename(scratch_base(), "codewhale-test-XXXXXX", NULL);
        g_assert_nonnull(g_mkdtemp(scratch->path));
        scratch->fd = safe_open_directory(scratch->path);
        g_assert_cmpint(scratch->fd, >=, 0);
}

static inline void scratch_done(Scratch *scratch) {
        _cleanup_close_ int parent = safe_open_directory(scratch_base());
        g_autofree char *name = g_path_get_basename(scratch->path);

        close_fd(&scratch->fd);
        g_assert_cmpint(safe_remove_tree_at(parent, name), ==, 0);
        g_free(scratch->path);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scratch, scratch_done)

static inline void scratch_write(const Scratch *scratch, const char *path, const char *text, size_t size) {
        _cleanup_close_ int fd = openat(scratch->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, text, size), ==, (gssize) size);
}

static inline char *scratch_read(const Scratch *scratch, const char *path) {
        char *data = NULL;
        size_t size;

        g_assert_cmpint(safe_read_at(scratch->fd, path, 64u * 1024u * 1024u, &data, &size), ==, 0);
        return data;
}
