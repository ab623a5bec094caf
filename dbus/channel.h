/* SPDX-License-Identifier: MIT */
#pragma once

/* A direct channel: the same objects on a socket of its own, with the identity of who asked for it (design 4). */

#include "dbus/server.h"

/**
 * channel_open() - make one
 * @ret_fd: the client's end, for the answer; his to close
 *
 * Return: 0; ERROR_LIMIT_EXCEEDED over CLIENT_CHANNELS_MAX; ERROR_BUSY when descriptors run short.
 */
int channel_open(BusServer *server, Caller *caller, int *ret_fd, sd_bus_error *reterr);

/** channels_init() - once, before the first channel */
int channels_init(BusServer *server);

/** channels_close() - a caller left: his channels end, and what was called over them */
void channels_close(BusServer *server, const Caller *caller);
