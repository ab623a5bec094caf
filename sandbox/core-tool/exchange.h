/* SPDX-License-Identifier: MIT */
#pragma once

/* How a program of one core call talks with the service: one frame with the request comes, one with the answer goes. Blocks. */

#include <stddef.h>

/**
 * exchange_take_channel() - the channel moves away from the standard descriptors, so that no child has it
 *
 * Return: a descriptor; -errno.
 */
int exchange_take_channel(void);

/** exchange_receive() - one frame; @ret is a new string, ended by NUL besides */
int exchange_receive(int fd, char **ret, size_t *ret_size);

/** exchange_send() - one frame */
int exchange_send(int fd, const char *payload, size_t size);
