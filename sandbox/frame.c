/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common/limits.h"
#include "sandbox/frame.h"

static const uint8_t frame_magic[4] = { 'C', 'W', 'X', '1' };

void frame_write_header(uint8_t header[FRAME_HEADER_BYTES], uint32_t size) {
        memcpy(header, frame_magic, sizeof(frame_magic));
        for (unsigned i = 0; i < 4; i++)
                header[sizeof(frame_magic) + i] = (uint8_t) (size >> (8 * i));
}

int frame_read_header(const uint8_t header[FRAME_HEADER_BYTES], uint32_t *ret_size) {
        uint32_t size = 0;

        if (memcmp(header, frame_magic, sizeof(frame_magic)) != 0)
                return -EBADMSG;

        for (unsigned i = 0; i < 4; i++)
                size |= (uint32_t) header[sizeof(frame_magic) + i] << (8 * i);
        if (size > FRAME_PAYLOAD_BYTES_MAX)
                return -EMSGSIZE;

        *ret_size = size;
        return 0;
}
