/* SPDX-License-Identifier: MIT */
#pragma once

/* Lists of what plugins registered: Tools.List, Commands.List and Hooks.List. */

#include "dbus/face.h"

/** registration_list_session() - read the options of such a list, which stand next in @m: session (o); NULL without it */
int registration_list_session(Face *face, Caller *caller, sd_bus_message *m, Session **ret, sd_bus_error *reterr);

/** registration_list_selection() - what a session may use; with NULL, what one that chose nothing may; borrowed */
Selection *registration_list_selection(const Session *session);

/**
 * registration_list_reply() - answer @m with the registrations of a kind that a session (NULL: an implicit one) has
 * @type:   of one element
 * @append: appends one element
 *
 * Return: 1 or -errno.
 */
int registration_list_reply(
                Face *face, sd_bus_message *m, const Session *session, RegistrationKind kind, const char *type,
                int (*append)(sd_bus_message *m, const Registration *registration));
