/* SPDX-License-Identifier: MIT */
#pragma once

/* The registries as one session sees them: what it chose, without what something of its own hides, without names that two
 * of its entries both claim (contract 3.13, 4.1, 4.2.1; rows C05, C10, E07, O09, O10, P09). */

#include "service/registry.h"
#include "service/session.h"

/**
 * session_open() - session_table_open(), and what the session says of its own names is known to the registry from now on
 *
 * Return: as session_table_open(); ERROR_LIMIT_EXCEEDED also when no more names can be kept for all sessions.
 */
int session_open(
                SessionTable *table, Registry *registry, const char *client, const SessionOptions *options, Session **ret,
                sd_bus_error *reterr);

/**
 * selection_find() - the tool or command that a name means in a session, in any case
 * @ret: borrowed
 *
 * Return: 0; -ENODATA when nobody offers it, with @reterr untouched; ERROR_NO_SUCH_TOOL or ERROR_NO_SUCH_COMMAND with the
 * reason when somebody does, but not to this session.
 */
int selection_find(
                const Selection *selection, Registry *registry, RegistrationKind kind, const char *name, Registration **ret,
                sd_bus_error *reterr);

/** selection_foreach() - walk the tools, commands or listeners (selection_hears()) of a session in the order of their handles */
void selection_foreach(
                const Selection *selection, Registry *registry, RegistrationKind kind,
                void (*each)(Registration *registration, void *userdata), void *userdata);

/**
 * selection_hears() - whether a listener is asked about the calls of a session
 *
 * Every listener of a plugin that the session sees is, chosen or not: it may be a guard that a person installed, which is
 * not the caller's to leave out. One of another workspace never is, so it never sees these arguments (E07).
 */
bool selection_hears(const Selection *selection, const Registration *listener);

/**
 * selection_foreach_hidden() - what the session chose and yet can't use by its name, with the reason
 * @each: @why is a sentence for a person
 */
void selection_foreach_hidden(
                const Selection *selection, Registry *registry,
                void (*each)(const Registration *registration, const char *why, void *userdata), void *userdata);
