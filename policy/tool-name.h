/* SPDX-License-Identifier: MIT */
#pragma once

/* What a tool's name means: which names a plugin may take, what an action family stands for, and which
 * category a name falls into (contract 5.2, 5.3). Every comparison ignores case, so that "Read" can't pose
 * as "read". */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "common/jdoc.h"

typedef enum ToolCategory {
        CATEGORY_UNKNOWN, /* extension tools land here by construction */
        CATEGORY_AGENT,
        CATEGORY_FILE_WRITE,
        CATEGORY_NETWORK,
        CATEGORY_SHELL,
        CATEGORY_MCP_READ,
        CATEGORY_MCP_ACTION,
        CATEGORY_SAFE,
        _TOOL_CATEGORY_MAX,
        _TOOL_CATEGORY_INVALID = -EINVAL,
} ToolCategory;

const char *tool_category_to_string(ToolCategory category);

/** tool_name_check() - 0, or -EINVAL unless it matches ^[A-Za-z][A-Za-z0-9_-]{0,63}$ */
int tool_name_check(const char *name);

/**
 * tool_alias_resolve() - the older single-action name that policy goes by
 * @name:  as it was called; any case
 * @input: the arguments, for the "action" of a family; absent for none
 *
 * Return: a new string: the policy name in lower case, or @name in lower case when it is no alias. A family
 * whose action is unknown, or is missing and has no default, resolves to the family's own name.
 */
char *tool_alias_resolve(const char *name, Jval input);

/** tool_short_name() - what else a policy name is called, such as "shell" for "exec_shell"; NULL for nothing, static */
const char *tool_short_name(const char *policy_name);

/** tool_family_of() - the family that a policy name is an action of, such as "bash" of "exec_shell"; NULL for none, static */
const char *tool_family_of(const char *policy_name);

/**
 * tool_pattern_means() - whether a pattern of a file is about a tool, by any of its names
 * @pattern: "*" and "?" are wild; a family's name without them stands for all its actions
 */
bool tool_pattern_means(const char *pattern, const char *policy_name);

/** tool_is_family() - whether the name is an action family */
bool tool_is_family(const char *name);

/** tool_category() - the category of a policy name (tool_alias_resolve()), ignoring case */
ToolCategory tool_category(const char *policy_name);

/* ---- which names a plugin may register ---- */

/* Names of the native tools of every session that this process has seen. Only ever grows (contract 5.2). */
typedef struct NativeNames NativeNames;

NativeNames *native_names_new(void);
NativeNames *native_names_free(NativeNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NativeNames, native_names_free)

/** native_names_add() - 0; -ENOBUFS at TOOLS_MAX names */
int native_names_add(NativeNames *names, const char *name);
bool native_names_contains(const NativeNames *names, const char *name);

/* Which special treatment a name gets although its input is empty (contract 5.2, probing). */
typedef enum ToolSpecial {
        TOOL_SPECIAL_KEY = 1 << 0, /* an approval key of its own shape */
        TOOL_SPECIAL_ALIAS = 1 << 1,
        TOOL_SPECIAL_SUMMARY = 1 << 2, /* a card summary of its own */
        TOOL_SPECIAL_CATEGORY = 1 << 3,
} ToolSpecial;

/** tool_name_probe() - the ToolSpecial bits of a name as given and in lower case; 0 for an ordinary one */
unsigned tool_name_probe(const char *name);

/**
 * tool_name_admit() - whether a plugin may register a tool of this name
 * @natives: NULL or the native names
 *
 * Checks in this order: grammar, reserved prefixes, fixed reserved names, families and aliases, natives,
 * probing. Whether another plugin holds the name is the registry's to know.
 *
 * Return: 0; -EINVAL for the grammar, -EPERM for a reserved name; words in @reterr.
 */
int tool_name_admit(const char *name, const NativeNames *natives, sd_bus_error *reterr);
