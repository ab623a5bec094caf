/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of a host, for the files that make it up: host.c (state machine), host-activation.c (entries), host-requests.c
 * (what the host asks for), host-table.c. Nobody else includes this. */

#include "service/crash-budget.h"
#include "service/heartbeat.h"
#include "service/host-process.h"
#include "service/host-table.h"
#include "service/host-usage.h"
#include "storage/record-store.h"

struct Host {
        const HostContext *context;
        HostTable *table;
        Plugin *plugin;
        HostState state;
        char *reason;
        const char *error_name; /* of errors.h, for those who wait */

        bool wanted;              /* the plugin is active */
        uint64_t wanted_generation;
        bool restart;             /* the bytes or the configuration changed: start again when the old one is gone */
        char *failed_for;         /* "generation config": what failed and is not tried again until it differs */

        HostProcess *process;
        Owner *owner;
        size_t next_entry;
        bool activated;
        RecordStore *records;
        char *config_json;
        Heartbeat *heartbeat;
        CrashBudget budget;
        sd_event_source *timer;   /* of the back-off, or of the disposal */
        char *report;             /* the last one of the launcher */
        GQueue diagnostics;       /* char *, at most DIAGNOSTICS_MAX */
        GArray *waiters;
        HostUsage usage;
};

/* Events to whoever assembled us (host-table.c). */
void host_table_tell_changed(HostTable *table, Host *host);
void host_table_tell_failed(HostTable *table, Host *host, HostStage stage, const char *reason);

/**
 * host_drain() - where its bundle has other bytes now and a call is running: hand the process over to host-drain.c
 *
 * Return: whether it did; the host is then disabled, and may start anew.
 */
bool host_drain(Host *host);

/** host_table_get_drains() - hosts of earlier bytes whose last calls still run */
GPtrArray *host_table_get_drains(HostTable *table);

Host *host_new(HostTable *table, const HostContext *context, Plugin *plugin);
Host *host_free(Host *host);

/** host_sync() - do what the plugin's facts ask for */
void host_sync(Host *host);

/** host_retry() - clear the budget and what had failed, and sync */
void host_retry(Host *host);

/** host_set_state() - go on to another state, and tell everybody; @reason: why it is not ready */
void host_set_state(Host *host, HostState state, const char *reason);

/** host_withdraw() - let go of everything that the present activation holds, but for the process */
void host_withdraw(Host *host, const char *reason);

/** host_add_diagnostic() - keep a message about this plugin; bounded and sanitised */
void host_add_diagnostic(Host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** host_fail() - it can't go on with these bytes: withdraw, stop, and say so everywhere */
void host_fail(Host *host, HostStage stage, const char *error_name, const char *reason);

/** host_activate() - activate the entries one after the other, then host_on_activated() */
void host_activate(Host *host);
void host_on_activated(Host *host);

/* What the running host sends. */
void host_on_request(Host *host, const WireMethod *method, uint64_t id, Jval params);
void host_on_notification(Host *host, const WireMethod *method, Jval params);
