/* SPDX-License-Identifier: MIT */
#pragma once

/* The hosts of all plugins: at most one a plugin (design 5), made when the plugin is active and ended when it is not. */

#include "service/host.h"

typedef struct HostTable HostTable;

typedef struct HostTableEvents {
        void (*changed)(Host *host, void *userdata);
        void (*failed)(Host *host, const char *stage, const char *reason, void *userdata);
        bool (*in_use)(const Host *host, void *userdata); /* a call is on its way to it, or waits for a person */
        /* The host asks for a core tool, and takes that back; to be answered over its connection. */
        void (*core_call)(Host *host, uint64_t id, Jval params, void *userdata);
        void (*core_cancelled)(Host *host, uint64_t id, void *userdata);
        void (*drained)(void *userdata); /* the last call of earlier bytes ended, and so did its host */
        void (*lost)(Host *host, void *userdata); /* its process can't be used any more; the owner is still the one of then */
} HostTableEvents;

HostTable *host_table_new(const HostContext *context);
HostTable *host_table_free(HostTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostTable, host_table_free)
void host_table_set_events(HostTable *table, const HostTableEvents *events, void *userdata);

/** host_table_sync() - bring the host of a plugin in line with the plugin's facts: start, restart with new bytes, or stop */
void host_table_sync(HostTable *table, Plugin *plugin);

/** host_table_end_drains() - end also what earlier bytes of the plugin are still working on (host-drain.h) */
void host_table_end_drains(HostTable *table, const Plugin *plugin);

/** host_table_remove() - the plugin is gone: stop and forget its host */
void host_table_remove(HostTable *table, Plugin *plugin);

/** host_table_retry() - for reload: clear crash budgets and start again what had failed */
void host_table_retry(HostTable *table);

/** host_table_attach() - a session was opened; see contract 3.10, launch failure retry */
void host_table_attach(HostTable *table);

/** host_table_forget_waiters() - host_forget_waiters() for all hosts */
void host_table_forget_waiters(HostTable *table, const void *userdata);

/** host_table_foreach_missing_guard() - see host_is_missing_guard() */
void host_table_foreach_missing_guard(const HostTable *table, void (*each)(Host *host, void *userdata), void *userdata);

Host *host_table_find(const HostTable *table, const Plugin *plugin); /* NULL when it never had one */
unsigned host_table_count_running(const HostTable *table);
