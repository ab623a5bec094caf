/* SPDX-License-Identifier: MIT */
#pragma once

/* What one session chose when it was opened: which plugins it uses, and which names it has itself (contract 3.13, 4.1,
 * 4.2.1). A plugin of a workspace is there for sessions in that workspace only, whatever they choose. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "service/registration.h"

typedef struct Selection Selection;

/* Lists end with NULL; a list that is NULL is empty, but for @plugins, where it means every plugin. */
typedef struct SelectionLists {
        char **plugins;           /* each an id or a name, or one entry of it: "counter#native/main.mjs" */
        char **script_tools;      /* tools that scripts of the user gave the session: they win */
        char **builtin_commands;  /* commands of the session's own, aliases too */
        char **markdown_commands; /* commands from Markdown files: they win */
        char **native_tools;      /* tools of the session's own: nobody may register these names */
} SelectionLists;

void selection_lists_done(SelectionLists *lists);

/**
 * selection_new() - keep a copy of the lists
 * @workspace: canonical path of the session's workspace, or ""
 *
 * Return: 0; ERROR_INVALID_OPTION for an empty or unprintable word; ERROR_LIMIT_EXCEEDED over SESSION_NAMES_MAX words
 * in a list or SESSION_NAMES_BYTES_MAX bytes in all of them.
 */
int selection_new(const SelectionLists *lists, const char *workspace, Selection **ret, sd_bus_error *reterr);
Selection *selection_free(Selection *selection);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Selection, selection_free)

/** selection_sees() - whether the plugin is there for the session: it is of no workspace, or of the session's own */
bool selection_sees(const Selection *selection, const Plugin *plugin);

/** selection_has() - whether the session uses an entry of a plugin that it sees; @entry NULL: any of them */
bool selection_has(const Selection *selection, const Plugin *plugin, const char *entry);

/**
 * selection_shadow() - what of the session's own has the name of a tool or command and hides it
 *
 * Return: words like "a script tool of this session"; NULL when nothing does. @folded is in lower case.
 */
const char *selection_shadow(const Selection *selection, RegistrationKind kind, const char *folded);

/** selection_get_plugins() - the words of the list as they were given; NULL for every plugin */
char **selection_get_plugins(const Selection *selection);
