/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of a host, for the files that make it up: host.c (state machine), host-activation.c (entries), host-requests.c
 * (what the host asks for), host-table.c. Nobody else includes this. */

#include "service/crash-budget.h"
#include "service/dirty-window.h"
#include "service/heartbeat.h"
#include "service/host-end.h"
#include "service/host-process.h"
#include "service/host-table.h"
#include "service/host-usage.h"
#include "service/log-meter.h"
#include "storage/record-store.h"

/* Somebody who waits for it to come to rest, or (@need) to be ready. */
typedef struct HostWaiter {
        HostSettled settled;
        void *userdata;
        bool need;
} HostWaiter;

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
        Owner *retiring;          /* of the process that is being stopped, while @owner is listed for the next one */
        size_t next_entry;
        bool activated;
        bool launch_failed;       /* FAILED, and no code of the plugin had run */
        uint64_t started_usec;    /* the last start; monotonic */
        bool due;                 /* start it even when nobody needs it: it crashed, or was reloaded */
        uint64_t queued;          /* its place in the line of those that are to start; 0: it stands in none */
        bool guard;               /* it listened to calls when it was last known; see host-guard.c */
        bool listable;            /* a record can hold all that it registered */
        bool recorded;            /* there is a record of what @owner has */
        char *listed_for;         /* what the listing of @owner holds for, as failed_for */
        unsigned n_listed;
        char *record_reason;      /* why there was nothing to list; NULL */
        uint64_t used_usec;       /* when it was last needed; monotonic */
        sd_event_source *idle;
        RecordStore *records;
        char *config_json;
        Heartbeat *heartbeat;
        CrashBudget budget;
        sd_event_source *timer;   /* of the back-off, or of the disposal */
        char *report;             /* the last one of the launcher */
        char *lock;               /* the last one of the host */
        GQueue diagnostics;       /* char *, at most DIAGNOSTICS_MAX */
        GArray *waiters;
        GArray *end_waiters;      /* of the present process; NULL while there never were any */
        DirtyWindow dirty;        /* of the present process */
        sd_event_source *look;    /* whether it is idle, for the planned restart */
        GHashTable *entries_failed; /* path -> reason; NULL */
        char *entries_failed_for; /* as failed_for */
        LogMeter log_meter;
        HostUsage usage;
};

/* Events to whoever assembled us (host-table.c). */
void host_table_tell_changed(HostTable *table, Host *host);
void host_table_tell_core_call(HostTable *table, Host *host, uint64_t id, Jval params);
void host_table_tell_core_cancelled(HostTable *table, Host *host, uint64_t id);
void host_table_tell_lost(HostTable *table, Host *host);
void host_table_tell_failed(HostTable *table, Host *host, HostStage stage, const char *reason);

/**
 * host_drain() - where its bundle has other bytes now and a call is running: hand the process over to host-drain.c
 *
 * Return: whether it did; the host is then disabled, and may start anew.
 */
bool host_drain(Host *host);

/** host_table_tell_drained() - one of those is gone */
void host_table_tell_drained(HostTable *table);

/** host_table_get_drains() - hosts of earlier bytes whose last calls still run */
GPtrArray *host_table_get_drains(HostTable *table);
bool host_table_is_in_use(const HostTable *table, const Host *host);

Host *host_new(HostTable *table, const HostContext *context, Plugin *plugin);
Host *host_free(Host *host);

/** host_sync() - do what the plugin's facts ask for */
void host_sync(Host *host);

/** host_settle() - tell those who wait, if they need wait no longer */
void host_settle(Host *host);

/** host_abandon_waiters() - it ends with the service or its plugin: everybody who waits is told ERROR_CANCELLED */
void host_abandon_waiters(Host *host);

/** host_tell_ended() - to those of host-end.h who wait, each once */
void host_tell_ended(Host *host, const HostEnd *end);

/** host_attempt_key() - what is tried now: the plugin's generation and settings; a new string */
char *host_attempt_key(const Host *host);

/** host_withdraw() - end the present activation or listing and take away what it registered; the process goes on */
void host_withdraw(Host *host, const char *reason);

/** host_set_state() - the one place that changes it; asserts that the move is allowed */
void host_set_state(Host *host, HostState state, const char *reason);

