/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "common/whole-io.h"

#define PENDING_PREFIX ".pending-"
#define TREE_DEPTH_MAX 64

static bool has_dot_dot(const char *path) {
        for (const char *part = path; part; part = strchr(part, '/')) {
                part += strspn(part, "/");
                if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
                        return true;
        }
        return false;
}

/* Opens one component. A link says so whatever the flags make of it: O_PATH would open it, O_DIRECTORY take it for a file. */
static int open_component(int parent, const char *name, int flags, mode_t mode) {
        _cleanup_close_ int fd = openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, mode);
        int error = fd < 0 ? -errno : 0;
        struct stat status;
        bool known;

        if (fd >= 0 && !(flags & O_PATH))
                return steal_fd(&fd);
        known = fd >= 0 ? fstat(fd, &status) == 0 : fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
        if (known && S_ISLNK(status.st_mode))
                return -ELOOP;
        return fd < 0 ? error : steal_fd(&fd);
}

/* What openat2() does, for where a filter or a checker does not know that call: component by component. */
static int walk_open(int directory, const char *path, int flags, mode_t mode) {
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);
        _cleanup_close_ int at = -EBADF;
        const char *last = ".";

        if (*path == '\0')
                return -ENOENT;

        for (char **part = parts; *part; part++) {
                int next;

                if (**part == '\0' || strcmp(*part, ".") == 0)
                        continue;
                if (strcmp(last, ".") != 0) {
                        next = open_component(at < 0 ? directory : at, last, O_PATH | O_DIRECTORY, 0);
                        if (next < 0)
                                return next;
                        close_fd(&at);
                        at = next;
                }
                last = *part;
        }
        return open_component(at < 0 ? directory : at, last, flags, mode);
}

int safe_open_at(int directory, const char *path, int flags, mode_t mode) {
        struct open_how how = {
                .flags = (unsigned) (flags | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW),
                .mode = flags & O_CREAT ? mode : 0,
                .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
        };
        long fd;

        if (*path == '/' || has_dot_dot(path))
                return -EXDEV;

        /* openat2() gives up with EAGAIN when a rename races with it. */
        for (int tries = 0; tries < 16; tries++) {
                fd = syscall(SYS_openat2, directory, path, &how, sizeof how);
                if (fd >= 0)
                        return (int) fd;
                if (errno != EAGAIN && errno != EINTR)
                        break;
        }
        return errno == ENOSYS ? walk_open(directory, path, flags, flags & O_CREAT ? mode : 0) : -errno;
}

int safe_open_directory(const char *path) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

static int make_one_directory(int parent, const char *name, mode_t mode) {
        bool made = mkdirat(parent, name, mode) == 0;
        _cleanup_close_ int fd = -EBADF;

        if (!made && errno != EEXIST)
                return -errno;

        fd = safe_open_at(parent, name, O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0)
                return fd;
        /* The umask had its say in mkdirat(). */
        if (made && fchmod(fd, mode) < 0)
                return -errno;
        return steal_fd(&fd);
}

int safe_make_directory_at(int directory, const char *path, mode_t mode) {
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);
        _cleanup_close_ int at = fcntl(directory, F_DUPFD_CLOEXEC, 3);

        if (at < 0)
                return -errno;

        for (char **part = parts; *part; part++) {
                int next;

                if (**part == '\0')
                        continue;
                next = make_one_directory(at, *part, mode);
                if (next < 0)
                        return next;
                close_fd(&at);
                at = next;
        }
        return steal_fd(&at);
}

