/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "dbus/bus-interfaces.h"

const BusInterface *const bus_interfaces[] = {
        &bus_root,
        &bus_plugins,
        &bus_plugin,
        &bus_tools,
        &bus_commands,
        &bus_hooks,
        &bus_prompt,
        &bus_skills,
        &bus_storage,
        &bus_sessions,
        &bus_session,
        &bus_approvals,
        &bus_approval,
        &bus_grants,
        &bus_decisions,
        &bus_policy,
        &bus_request,
        &bus_log_control,
        &bus_log_control_root,
        NULL,
};
