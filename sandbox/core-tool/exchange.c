/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

#include "common/whole-io.h"
#include "sandbox/core-tool/exchange.h"
#include "sandbox/frame.h"

int exchange_receive(int fd, char **ret, size_t *ret_size) {
        uint8_t header[FRAME_HEADER_BYTES];
        g_autofree char *payload = NULL;
        uint32_t size;
        int r;

        r = whole_read(fd, header, sizeof header);
        if (r >= 0)
                r = frame_read_header(header, &size);
        if (r < 0)
                return r;
        payload = g_malloc(size + 1);
        r = whole_read(fd, payload, size);
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
        r = whole_write(fd, header, sizeof header);
        return r < 0 ? r : whole_write(fd, payload, size);
}

int exchange_take_channel(void) {
        int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (fd < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
                return -errno;
        (void) close(null);
        return fd;
}
