/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "service/host-drain.h"
#include "service/host-state.h"

struct HostTable {
        HostContext context;
        GHashTable *hosts; /* Plugin -> Host */
        GPtrArray *drains; /* HostDrain */
        uint64_t last_turn;
        sd_event_source *next; /* starts those that may start now; see host-queue.c */
        const HostTableEvents *events;
        void *userdata;
};

static void free_host(void *host) {
        host_free(host);
}

HostTable *host_table_new(const HostContext *context) {
        HostTable *table = g_new0(HostTable, 1);

        table->context = *context;
        table->drains = host_drains_new();
        table->hosts = g_hash_table_new_full(NULL, NULL, NULL, free_host);
        return table;
}

HostTable *host_table_free(HostTable *table) {
        if (!table)
                return NULL;

        table->events = NULL;
        table->next = sd_event_source_disable_unref(table->next);
        g_hash_table_unref(table->hosts);
        sd_event_source_disable_unref(table->next); /* of a host whose start ended with it */
        g_ptr_array_unref(table->drains);
        g_free(table);
        return NULL;
}

void host_table_set_events(HostTable *table, const HostTableEvents *events, void *userdata) {
        table->events = events;
        table->userdata = userdata;
}

void host_table_tell_changed(HostTable *table, Host *host) {
        host_usage_note_state(host);
        if (table->events)
                table->events->changed(host, table->userdata);
}

/* ---- the line of those that are to start ---- */

unsigned host_table_count_starting(const HostTable *table) {
        GHashTableIter iter;
        unsigned n = 0;
        void *host;

        g_hash_table_iter_init(&iter, table->hosts);
        while (g_hash_table_iter_next(&iter, NULL, &host))
                n += ((const Host *) host)->state == HOST_STARTING;
        return n;
}

uint64_t host_table_next_turn(HostTable *table) {
        return ++table->last_turn;
}

static Host *next_in_line(const HostTable *table) {
        Host *first = NULL;
        GHashTableIter iter;
        void *host;

        g_hash_table_iter_init(&iter, table->hosts);
        while (g_hash_table_iter_next(&iter, NULL, &host))
                if (((const Host *) host)->queued > 0 && (!first || host_is_before(host, first)))
                        first = host;
        return first;
}

static int on_start_next(sd_event_source *source, void *userdata) {
        HostTable *table = userdata;
        Host *host;

        (void) source;
        while ((host = next_in_line(table)) && host_may_start(host)) {
                host_dequeue(host);
                host_sync(host);
        }
        return 0;
}

void host_table_start_next(HostTable *table) {
        if (table->next)
                (void) sd_event_source_set_enabled(table->next, SD_EVENT_ONESHOT);
        else
                (void) sd_event_add_defer(table->context.event, &table->next, on_start_next, table);
}

/* ---- events to whoever assembled us ---- */

void host_table_tell_core_call(HostTable *table, Host *host, uint64_t id, Jval params) {
        if (table->events)
                table->events->core_call(host, id, params, table->userdata);
}

void host_table_tell_core_cancelled(HostTable *table, Host *host, uint64_t id) {
        /* Only a core call takes longer than its own message, and only an owner makes one. */
        if (table->events && host->owner)
                table->events->core_cancelled(host, id, table->userdata);
}

void host_table_tell_drained(HostTable *table) {
        if (table->events)
                table->events->drained(table->userdata);
}

void host_table_tell_lost(HostTable *table, Host *host) {
        if (table->events && host->owner)
                table->events->lost(host, table->userdata);
}

void host_table_tell_failed(HostTable *table, Host *host, HostStage stage, const char *reason) {
        if (table->events)
                table->events->failed(host, host_stage_to_string(stage), reason, table->userdata);
}

bool host_table_is_in_use(const HostTable *table, const Host *host) {
        return table->events && table->events->in_use(host, table->userdata);
}

void host_table_attach(HostTable *table) {
        g_autoptr(GList) hosts = g_hash_table_get_values(table->hosts);

        for (GList *item = hosts; item; item = item->next)
                host_attach(item->data);
}

void host_table_forget_waiters(HostTable *table, const void *userdata) {
        GHashTableIter iter;
        void *host;

        g_hash_table_iter_init(&iter, table->hosts);
        while (g_hash_table_iter_next(&iter, NULL, &host))
                host_forget_waiters(host, userdata);
}

Host *host_table_find(const HostTable *table, const Plugin *plugin) {
        return g_hash_table_lookup(table->hosts, plugin);
}

void host_table_sync(HostTable *table, Plugin *plugin) {
        Host *host = host_table_find(table, plugin);

        if (!host) {
                /* Nothing is made for a plugin that never ran (H07). */
                if (plugin_get_label(plugin) != PLUGIN_ACTIVE || plugin_count_native(plugin) == 0)
                        return;
                host = host_new(table, &table->context, plugin);
                g_hash_table_insert(table->hosts, plugin, host);
        }
        host_sync(host);
}

GPtrArray *host_table_get_drains(HostTable *table) {
        return table->drains;
}

void host_table_end_drains(HostTable *table, const Plugin *plugin) {
        host_drains_end(table->drains, plugin);
}

void host_table_remove(HostTable *table, Plugin *plugin) {
        host_table_end_drains(table, plugin);
        g_hash_table_remove(table->hosts, plugin);
}

void host_table_retry(HostTable *table) {
        g_autoptr(GList) hosts = g_hash_table_get_values(table->hosts);

        for (GList *item = hosts; item; item = item->next)
                host_retry(item->data);
}

void host_table_foreach_missing_guard(const HostTable *table, void (*each)(Host *host, void *userdata), void *userdata) {
        g_autoptr(GPtrArray) missing = NULL;
        GHashTableIter iter;
        void *host;

        /* Asked for by every call, and hardly ever true. */
        g_hash_table_iter_init(&iter, table->hosts);
        while (g_hash_table_iter_next(&iter, NULL, &host))
                if (host_is_missing_guard(host)) {
                        missing = missing ?: g_ptr_array_new();
                        g_ptr_array_add(missing, host);
                }
        for (size_t i = 0; missing && i < missing->len; i++)
                each(g_ptr_array_index(missing, i), userdata);
}

unsigned host_table_count_running(const HostTable *table) {
        GHashTableIter iter;
        unsigned n = 0;
        void *host;

        g_hash_table_iter_init(&iter, table->hosts);
        while (g_hash_table_iter_next(&iter, NULL, &host))
                n += ((Host *) host)->process != NULL;
        return n;
}
