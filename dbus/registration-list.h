/* SPDX-License-Identifier: MIT */
#pragma once

/* Lists of what plugins registered: Tools.List, Commands.List and Hooks.List. */

#include "dbus/face.h"

/** registration_list_session() - read the options of such a list, which stand next in @m: session (o) */
int registration_list_session(Face *face, Caller *caller, sd_bus_message *m, Session **ret, sd_bus_error *reterr);

/**
 * registration_list_reply() - answer @m with the usable registrations of a kind
 * @type:   of one element
 * @append: appends one element
 *
 * Return: 1 or -errno.
 */
int registration_list_reply(
                Face *face, sd_bus_message *m, RegistrationKind kind, const char *type,
                int (*append)(sd_bus_message *m, const Registration *registration));
