/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/memfd.h"

#define SEALS_WANTED (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static int write_all(int fd, const char *data, size_t size) {
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

int memfd_seal(const char *name, const void *data, size_t size) {
        _cleanup_close_ int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        int r;

        if (fd < 0)
                return -errno;

        r = write_all(fd, data, size);
        if (r < 0)
                return r;
        if (lseek(fd, 0, SEEK_SET) < 0 || fcntl(fd, F_ADD_SEALS, SEALS_WANTED | F_SEAL_SEAL) < 0)
                return -errno;

        return steal_fd(&fd);
}

void memfd_unmap(MemfdView *view) {
        if (view->size > 0)
                (void) munmap((void *) view->data, view->size);
        *view = (MemfdView) {};
}

int memfd_map(int fd, MemfdView *ret, sd_bus_error *reterr) {
        int seals = fcntl(fd, F_GET_SEALS);
        struct stat status;
        void *data = NULL;

        if (seals < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The descriptor is no memory file that can be sealed.");
        if ((seals & SEALS_WANTED) != SEALS_WANTED)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                "The memory file must be sealed against writing, growing and shrinking.");
        if ((uint64_t) status.st_size > BUS_MEMFD_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "The memory file is larger than %zu bytes.", BUS_MEMFD_BYTES_MAX);

        if (status.st_size > 0) {
                data = mmap(NULL, (size_t) status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
                if (data == MAP_FAILED)
                        return errors_set(reterr, ERROR_IO, "The memory file can't be read: %s", g_strerror(errno));
        }

        *ret = (MemfdView) { data, (size_t) status.st_size };
        return 0;
}

int memfd_check_room(sd_bus_error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
                return 0;

        /* The kernel gives the lowest free number: when that is in the last quarter, the others are taken. */
        fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        if (fd < 0 || (rlim_t) fd >= limit.rlim_cur - limit.rlim_cur / 4)
                return errors_set(reterr, ERROR_BUSY, "Too many descriptors are open; try again.");

        return 0;
}
