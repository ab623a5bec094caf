/* SPDX-License-Identifier: MIT */
#pragma once

/* The folder that a session works in, held by a descriptor from the moment the session opens. A path can be renamed away
 * and another folder put in its place; what a person approved "in this workspace" was about the first one. */

#include <glib.h>
#include <systemd/sd-bus.h>

typedef struct Workspace Workspace;

/** workspace_open() - hold a folder; ERROR_INVALID_OPTION when it is none, or can't be opened; ERROR_LIMIT_EXCEEDED */
int workspace_open(const char *path, Workspace **ret, sd_bus_error *reterr);
Workspace *workspace_free(Workspace *workspace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Workspace, workspace_free)

/** workspace_get_fd() - O_PATH, borrowed; what is opened beneath it is in that very folder */
int workspace_get_fd(const Workspace *workspace);

/** workspace_check() - whether its path still leads to it; ERROR_REFUSED_BY_POLICY when not */
int workspace_check(const Workspace *workspace, sd_bus_error *reterr);
