/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/memory-file.h"
#include "common/cleanup.h"
#include "common/limits.h"

/* Reads by position: whoever wrote the file shares its offset with us. */
static int read_positioned(int fd, char *data, size_t size) {
        for (size_t at = 0; at < size;) {
                ssize_t n = pread(fd, data + at, size - at, (off_t) at);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        return -EAGAIN; /* it shrank while we read */
                at += (size_t) n;
        }

        return 0;
}

int memory_file_read(int fd, char **ret) {
        g_autofree char *text = NULL;
        struct stat status;
        int r;

        if (fstat(fd, &status) < 0)
                return -errno;
        if (!S_ISREG(status.st_mode))
                return -EBADFD;
        if ((uint64_t) status.st_size > BUS_MEMFD_BYTES_MAX)
                return -EFBIG;

        text = g_malloc0((size_t) status.st_size + 1);
        r = read_positioned(fd, text, (size_t) status.st_size);
        if (r < 0)
                return r;
        if (strlen(text) != (size_t) status.st_size)
                return -EBADMSG;

        *ret = g_steal_pointer(&text);
        return 0;
}

int memory_file_seal(const char *text, int *ret) {
        _cleanup_close_ int fd = memfd_create("codewhale-arguments", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        size_t size = strlen(text);

        if (fd < 0)
                return -errno;
        while (size > 0) {
                ssize_t n = write(fd, text, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                text += n;
                size -= (size_t) n;
        }
        if (lseek(fd, 0, SEEK_SET) < 0)
                return -errno;
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
                return -errno;

        *ret = steal_fd(&fd);
        return 0;
}
