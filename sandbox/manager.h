/* SPDX-License-Identifier: MIT */
#pragma once

/* The connection to systemd's manager, which starts and stops the units. It is not the bus that we serve: a
 * user manager is reached over its private socket without any bus in between. A lost connection (the manager
 * was restarted or re-executed itself) is made anew by itself. Asynchronous only. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

typedef enum UnitManagerKind {
        UNIT_MANAGER_USER,        /* $XDG_RUNTIME_DIR/systemd/private of this user */
        UNIT_MANAGER_SESSION_BUS, /* the user manager as seen on the session bus */
        UNIT_MANAGER_SYSTEM,      /* pid 1 over the system bus; needs root (or polkit) */
        UNIT_MANAGER_ADDRESS,     /* a peer at an address of D-Bus, for tests */
        _UNIT_MANAGER_MAX,
        _UNIT_MANAGER_INVALID = -22,
} UnitManagerKind;

const char *unit_manager_kind_to_string(
                UnitManagerKind kind); /* "user", "session-bus", "system", "address" */
UnitManagerKind unit_manager_kind_from_string(const char *word);

typedef struct UnitManager UnitManager;

typedef struct UnitManagerEvents {
        void (*ready)(UnitManager *manager, void *userdata); /* also after each "lost" */
        void (*lost)(UnitManager *manager, int error, const char *reason,
                        void *userdata); /* once for each loss; tried again by itself */
} UnitManagerEvents;

/**
 * unit_manager_new() - connect; the answer comes as an event from the loop
 * @address: for UNIT_MANAGER_ADDRESS, else NULL
 * @events:  static table; entries may be NULL
 *
 * Units (sandbox/unit.h) hold a reference. Return: 0 or -errno for what is wrong at once.
 */
int unit_manager_new(sd_event *event, UnitManagerKind kind, const char *address,
                const UnitManagerEvents *events, void *userdata, UnitManager **ret);
UnitManager *unit_manager_ref(UnitManager *manager);
UnitManager *unit_manager_unref(UnitManager *manager); /* takes NULL, returns NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitManager, unit_manager_unref)

/** unit_manager_close() - the owner lets go: no event to it any more; use before its last unref */
UnitManager *unit_manager_close(UnitManager *manager);

bool unit_manager_is_ready(const UnitManager *manager);
UnitManagerKind unit_manager_get_kind(const UnitManager *manager);

/** unit_manager_get_system() - whether units run in the system manager and so need a user of their own */
bool unit_manager_get_system(const UnitManager *manager);

/* For sandbox/unit.c */

/** unit_manager_bus() - the connection; NULL while there is none */
sd_bus *unit_manager_bus(UnitManager *manager);
sd_event *unit_manager_event(UnitManager *manager);

/** unit_manager_destination() - the name to send to: NULL on a direct connection */
const char *unit_manager_destination(const UnitManager *manager);

/* Somebody who wants to know of each loss and return of the connection, in no order; removed by
 * unit_manager_unfollow(), also from within a call. */
typedef void (*UnitManagerFollower)(UnitManager *manager, bool ready, void *userdata);
void unit_manager_follow(UnitManager *manager, UnitManagerFollower follower, void *userdata);
void unit_manager_unfollow(UnitManager *manager, void *userdata);
