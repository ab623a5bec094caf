/* SPDX-License-Identifier: MIT */
#pragma once

/* Which kind of act each method is. A method that is not in the table is refused, so a new one can't be forgotten. */

#include <errno.h>
#include <systemd/sd-bus.h>

#include "dbus/caller.h"

typedef enum AuthorizeAction {
        AUTHORIZE_READ,     /* looks at something */
        AUTHORIZE_USE,      /* calls tools, keeps sessions: judged by the policy pipeline for each call */
        AUTHORIZE_MANAGE,   /* switches bundles on and off, removes what they stored, takes rights back */
        AUTHORIZE_ANSWER,   /* answers as a person: judged by the table of cards */
        AUTHORIZE_PERSONAL, /* design 4.2: trusting, raising a posture; an agent must not do it for itself */
        _AUTHORIZE_ACTION_MAX,
        _AUTHORIZE_ACTION_INVALID = -EINVAL,
} AuthorizeAction;

/** authorize_find() - the action of a method; _AUTHORIZE_ACTION_INVALID when it has no row */
AuthorizeAction authorize_find(const char *interface, const char *member);

/**
 * authorize_call() - whether a caller may do this
 *
 * Whoever is served at all is of our own user (caller-identity.h), so everything but the personal acts is allowed here.
 * Those pass here too, and their handlers have a person confirm them before anything is done (personal.h).
 *
 * Return: 1 when allowed; 0 when a person is being asked and the call will be dispatched again; ERROR_ACCESS_DENIED.
 */
int authorize_call(const Caller *caller, const char *interface, const char *member, sd_bus_error *reterr);
