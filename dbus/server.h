/* SPDX-License-Identifier: MIT */
#pragma once

/* The whole face of a Service on the bus and on direct channels. main.c makes it before it asks for the name of the
 * service, so that the first call finds everything. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "dbus/caller.h"
#include "dbus/face.h"
#include "dbus/polkit.h"
#include "service/service.h"

typedef struct Announcer Announcer; /* announcer.h */
typedef struct Notifier Notifier;   /* notifier.h */

struct BusServer {
        Service *service;
        sd_event *event;
        CallerTable *callers;
        Face *face;             /* of the bus itself */
        GPtrArray *channels;    /* Face, owned */
        GPtrArray *calls;       /* BusCall, borrowed: in progress */
        GHashTable *requests;   /* object path -> BusCall, borrowed */
        GHashTable *handles;    /* object path in it -> RequestHandle, borrowed */
        GPtrArray *acts;        /* BusAct, borrowed: slow transitions in progress */
        GPtrArray *jobs;        /* BusJob, borrowed: bundles that are being looked at or installed */
        GPtrArray *queries;     /* DecisionQuery, borrowed */
        GPtrArray *looks;       /* at rules that are being read; owned, see bus-interfaces.h */
        GPtrArray *workspaces;  /* ClientWorkspace, owned */
        Announcer *announcer;
        Notifier *notifier;
        Polkit *polkit;
        sd_event_source *sweep; /* closes doomed channels */
        sd_event_source *greet; /* while a channel authenticates */
};

/**
 * bus_server_new() - show @service on @bus
 * @service: gets our ServiceEvents; must outlive the server
 * @bus:     a started connection to a bus daemon that is attached to the service's event loop
 *
 * Call errors_register() before. Return: 0 or -errno.
 */
int bus_server_new(Service *service, sd_bus *bus, BusServer **ret);

/** bus_server_free() - end it: pending calls are cancelled and answered, channels closed; the bus stays open */
BusServer *bus_server_free(BusServer *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BusServer, bus_server_free)

/** bus_server_foreach_face() - the bus and every channel that is not about to be closed */
void bus_server_foreach_face(BusServer *server, void (*each)(Face *face, void *userdata), void *userdata);

/** bus_server_doom_face() - close a channel at the next turn of the loop */
void bus_server_doom_face(BusServer *server, Face *face);
