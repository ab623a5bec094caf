/* SPDX-License-Identifier: MIT */
#pragma once

/* The eight bytes before every payload on the channel between service and host (contract 3.15): "CWX1", then
 * the payload's length as 32 bits, little-endian. No allocation, no GLib: the launcher uses this too. */

#include <stdint.h>

#define FRAME_HEADER_BYTES 8u

/** frame_write_header() - the header of a payload of @size bytes; the caller has checked @size against the
 * limit */
void frame_write_header(uint8_t header[FRAME_HEADER_BYTES], uint32_t size);

/**
 * frame_read_header() - check a header and take the payload's length from it
 *
 * Return: 0; -EBADMSG when it does not begin with "CWX1"; -EMSGSIZE when the length is over
 * FRAME_PAYLOAD_BYTES_MAX.
 */
int frame_read_header(const uint8_t header[FRAME_HEADER_BYTES], uint32_t *ret_size);