int safe_read_fd(int fd, size_t bytes_max, char **ret_data, size_t *ret_size) {
        g_autofree char *data = NULL;
        struct stat status;
        size_t size = 0;

        if (fstat(fd, &status) < 0)
                return -errno;
        if (!S_ISREG(status.st_mode))
                return -EBADFD;
        if ((uint64_t) status.st_size > bytes_max)
                return -EFBIG;

        /* One byte more than it said, to notice a file that grows while it is read. */
        data = g_malloc((size_t) status.st_size + 2);
        for (;;) {
                ssize_t n = read(fd, data + size, (size_t) status.st_size + 1 - size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                size += (size_t) n;
                if (n == 0)
                        break;
                if (size > (size_t) status.st_size)
                        return -EAGAIN;
        }

        data[size] = '\0';
        *ret_data = g_steal_pointer(&data);
        *ret_size = size;
        return 0;
}

int safe_read_at(int directory, const char *path, size_t bytes_max, char **ret_data, size_t *ret_size) {
        /* O_NONBLOCK: a FIFO must not hold us up before we see that it is none of ours to read. */
        _cleanup_close_ int fd = safe_open_at(directory, path, O_RDONLY | O_NONBLOCK, 0);

        if (fd < 0)
                return fd;
        return safe_read_fd(fd, bytes_max, ret_data, ret_size);
}

static int write_pending(int directory, const char *name, const void *data, size_t size, mode_t mode) {
        _cleanup_close_ int fd = safe_open_at(directory, name, O_WRONLY | O_CREAT | O_EXCL, mode);
        int r;

        if (fd < 0)
                return fd;
        if (fchmod(fd, mode) < 0)
                return -errno;
        r = whole_write(fd, data, size);
        if (r < 0)
                return r;
        return fsync(fd) < 0 ? -errno : 0;
}

int safe_replace_at(int directory, const char *name, const void *data, size_t size, mode_t mode) {
        char pending[sizeof PENDING_PREFIX + 16];
        uint64_t random;
        int r;

        if (strchr(name, '/'))
                return -EINVAL;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
                return -EIO;
        (void) snprintf(pending, sizeof pending, PENDING_PREFIX "%016" G_GINT64_MODIFIER "x", random);

        r = write_pending(directory, pending, data, size, mode);
        if (r >= 0 && renameat(directory, pending, directory, name) < 0)
                r = -errno;
        if (r < 0) {
                (void) unlinkat(directory, pending, 0);
                return r;
        }
        return fsync(directory) < 0 ? -errno : 0;
}

int safe_unlink_at(int directory, const char *name) {
        if (unlinkat(directory, name, 0) < 0)
                return -errno;

        return fsync(directory) < 0 ? -errno : 0;
}

/* Opens a directory that is to go, also one whose mode shuts its owner out: a plugin may leave such in its data. */
static int open_doomed(int directory, const char *name) {
        _cleanup_close_ int handle = -EBADF;
        char path[sizeof "/proc/self/fd/" + 11];
        int fd = safe_open_at(directory, name, O_RDONLY | O_DIRECTORY, 0);

        if (fd >= 0)
                (void) fchmod(fd, 0700); /* sealed copies are read-only */
        if (fd != -EACCES)
                return fd;

        handle = safe_open_at(directory, name, O_PATH | O_DIRECTORY, 0);
        if (handle < 0)
                return handle;
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", handle);
        if (chmod(path, 0700) < 0)
                return -errno;
        return safe_open_at(directory, name, O_RDONLY | O_DIRECTORY, 0);
}

static int remove_tree(int directory, const char *name, unsigned depth) {
        DIR *stream;
        struct dirent *entry;
        int fd, r = 0;

        if (unlinkat(directory, name, 0) == 0)
                return 0;
        if (errno != EISDIR && errno != EPERM)
                return -errno;
        if (depth == 0)
                return -ELOOP;

        fd = open_doomed(directory, name);
        if (fd < 0)
                return fd;
        stream = fdopendir(fd);
        if (!stream) {
                close_fd(&fd);
                return -ENOMEM;
        }
        while (r >= 0 && (entry = readdir(stream)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        r = remove_tree(dirfd(stream), entry->d_name, depth - 1);
        (void) closedir(stream);

        if (r >= 0 && unlinkat(directory, name, AT_REMOVEDIR) < 0)
                r = -errno;
        return r;
}

int safe_remove_tree_at(int directory, const char *name) {
        return remove_tree(directory, name, TREE_DEPTH_MAX);
}

int safe_sweep_pending(int directory) {
        int fd = safe_open_at(directory, ".", O_RDONLY | O_DIRECTORY, 0);
        struct dirent *entry;
        DIR *stream;

        if (fd < 0)
                return fd;
        stream = fdopendir(fd);
        if (!stream) {
                close_fd(&fd);
                return -ENOMEM;
        }
        while ((entry = readdir(stream)))
                if (g_str_has_prefix(entry->d_name, PENDING_PREFIX))
                        (void) unlinkat(dirfd(stream), entry->d_name, 0);
        (void) closedir(stream);
        return 0;
}
