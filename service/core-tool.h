/* SPDX-License-Identifier: MIT */
#pragma once

/* The tools of a core: what an extension may ask for with exec.core.call() (contract 6). A core is one that a client
 * offers for its session, or our own (core-builtin.h). */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "common/jdoc.h"
#include "policy/decision.h"
#include "schema/schema.h"

typedef struct CoreTool {
        char *name;
        char *policy_name; /* of a call without arguments: what rules know it by (tool-name.h) */
        char *description;
        char *schema_text; /* NULL: any object */
        Schema *schema;
        Requirement requirement; /* its own, for calls that no extension makes */
        ToolCapabilities capabilities;
} CoreTool;

typedef struct CoreTools CoreTools;

CoreTools *core_tools_new(void);
CoreTools *core_tools_ref(CoreTools *tools);
CoreTools *core_tools_unref(CoreTools *tools);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CoreTools, core_tools_unref)

/**
 * core_tools_read() - the tools that a client offers
 * @json: [{"name","description","input_schema","requirement":"auto|suggest|required","capabilities":["network","process",
 *        "executes","writes"]}...]; all but the name may be missing, the requirement is then "required"
 *
 * Return: 0; ERROR_INVALID_ARGUMENTS; ERROR_TOO_LARGE; ERROR_LIMIT_EXCEEDED over CORE_TOOLS_MAX.
 */
int core_tools_read(const char *json, CoreTools **ret, sd_bus_error *reterr);

/** core_tools_add() - one tool of ours; its schema is known to be good */
void core_tools_add(
                CoreTools *tools, const char *name, const char *description, const char *schema, Requirement requirement,
                ToolCapabilities capabilities);

/**
 * core_tools_find() - the tool that a call means
 * @name:  as it was called, in any case: the tool's name, another one for the same (read_file), or a family's
 * @input: for the "action" of a family
 *
 * Return: borrowed; NULL when this core has none.
 */
const CoreTool *core_tools_find(const CoreTools *tools, const char *name, Jval input);

size_t core_tools_count(const CoreTools *tools);
const CoreTool *core_tools_get(const CoreTools *tools, size_t index);
