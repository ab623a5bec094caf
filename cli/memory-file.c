/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/memory-file.h"
#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"

int memory_file_read(int fd, char **ret) {
        g_autofree char *text = NULL;
        size_t size = 0;
        int r;

        r = safe_read_fd(fd, BUS_MEMFD_BYTES_MAX, &text, &size);
        if (r < 0)
                return r;
        if (memchr(text, 0, size))
                return -EBADMSG;

        *ret = g_strndup(text, size);
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
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
                return -errno;

        *ret = steal_fd(&fd);
        return 0;
}
