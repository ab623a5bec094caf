/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/tree-copy.h"

#define PART_BYTES KIB(128)

static int write_all(int fd, const uint8_t *data, size_t size) {
        while (size > 0) {
                ssize_t n = write(fd, data, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                data += n;
                size -= (size_t) n;
        }
        return 0;
}

/* Copies at most the size that was scanned, and one byte more to notice that there is more. */
static int copy_bytes(int from, int to, uint64_t size, Sha256 *hash) {
        g_autofree uint8_t *buffer = g_malloc(PART_BYTES);
        uint64_t copied = 0;

        for (;;) {
                ssize_t n = read(from, buffer, PART_BYTES);
                int r;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        return copied == size ? 0 : -ESTALE;
                copied += (uint64_t) n;
                if (copied > size)
                        return -ESTALE;
                sha256_update(hash, buffer, (size_t) n);
                r = write_all(to, buffer, (size_t) n);
                if (r < 0)
                        return r;
        }
}

static int finish_file(int fd, mode_t mode) {
        if (fchmod(fd, mode) < 0 || fsync(fd) < 0)
                return -errno;
        return 0;
}

static int copy_file(const BundleNode *node, int source, int target, const TreeCopyModes *modes) {
        g_autoptr(Sha256) hash = sha256_new();
        g_autofree char *hex = NULL;
        _cleanup_close_ int from = -EBADF, to = -EBADF;
        int r;

        from = safe_open_at(source, node->path, O_RDONLY | O_NONBLOCK, 0);
        if (from < 0)
                return from == -ENOENT || from == -ELOOP || from == -ENOTDIR || from == -ENXIO ? -ESTALE : from;
        to = safe_open_at(target, node->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (to < 0)
                return to;

        r = copy_bytes(from, to, node->size, hash);
        if (r < 0)
                return r;
        hex = sha256_finish_hex(hash);
        if (strcmp(hex, node->sha256) != 0)
                return -ESTALE;
        return finish_file(to, node->executable ? modes->executable : modes->file);
}

static int make_directory(int target, const char *path) {
        g_autofree char *parent = g_path_get_dirname(path), *name = g_path_get_basename(path);
        _cleanup_close_ int fd = safe_open_at(target, parent, O_RDONLY | O_DIRECTORY, 0);

        if (fd < 0)
                return fd;
        return mkdirat(fd, name, 0700) < 0 ? -errno : 0;
}

int tree_copy_seal(int target, const char *path, mode_t mode) {
        _cleanup_close_ int fd = safe_open_at(target, *path != '\0' ? path : ".", O_RDONLY | O_DIRECTORY, 0);

        return fd < 0 ? fd : finish_file(fd, mode);
}

int tree_copy(const BundleTree *tree, int source, int target, const TreeCopyModes *modes, PluginProgress *progress) {
        int r;

        if (progress)
                progress->total = tree->n_bytes;
        for (size_t i = 0; i < tree->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(tree->nodes, i);

                if (node->ours)
                        continue;
                r = node->directory ? make_directory(target, node->path) : copy_file(node, source, target, modes);
                if (r < 0)
                        return r;
                if (progress && !node->directory)
                        progress->done += node->size;
        }

        /* From the leaves up: nothing may be made in a directory that has lost its write bits. */
        for (size_t i = tree->nodes->len; i > 0; i--) {
                const BundleNode *node = g_ptr_array_index(tree->nodes, i - 1);

                if (!node->directory || node->ours)
                        continue;
                r = tree_copy_seal(target, node->path, modes->directory);
                if (r < 0)
                        return r;
        }
        return 0;
}

int tree_copy_write(int target, const char *path, const void *data, size_t size, mode_t mode) {
        _cleanup_close_ int fd = safe_open_at(target, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        int r;

        if (fd < 0)
                return fd;
        r = write_all(fd, data, size);
        return r < 0 ? r : finish_file(fd, mode);
}
