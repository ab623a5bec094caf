/* SPDX-License-Identifier: MIT */
/* The walk behind BundleTree: a stack of open directories and, inside the topmost, at most one open file. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/bundle-tree.h"
#include "service/node-print.h"
#include "service/text-rule.h"

#define STEP_BYTES  KIB(128)
#define NAMES_BYTES KIB(1) /* of names at a time */

/* One directory that is being walked */
typedef struct Level {
        int fd;
        char *path; /* "" for the root */
        NodePrint print;
        int64_t began; /* before its names were read */
        GStringChunk *texts;
        GPtrArray *names; /* in @texts, sorted; NULL: they can't be read */
        size_t next;
} Level;

struct BundleScan {
        BundleScanFlags flags;
        const BundleTree *previous;
        Diagnostics *diagnostics;
        GPtrArray *levels;
        BundleTree *tree;
        size_t n_directories;
        uint64_t n_read;
        bool broken; /* goes on to find more that is wrong, but there will be no tree */

        /* The file that is being read */
        int fd;
        BundleNode *node; /* in the tree already */
        Sha256 *hash;
        uint8_t *buffer;
};

static void level_free(void *data) {
        Level *level = data;

        close_fd(&level->fd);
        g_free(level->path);
        g_clear_pointer(&level->names, g_ptr_array_unref);
        g_clear_pointer(&level->texts, g_string_chunk_free);
        g_free(level);
}

BundleScan *bundle_scan_free(BundleScan *scan) {
        if (!scan)
                return NULL;

        g_ptr_array_unref(scan->levels);
        bundle_tree_unref(scan->tree);
        close_fd(&scan->fd);
        sha256_free(scan->hash);
        g_free(scan->buffer);
        g_free(scan);
        return NULL;
}

static void refuse(BundleScan *scan, DiagnosticCode code, const char *path, const char *why) {
        scan->broken = true;
        diagnostics_add(scan->diagnostics, code, path, "%s", why);
}

/* What can't be read on ends the walk. */
static int give_up(BundleScan *scan, DiagnosticCode code, const char *path, const char *why) {
        refuse(scan, code, path, why);
        return -EBADMSG;
}

static int give_up_errno(BundleScan *scan, const char *path, int error) {
        if (error == -ENOENT || error == -EAGAIN || error == -ENOTDIR)
                return give_up(scan, DIAGNOSTIC_BUNDLE_CHANGED, path, "It changed while it was read.");
        if (error == -ELOOP || error == -EXDEV)
                return give_up(scan, DIAGNOSTIC_BUNDLE_SYMLINK, path, "It became a link while it was read.");
        return give_up(scan, DIAGNOSTIC_BUNDLE_READ_FAILED, path, g_strerror(-error));
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Names are read before any of them is looked at, so a huge directory must end here. */
static int read_names(int fd, GStringChunk *texts, GPtrArray **ret) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        struct dirent *entry;
        DIR *stream;
        int r = 0;

        if (copy < 0)
                return -errno;
        stream = fdopendir(copy);
        if (!stream) {
                close_fd(&copy);
                return -ENOMEM;
        }
        rewinddir(stream);
        for (;;) {
                errno = 0;
                entry = readdir(stream);
                if (!entry) {
                        r = -errno;
                        break;
                }
                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                if (names->len >= 2 * BUNDLE_FILES_MAX) {
                        r = -E2BIG;
                        break;
                }
                g_ptr_array_add(names, g_string_chunk_insert(texts, entry->d_name));
        }
        (void) closedir(stream);
        if (r < 0)
                return r;

        g_ptr_array_sort(names, compare_names);
        *ret = g_steal_pointer(&names);
        return 0;
}

/* Takes @fd. */
static int push_level(BundleScan *scan, int fd, const char *path) {
        Level *level = g_new0(Level, 1);
        int r;

        level->fd = fd;
        level->path = g_strdup(path);
        level->texts = g_string_chunk_new(NAMES_BYTES);
        level->began = node_print_now();
        g_ptr_array_add(scan->levels, level);

        r = node_print_fd(fd, &level->print);
        if (r >= 0)
                r = read_names(fd, level->texts, &level->names);
        if (r == -E2BIG)
                return give_up(scan, DIAGNOSTIC_BUNDLE_TOO_LARGE, path, "The directory holds too many files.");
        if (r < 0)
                return give_up_errno(scan, path, r);
        return 1;
}

