/* SPDX-License-Identifier: MIT */
#pragma once

/* Workspaces that clients asked to list: their bundles stay known for as long as one of those clients is there. */

#include "dbus/server.h"

/**
 * client_workspace_keep() - look for bundles in a workspace too, on behalf of a caller
 *
 * Return: 1 when the set has to be read again to find them; 0 when it has them; ERROR_INVALID_OPTION for a path that is not absolute; ERROR_LIMIT_EXCEEDED over CLIENT_WORKSPACES_MAX.
 */
int client_workspace_keep(BusServer *server, Caller *caller, const char *path, sd_bus_error *reterr);

/** client_workspaces_drop() - a caller left */
void client_workspaces_drop(BusServer *server, const Caller *caller);

void client_workspace_free(void *workspace);
