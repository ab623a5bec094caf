/* SPDX-License-Identifier: MIT */
#include "common/whole-io.h"

#include <errno.h>
#include <unistd.h>

int whole_write(int fd, const void *bytes, size_t size) {
        const char *at = bytes;

        while (size > 0) {
                ssize_t n = write(fd, at, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : -EIO;
                at += n;
                size -= (size_t) n;
        }
        return 0;
}

int whole_read(int fd, void *bytes, size_t size) {
        char *at = bytes;

        while (size > 0) {
                ssize_t n = read(fd, at, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : -ENODATA;
                at += n;
                size -= (size_t) n;
        }
        return 0;
}