BundleScan *bundle_scan_new(int root, BundleScanFlags flags, const BundleTree *previous, Diagnostics *diagnostics) {
        BundleScan *scan = g_new0(BundleScan, 1);

        assert(root >= 0);
        assert(diagnostics);

        scan->flags = flags;
        scan->previous = previous;
        scan->diagnostics = diagnostics;
        scan->fd = -EBADF;
        scan->levels = g_ptr_array_new_with_free_func(level_free);
        scan->tree = bundle_tree_new();

        /* A descriptor of its own: the level closes it. Failures show in the first step. */
        (void) push_level(scan, fcntl(root, F_DUPFD_CLOEXEC, 3), "");
        return scan;
}

static BundleNode *add_node(BundleScan *scan, const char *path, const NodePrint *print, int64_t now) {
        BundleNode *node = bundle_tree_append(scan->tree, path);

        node->directory = S_ISDIR(print->mode);
        node->executable = !node->directory && (print->mode & 0111) != 0;
        node->ours = scan->flags & BUNDLE_SCAN_STAGED &&
                        (strcmp(path, BUNDLE_ERASED_NAME) == 0 || g_str_has_prefix(path, BUNDLE_ERASED_NAME "/"));
        node->size = node->directory ? 0 : print->size;
        node->fresh = node_print_is_fresh(print, now);
        node->print = *print;
        return node;
}

static int enter_directory(BundleScan *scan, int fd, const char *path, const NodePrint *print) {
        if (scan->levels->len > BUNDLE_DEPTH_MAX) {
                close_fd(&fd);
                return give_up(scan, DIAGNOSTIC_BUNDLE_TOO_LARGE, path, "Directories are nested more than 32 deep.");
        }
        if (++scan->n_directories > BUNDLE_FILES_MAX) {
                close_fd(&fd);
                return give_up(scan, DIAGNOSTIC_BUNDLE_TOO_LARGE, path, "The bundle has more than 4096 directories.");
        }
        add_node(scan, path, print, node_print_now());
        return push_level(scan, fd, path);
}

static int check_budget(BundleScan *scan, const char *path, const NodePrint *print) {
        if (++scan->tree->n_files > BUNDLE_FILES_MAX)
                return give_up(scan, DIAGNOSTIC_BUNDLE_TOO_LARGE, path, "The bundle has more than 4096 files.");
        if (print->size > BUNDLE_BYTES_MAX || scan->tree->n_bytes + print->size > BUNDLE_BYTES_MAX)
                return give_up(scan, DIAGNOSTIC_BUNDLE_TOO_LARGE, path, "The bundle has more than 64 MiB.");

        scan->tree->n_bytes += print->size;
        return 1;
}

/* Takes @fd. */
static int enter_file(BundleScan *scan, int fd, const char *path, const NodePrint *print, int64_t now) {
        const BundleNode *before = scan->previous ? bundle_tree_find(scan->previous, path) : NULL;
        int r;

        r = check_budget(scan, path, print);
        if (r < 0) {
                close_fd(&fd);
                return r;
        }

        scan->node = add_node(scan, path, print, now);
        if (before && !before->directory && !before->fresh && node_print_equal(&before->print, print)) {
                memcpy(scan->node->sha256, before->sha256, sizeof scan->node->sha256);
                scan->node = NULL;
                close_fd(&fd);
                return 1;
        }

        scan->fd = fd;
        scan->hash = sha256_new();
        if (!scan->buffer)
                scan->buffer = g_malloc(STEP_BYTES);
        return 1;
}

/* Opens what a name stands for, once it is known to be harmless to open. */
static int enter_node(BundleScan *scan, const Level *level, const char *name, const char *path) {
        int64_t now = node_print_now();
        NodePrint seen, print;
        int fd, r;

        r = node_print_at(level->fd, name, &seen);
        if (r < 0)
                return give_up_errno(scan, path, r);
        if (S_ISLNK(seen.mode))
                return refuse(scan, DIAGNOSTIC_BUNDLE_SYMLINK, path, "A bundle must not hold links."), 1;
        if (!S_ISREG(seen.mode) && !S_ISDIR(seen.mode))
                return refuse(scan, DIAGNOSTIC_BUNDLE_SPECIAL_FILE, path,
                                       "A bundle must not hold devices, sockets or FIFOs."),
                       1;
        if (S_ISREG(seen.mode) && seen.links != 1)
                return refuse(scan, DIAGNOSTIC_BUNDLE_SPECIAL_FILE, path,
                                       "A bundle must not hold files with further hard links."),
                       1;

        fd = safe_open_at(level->fd, name, O_RDONLY | O_NONBLOCK, 0);
        if (fd < 0)
                return give_up_errno(scan, path, fd);
        r = node_print_fd(fd, &print);
        if (r < 0 || !node_print_equal(&seen, &print)) {
                close_fd(&fd);
                return give_up_errno(scan, path, r < 0 ? r : -EAGAIN);
        }
        return S_ISDIR(print.mode) ? enter_directory(scan, fd, path, &print) : enter_file(scan, fd, path, &print, now);
}

