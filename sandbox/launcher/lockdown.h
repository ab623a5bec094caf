/* SPDX-License-Identifier: MIT */
#pragma once

/* The walls that the launcher adds to those of systemd, because the unit's properties can't express them or
 * a user manager can't apply them:
 *
 * - Every process of the same user could be signalled and have its limits changed: there is no process
 * namespace of our own. Landlock (kernel 6.12 and newer) keeps signals within the sandbox; on older kernels
 * a filter allows signals to the own process only, so that children can't be signalled either: they end with
 * the unit.
 * - /proc and /sys show the whole machine: a user manager can't mount its own. Landlock lets the runtime
 * open only what it was given.
 * - A unit that is read from its file again, which a daemon-reload does before its start, may make namespaces on systemd 252. */

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/launcher/options.h"

/** lockdown_capabilities() - empty every capability set of this process; 0 or -errno */
int lockdown_capabilities(void);

/** lockdown_landlock() - the version of Landlock now in force; 0 when this kernel has none; -errno */
int lockdown_landlock(const Options *options);

/** lockdown_scopes_signals() - whether that version keeps signals within the sandbox */
bool lockdown_scopes_signals(int landlock);

/** lockdown_filter() - the filter on new namespaces and on what reaches other processes; @signals: on signals too. 0 or -errno */
int lockdown_filter(bool signals);
