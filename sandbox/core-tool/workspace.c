/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/whole-io.h"
#include "sandbox/core-tool/workspace.h"

#define WALK_DEPTH_MAX 64
#define NEW_FILE_MODE  0644
#define PENDING_NAME   ".codewhale-pending-"

int workspace_open(Workspace *workspace, const char *path, uint64_t device, uint64_t inode) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if ((device || inode) && (st.st_dev != device || st.st_ino != inode))
                return -ESTALE;

        *workspace = (Workspace){ .fd = steal_fd(&fd), .path = g_canonicalize_filename(path, "/") };
        return 0;
}

char *workspace_relative(const Workspace *workspace, const char *path, Answer *answer) {
        g_autofree char *whole = g_canonicalize_filename(path, workspace->path);
        size_t size = strlen(workspace->path);

        if (strcmp(whole, workspace->path) == 0)
                return g_strdup(".");
        if (strncmp(whole, workspace->path, size) == 0 && whole[size] == '/')
                return g_strdup(whole + size + 1);

        answer_fail(answer, "%s is outside the workspace.", path);
        return NULL;
}

/* Says in words why a path could not be opened. A link is the one case that a person can do something about. */
static int explain(const char *relative, int r, Answer *answer) {
        if (r == -ELOOP)
                answer_fail(answer, "%s is a link or lies behind one, and links are not followed; name what it points to.",
                                relative);
        else
                answer_fail(answer, "%s: %s.", relative, g_strerror(-r));
        return r;
}

int workspace_open_file(const Workspace *workspace, const char *relative, struct stat *ret_st, Answer *answer) {
        /* Without O_NONBLOCK a FIFO would hold us up before we see that it is one. */
        _cleanup_close_ int fd = safe_open_at(workspace->fd, relative, O_RDONLY | O_NONBLOCK, 0);

        if (fd < 0)
                return explain(relative, fd, answer);
        if (fstat(fd, ret_st) < 0)
                return explain(relative, -errno, answer);
        if (!S_ISREG(ret_st->st_mode)) {
                answer_fail(answer, "%s is no regular file.", relative);
                return -EBADFD;
        }
        return steal_fd(&fd);
}

int workspace_open_directory(const Workspace *workspace, const char *relative, Answer *answer) {
        int fd = strcmp(relative, ".") == 0 ? openat(workspace->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                            : safe_open_at(workspace->fd, relative, O_RDONLY | O_DIRECTORY, 0);

        if (fd < 0)
                return explain(relative, strcmp(relative, ".") == 0 ? -errno : fd, answer);
        return fd;
}

int workspace_read(const Workspace *workspace, const char *relative, size_t bytes_max, char **ret_data, size_t *ret_size,
                struct stat *ret_st, Answer *answer) {
        _cleanup_close_ int fd = workspace_open_file(workspace, relative, ret_st, answer);
        int r;

        if (fd < 0)
                return fd;
        r = safe_read_fd(fd, bytes_max, ret_data, ret_size);
        if (r == -EFBIG)
                answer_fail(answer, "%s is larger than %zu bytes.", relative, bytes_max);
        else if (r < 0)
                return explain(relative, r, answer);
        return r;
}

/* ---- replacing ---- */

static bool is_same_file(const struct stat *a, const struct stat *b) {
        return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
               a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Puts the finished file in its place, unless somebody else was there in the meantime. */
static int put_in_place(int directory, const char *pending, const char *name, const struct stat *before) {
        struct stat now;

        if (!before)
                return renameat2(directory, pending, directory, name, RENAME_NOREPLACE) < 0 ? -errno : 0;
        if (fstatat(directory, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (!is_same_file(&now, before))
                return -EBUSY;
        return renameat(directory, pending, directory, name) < 0 ? -errno : 0;
}

static int replace_in(int directory, const char *name, const void *data, size_t size, const struct stat *before) {
        g_autofree char *pending = g_strdup_printf(PENDING_NAME "%d-%08x", (int) getpid(), g_random_int());
        _cleanup_close_ int fd = openat(
                        directory, pending, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        int r;

        if (fd < 0)
                return -errno;
        r = whole_write(fd, data, size);
        if (r >= 0 && fchmod(fd, before ? before->st_mode & 0777 : NEW_FILE_MODE) < 0)
                r = -errno;
        if (r >= 0 && fsync(fd) < 0)
                r = -errno;
        if (r >= 0)
                r = put_in_place(directory, pending, name, before);
        if (r < 0)
                (void) unlinkat(directory, pending, 0);
        return r;
}

int workspace_replace(const Workspace *workspace, const char *relative, const void *data, size_t size,
                const struct stat *before, Answer *answer) {
        g_autofree char *folder = g_path_get_dirname(relative), *name = g_path_get_basename(relative);
        _cleanup_close_ int directory = workspace_open_directory(workspace, folder, answer);
        int r;

        if (directory < 0)
                return directory;
        r = replace_in(directory, name, data, size, before);
        if (r == -EBUSY || r == -EEXIST)
                answer_fail(answer, "%s was changed by somebody else in the meantime; nothing was written.", relative);
        else if (r < 0)
                return explain(relative, r, answer);
        return r;
}

/* ---- walking ---- */

typedef struct Walk {
        WorkspaceEach each;
        void *userdata;
        unsigned files;
        bool more;
} Walk;

static int compare_names(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *names_in(int directory) {
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = copy < 0 ? NULL : fdopendir(copy);

        if (!dir) {
                if (copy >= 0)
                        (void) close(copy);
                return names;
        }
        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        g_ptr_array_add(names, g_strdup(entry->d_name));
        (void) closedir(dir);
        g_ptr_array_sort(names, compare_names);
        return names;
}

static bool walk_directory(Walk *walk, int directory, const char *relative, unsigned depth);

static bool walk_entry(Walk *walk, int directory, const char *relative, const char *name, unsigned depth) {
        g_autofree char *path = strcmp(relative, ".") == 0 ? g_strdup(name) : g_build_filename(relative, name, NULL);
        _cleanup_close_ int below = -EBADF;
        struct stat st;

        if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return true;
        if (S_ISREG(st.st_mode)) {
                if (++walk->files > CORE_WALK_FILES_MAX) {
                        walk->more = true;
                        return false;
                }
                return walk->each(path, directory, name, walk->userdata);
        }
        if (!S_ISDIR(st.st_mode) || strcmp(name, ".git") == 0 || depth >= WALK_DEPTH_MAX)
                return true;

        below = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return below < 0 || walk_directory(walk, below, path, depth + 1);
}

static bool walk_directory(Walk *walk, int directory, const char *relative, unsigned depth) {
        g_autoptr(GPtrArray) names = names_in(directory);

        for (guint i = 0; i < names->len; i++)
                if (!walk_entry(walk, directory, relative, names->pdata[i], depth))
                        return false;
        return true;
}

int workspace_walk(
                const Workspace *workspace, const char *relative, WorkspaceEach each, void *userdata, Answer *answer) {
        _cleanup_close_ int directory = workspace_open_directory(workspace, relative, answer);
        Walk walk = { .each = each, .userdata = userdata };

        if (directory < 0)
                return directory;
        (void) walk_directory(&walk, directory, relative, 0);
        return walk.more ? 1 : 0;
}
