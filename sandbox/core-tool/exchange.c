/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

#include "sandbox/core-tool/exchange.h"
#include "sandbox/frame.h"

static int receive(int fd, void *bytes, size_t size) {
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

static int send_bytes(int fd, const void *bytes, size_t size) {
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

int exchange_receive(int fd, char **ret, size_t *ret_size) {
        uint8_t header[FRAME_HEADER_BYTES];
        g_autofree char *payload = NULL;
        uint32_t size;
        int r;

        r = receive(fd, header, sizeof header);
        if (r >= 0)
                r = frame_read_header(header, &size);
        if (r < 0)
                return r;
        payload = g_malloc(size + 1);
        r = receive(fd, payload, size);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&payload);
        *ret_size = size;
        return 0;
}

int exchange_send(int fd, const char *payload, size_t size) {
        uint8_t header[FRAME_HEADER_BYTES];
        int r;

        frame_write_header(header, (uint32_t) size);
        r = send_bytes(fd, header, sizeof header);
        return r < 0 ? r : send_bytes(fd, payload, size);
}

int exchange_take_channel(void) {
        int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (fd < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
                return -errno;
        (void) close(null);
        return fd;
}
