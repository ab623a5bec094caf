/* SPDX-License-Identifier: MIT */
#pragma once

/* A bus daemon of the test's own, and a process that serves something on it. The test itself is then an ordinary client
 * that may block. */

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <sys/types.h>

typedef struct PrivateBus {
        pid_t pid;
        char *directory;
        char *address;
} PrivateBus;

PrivateBus *private_bus_start(void);
void private_bus_stop(PrivateBus *bus);

/** private_bus_open() - a new connection of a client; every wait of it ends after two minutes */
sd_bus *private_bus_open(const PrivateBus *bus);

/* What the other process does: set things up on its own connection, and take them down again before it exits. */
typedef struct Serving {
        void *(*begin)(sd_event *event, sd_bus *bus);
        void (*end)(void *state);
        const char *name; /* taken when begin() is through */
} Serving;

typedef struct Server {
        pid_t pid;
} Server;

/** server_start() - fork; returns when the name is taken */
Server server_start(const PrivateBus *bus, const Serving *serving);

/** server_stop() - end it; fails the test when it did not exit with success (a sanitizer found something) */
void server_stop(Server *server);

/** call_error() - call a method that must fail; returns the name of the error, freed by the caller */
char *call_error(sd_bus *bus, const char *service, const char *path, const char *interface, const char *member,
                const char *types, ...);
