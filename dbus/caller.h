/* SPDX-License-Identifier: MIT */
#pragma once

/* Who calls (design 4). Everybody on the bus who ever called has one record here until he leaves; what belongs to a client
 * is tied to his unique name and ends with it.
 *
 * A filter sees every method call before it is dispatched. The first call of a connection is kept while the bus is asked
 * who that is; further ones queue behind it; then they are put back for reading, in order. After that a call costs one
 * look-up in a hash table. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "dbus/caller-identity.h"

typedef struct CallerTable CallerTable;
typedef struct Caller Caller;

typedef struct CallerEvents {
        void (*gone)(Caller *caller, void *userdata); /* he left; his name is never used again */
        void (*refused)(Caller *caller, const sd_bus_error *error, void *userdata); /* he is not served; once a connection; or NULL */
} CallerEvents;

/**
 * caller_table_new() - look at all method calls that come in over @bus from now on
 * @bus: a connection to a bus daemon; must outlive the table
 *
 * Asks the bus to tell who leaves; nothing blocks.
 */
int caller_table_new(sd_bus *bus, const CallerEvents *events, void *userdata, CallerTable **ret);

/** caller_table_free() - forget everybody, without events; kept calls are answered as cancelled */
CallerTable *caller_table_free(CallerTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CallerTable, caller_table_free)

/** caller_table_find() - a caller whom we know and serve; NULL for anybody else */
Caller *caller_table_find(const CallerTable *table, const char *name);

/** caller_table_count() - records, those included of whom we do not know yet who they are */
unsigned caller_table_count(const CallerTable *table);

/** caller_table_count_queries() - how often the bus was asked who somebody is */
uint64_t caller_table_count_queries(const CallerTable *table);

Caller *caller_ref(Caller *caller);
Caller *caller_unref(Caller *caller);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Caller, caller_unref)

const char *caller_get_name(const Caller *caller); /* unique name */
const CallerIdentity *caller_get_identity(const Caller *caller);
bool caller_is_gone(const Caller *caller);

/**
 * caller_charge() - one more call of his is pending
 * @bytes: what we keep for it
 *
 * Return: 0; ERROR_BUSY when he has CLIENT_CALLS_PENDING_MAX pending or the bytes would pass CLIENT_CALLS_BYTES_MAX (all
 * clients together: CALLS_BYTES_MAX). A charge is given back with caller_release().
 */
int caller_charge(Caller *caller, size_t bytes, sd_bus_error *reterr);
void caller_release(Caller *caller, size_t bytes);
unsigned caller_count_pending(const Caller *caller);
