/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/caller-queue.h"
#include "dbus/caller.h"

/* What a message may hold beside one text of the largest size: its options and envelope. */
#define KEPT_MESSAGE_BYTES_MAX (BUS_MESSAGE_BYTES_MAX + KIB(64))

/* One rule for everybody who leaves, in place of one (and a blocking look-up) for each client as sd_bus_track has it. */
#define MATCH_GONE                                                                                              \
        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"                             \
        "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''"

typedef enum CallerState {
        CALLER_ASKING,  /* the bus was asked who that is -> SERVED, REFUSED, GONE */
        CALLER_SERVED,  /*                               -> GONE                  */
        CALLER_REFUSED, /* every call gets the refusal   -> GONE                  */
        CALLER_GONE,    /* out of the table                                       */
        _CALLER_STATE_MAX,
        _CALLER_STATE_INVALID = -EINVAL,
} CallerState;

struct Caller {
        unsigned n_ref;
        CallerTable *table; /* NULL once it is out of the table */
        CallerState state;
        char *name;
        CallerIdentity identity;
        sd_bus_error refusal;
        sd_bus_slot *slot_credentials;
        CallerQueue queue;
        size_t kept_bytes;
        unsigned n_pending;
        size_t pending_bytes;
};

struct CallerTable {
        sd_bus *bus;
        GHashTable *callers; /* unique name -> Caller, owned */
        sd_bus_slot *slot_filter;
        sd_bus_slot *slot_gone;
        size_t kept_bytes;
        size_t pending_bytes;
        uint64_t n_queries;
        const CallerEvents *events;
        void *userdata;
};

/* ---- one caller ---- */

Caller *caller_ref(Caller *caller) {
        caller->n_ref++;
        return caller;
}

Caller *caller_unref(Caller *caller) {
        if (!caller || --caller->n_ref > 0)
                return NULL;

        sd_bus_slot_unref(caller->slot_credentials);
        caller_queue_clear(&caller->queue);
        caller_identity_done(&caller->identity);
        sd_bus_error_free(&caller->refusal);
        g_free(caller->name);
        g_free(caller);
        return NULL;
}

static Caller *caller_new(CallerTable *table, const char *name) {
        Caller *caller = g_new0(Caller, 1);

        caller->n_ref = 1;
        caller->table = table;
        caller->name = g_strdup(name);
        caller->identity = (CallerIdentity) CALLER_IDENTITY_INIT;
        caller->queue = (CallerQueue) CALLER_QUEUE_INIT;
        g_hash_table_insert(table->callers, caller->name, caller);
        return caller;
}

const char *caller_get_name(const Caller *caller) {
        return caller->name;
}

const CallerIdentity *caller_get_identity(const Caller *caller) {
        return &caller->identity;
}

bool caller_is_gone(const Caller *caller) {
        return caller->state == CALLER_GONE;
}

unsigned caller_count_pending(const Caller *caller) {
        return caller->n_pending;
}

int caller_charge(Caller *caller, size_t bytes, sd_bus_error *reterr) {
        if (!caller->table)
                return errors_set(reterr, ERROR_CANCELLED, "The caller has left the bus.");
        if (caller->n_pending >= CLIENT_CALLS_PENDING_MAX)
                return errors_set(reterr, ERROR_BUSY, "This client has %u calls pending, which is the most.",
                                caller->n_pending);
        if (bytes > CLIENT_CALLS_BYTES_MAX - caller->pending_bytes)
                return errors_set(reterr, ERROR_BUSY, "The pending calls of this client are larger than %zu bytes together.",
                                CLIENT_CALLS_BYTES_MAX);
        if (bytes > CALLS_BYTES_MAX - caller->table->pending_bytes)
                return errors_set(reterr, ERROR_BUSY, "The pending calls of all clients are larger than %zu bytes together.",
                                CALLS_BYTES_MAX);

        caller->n_pending++;
        caller->pending_bytes += bytes;
        caller->table->pending_bytes += bytes;
        return 0;
}

void caller_release(Caller *caller, size_t bytes) {
        assert(caller->n_pending > 0 && caller->pending_bytes >= bytes);

        caller->n_pending--;
        caller->pending_bytes -= bytes;
        if (caller->table)
                caller->table->pending_bytes -= bytes;
}

