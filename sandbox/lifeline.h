/* SPDX-License-Identifier: MIT */
#pragma once

/* What ends the units of a service that is no unit itself (started from a shell, by a test, by a bus that activates it):
 * however it ends, SIGKILL included, they go as well (contract 3.20, H14).
 *
 * A small unit of its own reads a pipe whose other end the service alone holds. When the service is gone, the kernel ends the pipe, the
 * unit ends, and systemd stops whatever is bound to it (BindsTo=). Nothing in a sandbox can reach it. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "sandbox/manager.h"

typedef struct Lifeline Lifeline;

/**
 * lifeline_new() - nothing is started yet
 * @manager:  a reference is kept
 * @launcher: the launcher's path; copied
 */
Lifeline *lifeline_new(UnitManager *manager, const char *launcher);
Lifeline *lifeline_free(Lifeline *lifeline); /* what is bound to it is stopped; takes NULL, returns NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lifeline, lifeline_free)

/**
 * lifeline_hold() - have its unit, asked for on this very connection before whatever is going to be bound to it
 * @ret_unit: its name; valid until the next call
 *
 * Starts one when there is none, or when the last one was ended by somebody. Does not wait. Return: 0 or -errno.
 */
int lifeline_hold(Lifeline *lifeline, sd_bus *bus, const char **ret_unit);
