/* SPDX-License-Identifier: MIT */
#pragma once

/* What every approver does on the bus, in a terminal or in one shot. */

#include "cli/card.h"
#include "cli/cli.h"

/** approver_register() - make our connection an approver; @ret_owner: NULL, or the service's unique name, a
 * new string */
int approver_register(Cli *cli, char **ret_owner, sd_bus_error *reterr);

/** approver_list() - the ids of the open cards, oldest first; g_array_unref() it */
int approver_list(Cli *cli, GArray **ret, sd_bus_error *reterr);

/** approver_describe() - one card; with @ret_json also what the service sent, a new string */
int approver_describe(Cli *cli, uint64_t id, Card **ret, char **ret_json, sd_bus_error *reterr);

/**
 * approver_answer() - answer a card; @scope NULL: once; @seconds: how long a grant lasts, 0: with the session
 *
 * To allow more than once a person may have to authenticate, by the desktop's agent or on this terminal, which must be in its
 * ordinary state then.
 */
int approver_answer(Cli *cli, uint64_t id, const char *digest, bool allow, const char *scope, uint64_t seconds,
                sd_bus_error *reterr);

/** approver_arguments() - the full final arguments, made safe to show; a new string */
int approver_arguments(Cli *cli, uint64_t id, char **ret, sd_bus_error *reterr);