/** host_deactivate() - let @owner clean up, then stop the process; false when there is nobody to tell */
bool host_deactivate(Host *host, const Owner *owner, const char *reason);

/* What is known of it without running it (host-demand.c). */

/** host_list() - list what the record says for what is tried now; does nothing when that is listed already */
void host_list(Host *host);
bool host_is_listed(const Host *host);

/** host_must_run() - somebody needs it, or it runs always */
bool host_must_run(const Host *host);

/** host_compare_listing() - all entries had their turn: take away what was listed and did not come, and say so */
void host_compare_listing(Host *host);

/** host_restart() - planned: nothing counts as a crash, and calls that come meanwhile wait for the next run */
void host_restart(Host *host, const char *reason);

/* Taking down, and what is left of it (host-teardown.c). */

/** host_tear_down_entry() - let an entry that failed clean up in a process that goes on */
void host_tear_down_entry(Host *host, const OwnerEntry *entry);

/** host_forget_dirt() - its process is gone */
void host_forget_dirt(Host *host);

/** host_remember_failure(), _recall_failure() - why an entry failed with what is tried now; NULL: it did not */
void host_remember_failure(Host *host, const OwnerEntry *entry);
const char *host_recall_failure(const Host *host, const OwnerEntry *entry);
void host_forget_failures(Host *host);

/* The line of those that are to start (host-queue.c). */

/** host_may_start() - now, with as many others as are starting */
bool host_may_start(const Host *host);
void host_enqueue(Host *host); /* it will be synced when it may */
void host_dequeue(Host *host);

/** host_is_before() - whether @a is to start before @b: what somebody waits for, then what came first */
bool host_is_before(const Host *a, const Host *b);
unsigned host_table_count_starting(const HostTable *table);
uint64_t host_table_next_turn(HostTable *table);

/** host_table_start_next() - one of those that were starting is through, or gave up: from the loop, others begin */
void host_table_start_next(HostTable *table);

/* Whether it may be a guard (host-guard.c). */

/** host_note_guard() - its registrations changed, or were listed */
void host_note_guard(Host *host);

/** host_recall_guard() - it starts without being listed: what the disk knows of an earlier run */
void host_recall_guard(Host *host);

/** host_keep_guard() - for the next run of the service, where the record does not */
void host_keep_guard(Host *host);

/** host_forget_guard() - it was switched off */
void host_forget_guard(Host *host);

/** host_watch_idle() - count the time, from now on, until nobody needs it */
void host_watch_idle(Host *host);

/** host_keep_record() - it is active: keep what it registered, and host_watch_idle() */
void host_keep_record(Host *host);

/** host_forget_record() - what was recorded holds no longer */
void host_forget_record(Host *host);

/** host_attach() - somebody new came: what could not be launched a minute ago or longer is tried once more (S14) */
void host_attach(Host *host);

/** host_retry() - clear the budget and what had failed, and sync */
void host_retry(Host *host);

/** host_add_diagnostic() - keep a message about this plugin; bounded and sanitised */
void host_add_diagnostic(Host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** host_keep_reports() - what a run told of its walls and its lock outlives it; what it did not tell stays. NULL: forget both */
void host_keep_reports(Host *host, const HostProcess *process);

/** host_explain_end() - @reason, and what it had run into before; a new string */
char *host_explain_end(const Host *host, const char *reason);

/** host_recover() - it ended by itself. Crashes are counted; a sandbox that can't be set up or a runtime that does not come up are not */
void host_recover(Host *host, HostStage stage, const char *reason, bool crash, bool activating);

/** host_fall_back() - whether another runtime is tried: an automatic choice falls back once, and says so once (contract 3.2, H10) */
bool host_fall_back(Host *host, RuntimeKind runtime, const char *reason);

/** host_fail() - it can't go on with these bytes: withdraw, stop, and say so everywhere */
void host_fail(Host *host, HostStage stage, const char *error_name, const char *reason);

/** host_activate() - activate the entries one after the other, then host_on_activated() */
void host_activate(Host *host);
void host_on_activated(Host *host);

/* What the running host sends. */
void host_on_request(Host *host, const WireMethod *method, uint64_t id, Jval params);
void host_on_notification(Host *host, const WireMethod *method, Jval params);
