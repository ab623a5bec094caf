/* SPDX-License-Identifier: MIT */
#pragma once

/* A face is one connection on which the service is shown: the bus itself, or a direct channel to one client (design 4).
 * All faces show the same objects. Every handler of a vtable gets its face as userdata and looks up the rest, so nothing
 * borrowed is kept between calls. */

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "dbus/caller.h"
#include "dbus/message.h"
#include "service/service.h"

typedef struct BusServer BusServer;

typedef struct Face {
        BusServer *server;
        Service *service;
        sd_bus *bus;
        Caller *caller;    /* of a channel: whose it is; NULL for the bus */
        GPtrArray *slots;
        size_t unread;     /* of a channel: bytes that were sent since its queue was last empty */
        bool doomed;       /* it is to be closed at the next turn of the loop */
        bool greeted;      /* of a channel: authentication is over */
} Face;

/**
 * face_new() - show all objects on a connection
 * @caller: NULL for the bus, else whose channel it is
 */
int face_new(BusServer *server, sd_bus *bus, Caller *caller, Face **ret);

/** face_free() - end showing; a channel is closed. Calls that came over it must be gone already */
Face *face_free(Face *face);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Face, face_free)

/** face_sent() - something was sent over a face: a channel whose other end does not read is doomed */
void face_sent(Face *face, size_t bytes);

/* What a method does. Return: 1 when it was answered or will be; else a negative errno with @reterr filled. */
typedef int (*FaceHandler)(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr);

/** face_dispatch() - find who calls, authorise, handle; whatever fails has one of our error names */
int face_dispatch(Face *face, sd_bus_message *m, FaceHandler handler, sd_bus_error *reterr);

/* BUS_METHOD(list) makes method_list() for the vtable out of handle_list(). */
#define BUS_METHOD(verb)                                                                                \
        static int method_##verb(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {             \
                return face_dispatch(userdata, m, handle_##verb, reterr);                               \
        }

/* ---- what handlers share ---- */

/** face_find_session() - the session of option @path, which must be the caller's own; with NULL his implicit one */
int face_find_session(Face *face, Caller *caller, const char *path, Session **ret, sd_bus_error *reterr);

/** face_find_plugin() - by id or unique name; ERROR_NO_SUCH_PLUGIN, ERROR_AMBIGUOUS_PLUGIN */
int face_find_plugin(Face *face, const char *word, Plugin **ret, sd_bus_error *reterr);
