/* SPDX-License-Identifier: MIT */
#pragma once

/* Our own core, for sessions with a workspace whose client offers none: each call runs in a transient unit of its own,
 * behind the walls of a host, with the workspace as its only view (design 6). Nothing of it is executed in the daemon. */

#include "service/host.h"
#include "service/session-core.h"

/** core_builtin_new() - @context is borrowed and outlives it */
SessionCore *core_builtin_new(const HostContext *context);

/**
 * core_builtin_workspace() - whether a workspace can be the view of a unit
 *
 * Refused are the root, the system's folders, the home itself, and whatever holds the state of this service.
 * Return: 0 or ERROR_NOT_SUPPORTED with the reason.
 */
int core_builtin_workspace(const HostContext *context, const char *workspace, sd_bus_error *reterr);
