/* SPDX-License-Identifier: MIT */
#pragma once

/* The tools of the built-in core with their schemas. */

#include "sandbox/spec.h"
#include "service/core-tool.h"

/** core_builtin_tools() - a new set of all of them */
CoreTools *core_builtin_tools(void);

/** core_builtin_is_web() - whether a tool's unit has the network, and then nothing else */
bool core_builtin_is_web(const CoreTool *tool);

/** core_builtin_access() - what a tool's unit may do in the workspace */
WorkspaceAccess core_builtin_access(const CoreTool *tool);