/* Takes it out of the table; the record lives on for whoever refers to it. */
static void caller_leave(Caller *caller) {
        CallerTable *table = caller->table;

        table->kept_bytes -= caller->kept_bytes;
        table->pending_bytes -= caller->pending_bytes;
        caller->kept_bytes = 0;
        caller->state = CALLER_GONE;
        caller->table = NULL;
        caller->slot_credentials = sd_bus_slot_unref(caller->slot_credentials);
        caller_queue_clear(&caller->queue);
        g_hash_table_remove(table->callers, caller->name);
}

static void caller_gone(Caller *caller) {
        CallerTable *table = caller->table;
        bool served = caller->state == CALLER_SERVED;

        (void) caller_ref(caller);
        caller_leave(caller);
        if (served)
                table->events->gone(caller, table->userdata);
        caller_unref(caller);
}

/* ---- who is it? ---- */

static void refuse_kept(Caller *caller, const sd_bus_error *error) {
        sd_bus_message *m;

        while ((m = g_queue_pop_head(&caller->queue.messages))) {
                (void) sd_bus_reply_method_error(m, error);
                sd_bus_message_unref(m);
        }
        caller->table->kept_bytes -= caller->kept_bytes;
        caller->kept_bytes = 0;
}

static void caller_refuse(Caller *caller) {
        caller->state = CALLER_REFUSED;
        if (caller->table->events && caller->table->events->refused)
                caller->table->events->refused(caller, &caller->refusal, caller->table->userdata);
        refuse_kept(caller, &caller->refusal);
}

static void caller_serve(Caller *caller) {
        caller->state = CALLER_SERVED;
        caller->table->kept_bytes -= caller->kept_bytes;
        caller->kept_bytes = 0;
        if (caller_queue_replay(&caller->queue) < 0)
                /* The connection is going down; nobody can be answered any more. */
                caller_queue_clear(&caller->queue);
}

static int on_credentials(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        Caller *caller = userdata;
        int r;

        (void) reterr;
        caller->slot_credentials = sd_bus_slot_unref(caller->slot_credentials);

        if (sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
                caller_gone(caller); /* left before we looked */
                return 0;
        }
        r = sd_bus_message_is_method_error(reply, NULL) ? -EIO : caller_identity_read(reply, &caller->identity);
        if (r < 0)
                r = errors_set(&caller->refusal, ERROR_ACCESS_DENIED, "The bus does not say who calls: %s", g_strerror(-r));
        else
                r = caller_identity_check(&caller->identity, &caller->refusal);

        caller_identity_look_up(&caller->identity);
        if (r < 0)
                caller_refuse(caller);
        else
                caller_serve(caller);
        return 0;
}

static int caller_ask(Caller *caller) {
        CallerTable *table = caller->table;

        table->n_queries++;
        return sd_bus_call_method_async(
                        table->bus, &caller->slot_credentials, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                        "org.freedesktop.DBus", "GetConnectionCredentials", on_credentials, caller, "s", caller->name);
}

/* ---- the filter ---- */

