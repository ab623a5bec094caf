/* SPDX-License-Identifier: MIT */
#pragma once

/* The list of all interfaces, one bus-*.c each. The XML in data/dbus/ is their reference; a test holds one to the other. */

#include <systemd/sd-bus.h>

#include "dbus/server.h"

typedef struct BusInterface {
        const char *path; /* of the one object that has it, or the prefix of a family of objects */
        const char *name;
        const sd_bus_vtable *vtable;
        sd_bus_object_find_t find;          /* of a family; NULL: a single object */
        sd_bus_node_enumerator_t enumerate; /* of a family whose members are listed */
} BusInterface;

extern const BusInterface bus_root, bus_plugins, bus_plugin, bus_tools, bus_commands, bus_hooks, bus_prompt, bus_skills, bus_storage,
                bus_sessions, bus_session, bus_approvals, bus_approval, bus_grants, bus_decisions, bus_request,
                bus_policy, bus_log_control, bus_log_control_root;

/** bus_policy_drop() - take back questions about rules that are being read, of a caller who left or all */
void bus_policy_drop(BusServer *server, const Caller *caller);
void bus_policy_look_free(void *look);

/** bus_interfaces - all of them, ended by NULL */
extern const BusInterface *const bus_interfaces[];
