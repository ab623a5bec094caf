/* SPDX-License-Identifier: MIT */
#pragma once

/* The real service with its bus face in a process of its own, on a private bus, with a home of its own. No manager of
 * systemd is there, so no host can start; what needs one is tested beside a real manager (tests/integration). */

#include <stdbool.h>

#include "private-bus.h"

#define SERVICE "org.codewhale.Extensions"
#define ROOT    "/org/codewhale/Extensions"
#define ERROR_  SERVICE ".Error."

/* A little more than the service shows, for the tests: its numbers, and things that only a host would bring about. */
#define PROBE_PATH      "/org/codewhale/Test"
#define PROBE_INTERFACE "org.codewhale.Test"

typedef struct Served {
        PrivateBus *bus;
        Server server;
        char *home;   /* CODEWHALE_HOME */
        char *source; /* a folder for bundles */
} Served;

Served served_start(void);
void served_stop(Served *served);

/* What the process has at this moment. */
typedef struct ServedCounts {
        uint32_t callers, sessions, calls, requests, channels, acts, workspaces, fds;
} ServedCounts;

ServedCounts served_count(sd_bus *client);

/** served_wait_for_callers() - until that many are known; the wait has an end */
ServedCounts served_wait_for_callers(sd_bus *client, uint32_t callers);

/** served_open_card() - as a call of @requester would that needs a person */
uint64_t served_open_card(sd_bus *client, const char *requester, const char *arguments);

/** served_give() - a person gives the client a grant for its implicit session */
void served_give(sd_bus *client);
uint32_t served_count_grants(sd_bus *client);

/** served_pretend_request() - let a request object be there, to be introspected */
void served_pretend_request(sd_bus *client, const char *path);

/**
 * served_memory() - resident bytes of the process
 *
 * 0 under a checker of memory, which keeps what was freed for a while.
 */
size_t served_memory(const Served *served);
