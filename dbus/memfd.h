/* SPDX-License-Identifier: MIT */
#pragma once

/* Sealed memory files: how data over BUS_MESSAGE_BYTES_MAX travels (design 4). */

#include <stddef.h>
#include <systemd/sd-bus.h>

/**
 * memfd_seal() - a memory file that holds @data and that nobody can change any more
 * @name: for /proc/PID/fd, no secret
 *
 * Return: a descriptor, or -errno.
 */
int memfd_seal(const char *name, const void *data, size_t size);

typedef struct MemfdView {
        const char *data; /* not ended by NUL */
        size_t size;
} MemfdView;

void memfd_unmap(MemfdView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MemfdView, memfd_unmap)

/**
 * memfd_map() - look at what a stranger's memory file holds
 * @fd: borrowed
 *
 * Return: 0; ERROR_INVALID_ARGUMENTS when it is no memory file or is not sealed against writing, growing and shrinking
 * (it could change while we read); ERROR_TOO_LARGE over BUS_MEMFD_BYTES_MAX.
 */
int memfd_map(int fd, MemfdView *ret, sd_bus_error *reterr);

/** memfd_check_room() - ERROR_BUSY when so many descriptors are open that the last ones should be kept for our own work */
int memfd_check_room(sd_bus_error *reterr);