static int keep_call(Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        CallerTable *table = caller->table;
        size_t bytes;
        int r;

        if (caller_queue_length(&caller->queue) >= CLIENT_CALLS_PENDING_MAX)
                return errors_set(reterr, ERROR_BUSY, "This client has %u calls waiting, which is the most.",
                                CLIENT_CALLS_PENDING_MAX);
        r = message_measure(m, KEPT_MESSAGE_BYTES_MAX, &bytes);
        if (r < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The message is malformed.");
        if (bytes > KEPT_MESSAGE_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE,
                                "The message is larger than %zu bytes; send larger data as a memory file.",
                                BUS_MESSAGE_BYTES_MAX);
        if (bytes > CALLS_KEPT_BYTES_MAX - table->kept_bytes)
                return errors_set(reterr, ERROR_BUSY, "Too many new clients call at once; try again.");

        r = caller_queue_keep(&caller->queue, m);
        if (r < 0)
                return errors_set(reterr, ERROR_BUSY, "The call can't be kept: %s", g_strerror(-r));

        caller->kept_bytes += bytes;
        table->kept_bytes += bytes;
        return 1;
}

static int first_call(CallerTable *table, const char *name, sd_bus_message *m, sd_bus_error *reterr) {
        Caller *caller;
        int r;

        if (g_hash_table_size(table->callers) >= CLIENTS_MAX)
                return errors_set(reterr, ERROR_BUSY, "There are %u clients already, which is the most.", CLIENTS_MAX);

        caller = caller_new(table, name);
        r = keep_call(caller, m, reterr);
        if (r >= 0 && caller_ask(caller) < 0)
                r = errors_set(reterr, ERROR_IO, "The bus can't be asked who calls.");
        if (r < 0)
                caller_leave(caller);
        return r;
}

/* Calls of a client whose first ones are on their way back queue behind them. */
static int pass_call(Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        if (caller_queue_length(&caller->queue) == 0 || caller_queue_pass(&caller->queue, m))
                return 0;
        if (caller_queue_length(&caller->queue) >= 2 * CLIENT_CALLS_PENDING_MAX)
                return errors_set(reterr, ERROR_BUSY, "This client sends faster than it is served.");
        if (caller_queue_keep(&caller->queue, m) < 0)
                return errors_set(reterr, ERROR_BUSY, "The call can't be kept.");
        return 1;
}

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        CallerTable *table = userdata;
        const char *sender = sd_bus_message_get_sender(m);
        Caller *caller;

        if (!sd_bus_message_is_method_call(m, NULL, NULL))
                return 0;
        if (!sender)
                return errors_set(reterr, ERROR_ACCESS_DENIED, "The call names no sender.");

        caller = g_hash_table_lookup(table->callers, sender);
        if (!caller)
                return first_call(table, sender, m, reterr);
        if (caller->state == CALLER_ASKING)
                return keep_call(caller, m, reterr);
        if (caller->state == CALLER_REFUSED)
                return sd_bus_error_copy(reterr, &caller->refusal);

        return pass_call(caller, m, reterr);
}

static int on_name_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        CallerTable *table = userdata;
        const char *name, *old, *new;
        Caller *caller;

        (void) reterr;

        if (sd_bus_message_read(m, "sss", &name, &old, &new) < 0 || new[0])
                return 0;

        caller = g_hash_table_lookup(table->callers, name);
        if (caller)
                caller_gone(caller);
        return 0;
}

/* ---- the table ---- */

static void drop_caller(void *caller) {
        caller_unref(caller);
}

int caller_table_new(sd_bus *bus, const CallerEvents *events, void *userdata, CallerTable **ret) {
        g_autoptr(CallerTable) table = g_new0(CallerTable, 1);
        int r;

        table->bus = sd_bus_ref(bus);
        table->callers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, drop_caller);
        table->events = events;
        table->userdata = userdata;

        r = sd_bus_add_match_async(bus, &table->slot_gone, MATCH_GONE, on_name_owner_changed, NULL, table);
        if (r >= 0)
                r = sd_bus_add_filter(bus, &table->slot_filter, on_message, table);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&table);
        return 0;
}

CallerTable *caller_table_free(CallerTable *table) {
        const sd_bus_error stopping = SD_BUS_ERROR_MAKE_CONST(ERROR_CANCELLED, "The service is stopping.");
        GHashTableIter iter;
        void *value;

        if (!table)
                return NULL;

        sd_bus_slot_unref(table->slot_filter);
        sd_bus_slot_unref(table->slot_gone);
        g_hash_table_iter_init(&iter, table->callers);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Caller *caller = value;

                refuse_kept(caller, &stopping);
                caller->state = CALLER_GONE;
                caller->table = NULL;
                caller->slot_credentials = sd_bus_slot_unref(caller->slot_credentials);
        }
        g_hash_table_unref(table->callers);
        sd_bus_unref(table->bus);
        g_free(table);
        return NULL;
}

Caller *caller_table_find(const CallerTable *table, const char *name) {
        Caller *caller = name ? g_hash_table_lookup(table->callers, name) : NULL;

        return caller && caller->state == CALLER_SERVED ? caller : NULL;
}

unsigned caller_table_count(const CallerTable *table) {
        return g_hash_table_size(table->callers);
}

uint64_t caller_table_count_queries(const CallerTable *table) {
        return table->n_queries;
}
