/* SPDX-License-Identifier: MIT */
#pragma once

/* All of a buffer, however often the kernel takes or gives less, over a descriptor that blocks. Nothing but libc, so that the launcher
 * of the sandbox may have it too. */

#include <stddef.h>

/** whole_write() - Return: 0; -errno, -EIO when nothing more is taken */
int whole_write(int fd, const void *bytes, size_t size);

/** whole_read() - exactly so many bytes. Return: 0; -errno, -ENODATA at the end of input */
int whole_read(int fd, void *bytes, size_t size);
