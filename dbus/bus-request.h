/* SPDX-License-Identifier: MIT */
#pragma once

/* The object of something that takes a while: a call that was begun with Start, or a job over a bundle that was given a
 * handle-token. */

#include "dbus/bus-call.h"

/* Whom its signals are for */
typedef struct RequestAddress {
        sd_bus *bus;
        const char *destination; /* NULL on a channel: there is nobody else */
        const char *path;
} RequestAddress;

/** bus_request_respond() - tell its caller, and nobody else, how the call ended */
void bus_request_respond(BusCall *call, const InvocationAnswer *answer);

/** bus_request_end() - the same for anything that has the object */
void bus_request_end(const RequestAddress *to, const InvocationAnswer *answer);

/** bus_request_tell() - how far it is; see the signal Progressed */
void bus_request_tell(const RequestAddress *to, const char *stage, uint64_t done, uint64_t total);