static bool is_marker(const Level *level, const char *name) {
        struct stat status;

        return *level->path == '\0' && strcmp(name, BUNDLE_MARKER_NAME) == 0 &&
                        fstatat(level->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

static int next_name(BundleScan *scan, const Level *level, const char *name) {
        g_autofree char *path = *level->path != '\0' ? g_strdup_printf("%s/%s", level->path, name) : g_strdup(name);
        const char *problem = text_rule_check_file_name(name);

        if (is_marker(level, name))
                return 1;
        if (problem) {
                g_autofree char *why = g_strdup_printf("The name of a file %s.", problem);

                refuse(scan, DIAGNOSTIC_BUNDLE_FILE_NAME, path, why);
                return 1;
        }
        if (strlen(path) > BUNDLE_PATH_BYTES_MAX)
                return give_up(scan, DIAGNOSTIC_BUNDLE_TOO_LARGE, path, "A path has more than 1024 bytes.");
        if (!(scan->flags & BUNDLE_SCAN_STAGED) && strcmp(path, BUNDLE_ERASED_NAME) == 0) {
                refuse(scan, DIAGNOSTIC_BUNDLE_FILE_NAME, path, "This name is reserved.");
                return 1;
        }
        return enter_node(scan, level, name, path);
}

/* The directory is through; had it changed meanwhile, names might have been missed. */
static int leave_level(BundleScan *scan, Level *level) {
        NodePrint now;
        int r = node_print_fd(level->fd, &now);

        if (r < 0 || !node_print_equal(&now, &level->print))
                return give_up_errno(scan, *level->path != '\0' ? level->path : NULL, r < 0 ? r : -EAGAIN);

        if (scan->levels->len == 1) {
                scan->tree->root = level->print;
                scan->tree->fresh_root = node_print_is_fresh(&level->print, level->began);
        }
        g_ptr_array_remove_index(scan->levels, scan->levels->len - 1);
        return 1;
}

static int finish_file(BundleScan *scan) {
        BundleNode *node = scan->node;
        g_autofree char *hex = sha256_finish_hex(scan->hash);
        NodePrint now;
        int r = node_print_fd(scan->fd, &now);

        if (r < 0 || !node_print_equal(&now, &node->print))
                return give_up_errno(scan, node->path, r < 0 ? r : -EAGAIN);

        memcpy(node->sha256, hex, SHA256_HEX_CHARS + 1);
        scan->hash = sha256_free(scan->hash);
        close_fd(&scan->fd);
        scan->node = NULL;
        return 1;
}

static int read_part(BundleScan *scan) {
        ssize_t n = read(scan->fd, scan->buffer, STEP_BYTES);

        if (n < 0)
                return errno == EINTR ? 1 : give_up_errno(scan, scan->node->path, -errno);
        if (n == 0)
                return finish_file(scan);

        sha256_update(scan->hash, scan->buffer, (size_t) n);
        scan->n_read += (uint64_t) n;
        return 1;
}

int bundle_scan_step(BundleScan *scan) {
        Level *level;

        assert(scan);

        if (scan->levels->len == 0)
                return scan->broken ? -EBADMSG : 0;
        if (scan->fd >= 0)
                return read_part(scan);

        level = g_ptr_array_index(scan->levels, scan->levels->len - 1);
        if (!level->names)
                return -EBADMSG;
        if (level->next < level->names->len)
                return next_name(scan, level, g_ptr_array_index(level->names, level->next++));
        return leave_level(scan, level);
}

int bundle_scan_run(BundleScan *scan) {
        int r;

        do
                r = bundle_scan_step(scan);
        while (r > 0);
        return r;
}

uint64_t bundle_scan_get_progress(const BundleScan *scan) {
        return scan->n_read;
}

BundleTree *bundle_scan_steal(BundleScan *scan) {
        assert(scan->levels->len == 0 && !scan->broken);

        return g_steal_pointer(&scan->tree);
}
