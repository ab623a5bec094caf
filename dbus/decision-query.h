/* SPDX-License-Identifier: MIT */
#pragma once

/* A look into the decision log for a caller, in slices of the loop: the log may hold tens of megabytes. */

#include "dbus/server.h"

/* Makes the answer out of what was found, newest first; NULL when that is an error, which is then in @reterr. */
typedef char *(*DecisionAnswer)(GPtrArray *lines, void *userdata, sd_bus_error *reterr);

/**
 * decision_query_begin() - answer @m when the log was read
 * @filter:   copied
 * @userdata: a string for @answer, or NULL; copied
 *
 * Return: 1; ERROR_BUSY over CLIENT_QUERIES_MAX or QUERIES_MAX; ERROR_IO when there is no log.
 */
int decision_query_begin(
                Face *face, Caller *caller, sd_bus_message *m, const DecisionFilter *filter, DecisionAnswer answer,
                const char *userdata, sd_bus_error *reterr);

/** decision_queries_drop() - end those of a caller who left, or all */
void decision_queries_drop(BusServer *server, const Caller *caller);
