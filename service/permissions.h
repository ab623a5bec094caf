/* SPDX-License-Identifier: MIT */
#pragma once

/* The permission files of this machine and of its user, and what is in force of them:
 *
 *     /etc/codewhale/permissions.toml      the administrator's; of its rules and the user's the stricter one counts
 *     $CODEWHALE_HOME/permissions.toml     the user's
 *
 * They are read at the start and at every reload, all of them or none: when one is broken, what was read last stays in
 * force. Without anything that was ever read nothing runs, for a rule that denies may be among what can't be read. */

#include <systemd/sd-bus.h>

#include "common/jwriter.h"
#include "policy/policy-set.h"
#include "service/codewhale-home.h"

typedef struct Permissions Permissions;

/**
 * permissions_new() - nothing is read yet
 * @more: NULL, or a further file of the administrator, absolute. It is read beside the one in /etc and never in its place,
 *        so whoever may name one can't get out of a rule by it
 */
Permissions *permissions_new(CodewhaleHome *home, const char *more);
Permissions *permissions_free(Permissions *permissions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Permissions, permissions_free)

/** permissions_load() - read all files again; -EINVAL with the first mistake in @reterr when one is broken */
int permissions_load(Permissions *permissions, sd_bus_error *reterr);

/** permissions_get() - what is in force; borrowed until the next permissions_load(), never NULL */
const PolicySet *permissions_get(const Permissions *permissions);

/** permissions_get_error() - the first mistake with its place, when the files are not in force as they are; else NULL */
const char *permissions_get_error(const Permissions *permissions);

/** permissions_get_unreadable() - why nothing may run, when there is nothing that was ever read; else NULL */
const char *permissions_get_unreadable(const Permissions *permissions);

/** permissions_count_warnings() - how many rules are right and do nothing */
unsigned permissions_count_warnings(const Permissions *permissions);

/**
 * permissions_write() - the files and what is in force, as members of an object that is begun
 *
 * "files":[{"path","source","state":"read"|"absent"|"broken","mistakes":[...]}...], "in_force":"files"|"last-good"|"nothing",
 * "error", then policy_set_write().
 */
void permissions_write(const Permissions *permissions, JWriter *writer);
