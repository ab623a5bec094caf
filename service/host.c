/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/messages.h"
#include "common/sanitize.h"
#include "service/host-launch.h"
#include "service/host-state.h"

static const char *const host_state_table[_HOST_STATE_MAX] = {
        [HOST_DISABLED] = "disabled",
        [HOST_IDLE] = "idle",
        [HOST_STARTING] = "starting",
        [HOST_READY] = "ready",
        [HOST_UNRESPONSIVE] = "unresponsive",
        [HOST_RESTARTING] = "restarting",
        [HOST_STOPPING] = "stopping",
        [HOST_FAILED] = "failed",
};

#define TO(state) (1u << (state))
G_GNUC_UNUSED static const unsigned allowed_moves[_HOST_STATE_MAX] = {
        [HOST_DISABLED] = TO(HOST_IDLE),
        [HOST_IDLE] = TO(HOST_STARTING) | TO(HOST_DISABLED) | TO(HOST_FAILED),
        [HOST_STARTING] = TO(HOST_READY) | TO(HOST_FAILED) | TO(HOST_RESTARTING) | TO(HOST_STOPPING),
        [HOST_READY] = TO(HOST_UNRESPONSIVE) | TO(HOST_RESTARTING) | TO(HOST_STOPPING) | TO(HOST_FAILED),
        [HOST_UNRESPONSIVE] = TO(HOST_READY) | TO(HOST_RESTARTING) | TO(HOST_STOPPING) | TO(HOST_FAILED),
        [HOST_RESTARTING] = TO(HOST_STARTING) | TO(HOST_FAILED) | TO(HOST_DISABLED) | TO(HOST_STOPPING) | TO(HOST_IDLE),
        [HOST_STOPPING] = TO(HOST_IDLE) | TO(HOST_DISABLED) | TO(HOST_STARTING),
        [HOST_FAILED] = TO(HOST_STARTING) | TO(HOST_DISABLED) | TO(HOST_IDLE) | TO(HOST_STOPPING),
};

const char *host_state_to_string(HostState state) {
        return host_state_table[state];
}

void host_set_state(Host *host, HostState state, const char *reason) {
        g_autofree char *kept = reason ? sanitize_line(reason, DIAGNOSTIC_BYTES_MAX, NULL) : NULL;

        assert(host->state == state || (allowed_moves[host->state] & TO(state)));
        if (host->state == HOST_STARTING && state != HOST_STARTING)
                host_table_start_next(host->table);
        host->state = state;
        g_free(host->reason);
        host->reason = g_steal_pointer(&kept);
        host_table_tell_changed(host->table, host);
        host_settle(host);
}

Host *host_new(HostTable *table, const HostContext *context, Plugin *plugin) {
        Host *host = g_new0(Host, 1);

        host->table = table;
        host->context = context;
        host->plugin = plugin_ref(plugin);
        host->state = HOST_DISABLED;
        host->waiters = g_array_new(FALSE, FALSE, sizeof(HostWaiter));
        host->listable = true;
        g_queue_init(&host->diagnostics);
        return host;
}

/* Everything that the present activation holds, but for the process. */
void host_withdraw(Host *host, const char *reason) {
        host->heartbeat = heartbeat_free(host->heartbeat);
        host->idle = sd_event_source_disable_unref(host->idle);
        g_clear_pointer(&host->listed_for, g_free);
        if (host->records)
                record_store_revoke(host->records);
        host->records = record_store_free(host->records);
        if (!host->owner)
                return;

        if (owner_is_live(host->owner))
                owner_set_state(host->owner, OWNER_REVOKED, reason);
        registry_withdraw(host->context->registry, host->owner, NULL);
}

Host *host_free(Host *host) {
        if (!host)
                return NULL;

        host_withdraw(host, "the service is stopping");
        host_abandon_waiters(host);
        host_tell_ended(host, &(HostEnd) { .kind = _UNIT_END_INVALID, .status = -1 });
        host->process = host_process_free(host->process);
        host->owner = owner_unref(host->owner);
        host->retiring = owner_unref(host->retiring);
        sd_event_source_disable_unref(host->timer);
        sd_event_source_disable_unref(host->idle);
        sd_event_source_disable_unref(host->look);
        g_queue_clear_full(&host->diagnostics, g_free);
        g_array_unref(host->waiters);
        g_clear_pointer(&host->end_waiters, g_array_unref);
        plugin_unref(host->plugin);
        g_free(host->reason);
        host_keep_reports(host, NULL);
        g_free(host->config_json);
        g_free(host->failed_for);
        g_free(host->listed_for);
        g_free(host->record_reason);
        host_forget_failures(host);
        g_free(host);
        return NULL;
}

void host_add_diagnostic(Host *host, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        g_queue_push_tail(&host->diagnostics, sanitize_line(text, DIAGNOSTIC_BYTES_MAX, NULL));
        if (host->diagnostics.length > DIAGNOSTICS_MAX)
                g_free(g_queue_pop_head(&host->diagnostics));
}

/* ---- the end of a run ---- */

static void on_process_lost(HostProcess *process, void *userdata) {
        Host *host = userdata;
        const char *reason = host_process_reason(process);

        host_look_at_tasks(host);
        host_table_tell_lost(host->table, host);
        if (host->state == HOST_READY || host->state == HOST_UNRESPONSIVE || host->state == HOST_STARTING)
                host_set_state(host, host_process_was_stopped(process) ? HOST_STOPPING : HOST_RESTARTING, reason);
        if (host->retiring) {
                /* What is listed now belongs to the next run. */
                if (host->records)
                        record_store_revoke(host->records);
                host->records = record_store_free(host->records);
                return;
        }
        host_withdraw(host, reason);
        /* A listener of a plugin that crashed stays one: calls wait for its next run instead of going past it. */
        if (host->state == HOST_RESTARTING && host->activated && host_process_is_crash(process) && host->recorded)
                host_list(host);
}

static void on_process_ended(HostProcess *process, void *userdata) {
        Host *host = userdata;
        g_autofree char *reason = host_explain_end(host, host_process_reason(process) ?: "the host ended");
        bool crash = host_process_is_crash(process), stopped = host_process_was_stopped(process);
        bool activating = crash && !host->activated;
        HostStage stage = host_process_stage(process);
        RuntimeKind runtime = host_process_runtime(process);
        HostEnd end = host_process_end(process);

        end.reason = reason;
        host_keep_reports(host, process);
        host->process = host_process_free(process);
        host_forget_dirt(host);
        if (host->state == HOST_FAILED && host->wanted)
                host_table_tell_changed(host->table, host);
        else if (stopped || !host->wanted || host->restart)
                host_set_state(host, HOST_IDLE, NULL);
        else if (stage != HOST_STAGE_HANDSHAKE || !host_fall_back(host, runtime, reason))
                host_recover(host, stage, reason, crash, activating);

        host_settle(host);
        host_tell_ended(host, &end);
        if (host->state == HOST_IDLE || (host->state == HOST_FAILED && host->restart))
                host_sync(host);
}

/* ---- a run ---- */

static void on_beat(void *userdata) {
        host_look_at_tasks(userdata);
}

static void on_late(void *userdata) {
        Host *host = userdata;

        host_look_at_tasks(host);
        if (host->state == HOST_READY)
                host_set_state(host, HOST_UNRESPONSIVE, "it does not answer its heartbeat");
}

static void on_back(void *userdata) {
        Host *host = userdata;

        if (host->state == HOST_UNRESPONSIVE)
                host_set_state(host, HOST_READY, NULL);
}

static void on_heartbeat_lost(const char *reason, void *userdata) {
        Host *host = userdata;

        host_process_kill(host->process, reason);
}

static const HeartbeatEvents heartbeat_events = {
        .beat = on_beat,
        .late = on_late,
        .back = on_back,
        .lost = on_heartbeat_lost,
};

void host_on_activated(Host *host) {
        host->activated = true;
        g_clear_pointer(&host->failed_for, g_free);
        host_note_guard(host);
        host_keep_record(host);
        host_set_state(host, HOST_READY, NULL);
        log_plugin(LOG_INFO, MESSAGE_PLUGIN_ACTIVE, plugin_get_id(host->plugin), host_get_unit(host), "%s is active", plugin_get_name(host->plugin));
}

static void on_process_ready(HostProcess *process, void *userdata) {
        Host *host = userdata;
        _cleanup_close_ int data = host_data_open(host->context->home, host->plugin);
        int r;

        host_keep_reports(host, process);
        r = data < 0 ? data : record_store_open(data, &host->records);
        if (r < 0)
                host_add_diagnostic(host, "storage can't be used: %s", g_strerror(-r));
        r = heartbeat_new(host->context->event, host_process_rpc(process), &heartbeat_events, host, &host->heartbeat);
        if (r < 0) {
                host_process_kill(process, g_strerror(-r));
                return;
        }
        host_activate(host);
}

static void on_process_request(HostProcess *process, const WireMethod *method, uint64_t id, Jval params, void *userdata) {
        (void) process;
        host_on_request(userdata, method, id, params);
}

static void on_process_notification(HostProcess *process, const WireMethod *method, Jval params, void *userdata) {
        (void) process;
        host_on_notification(userdata, method, params);
}

static void on_process_cancelled(HostProcess *process, uint64_t id, void *userdata) {
        (void) process;
        host_table_tell_core_cancelled(((Host *) userdata)->table, userdata, id);
}

static const HostProcessEvents process_events = {
        .ready = on_process_ready,
        .request = on_process_request,
        .notification = on_process_notification,
        .cancelled = on_process_cancelled,
        .lost = on_process_lost,
        .ended = on_process_ended,
};

static void host_start(Host *host) {
        int r;

        if (!host_may_start(host)) {
                host->due = true;
                host_enqueue(host);
                return;
        }
        host_dequeue(host);
        host->restart = false;
        host->due = false;
        if (!host_is_listed(host)) {
                host->owner = owner_unref(host->owner);
                r = owner_new(host->plugin, &host->owner);
                if (r < 0) {
                        host_fail(host, HOST_STAGE_START, ERROR_HOST_UNAVAILABLE, g_strerror(-r));
                        return;
                }
        }
        host->listable = true;
        host->launch_failed = false;
        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &host->started_usec);
        host->next_entry = 0;
        host->activated = false;
        host->wanted_generation = plugin_get_generation(host->plugin);
        host_set_state(host, HOST_STARTING, NULL);
        host->process = host_process_new(host->context, host->plugin, HOST_TIER_PLUGIN, owner_get_generation(host->owner),
                                         &process_events, host);
}

/* ---- what the plugin's facts ask for ---- */

static int host_read_config(Host *host, char **ret, sd_bus_error *reterr) {
        return config_for_plugin(host->context->config, plugin_get_name(host->plugin), ret, reterr);
}

static void host_begin(Host *host) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *key = NULL;
        char *config = NULL;
        int r;

        r = host_read_config(host, &config, &error);
        g_free(host->config_json);
        host->config_json = config;
        key = host_attempt_key(host);
        if (g_strcmp0(key, host->failed_for) == 0)
                return;
        if (host->state == HOST_DISABLED)
                host_set_state(host, HOST_IDLE, NULL);
        host_recall_guard(host);
        if (r < 0) {
                host_fail(host, HOST_STAGE_ACTIVATION, ERROR_EXECUTION_FAILED, error.message ?: g_strerror(-r));
                return;
        }
        host_list(host);
        if (!host_is_listed(host) || host_must_run(host))
                host_start(host);
        else if (host->state != HOST_IDLE)
                host_set_state(host, HOST_IDLE, NULL);
}

static void host_end(Host *host, const char *reason) {
        host->timer = sd_event_source_disable_unref(host->timer);
        host_withdraw(host, reason);
        if (host->process) {
                if (host->state == HOST_STOPPING)
                        return;
                if (host->state != HOST_FAILED)
                        host_set_state(host, HOST_STOPPING, reason);
                if (!host_deactivate(host, host->owner, reason))
                        host_process_stop(host->process, reason);
        } else if (!host->wanted)
                host_set_state(host, HOST_DISABLED, NULL);
}

void host_restart(Host *host, const char *reason) {
        host->restart = true;
        host->due = true;
        host_end(host, reason);
}

static bool host_runs_old(const Host *host) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *config = NULL;

        if (host->wanted_generation != plugin_get_generation(host->plugin))
                return true;
        (void) config_for_plugin(host->context->config, plugin_get_name(host->plugin), &config, &error);
        return g_strcmp0(config, host->config_json) != 0;
}

/* What happened, to whoever waits; what can be done about it is for the page of the plugin. */
static const char *withdrawal_reason(const Plugin *plugin) {
        if (!plugin_is_enabled(plugin))
                return "the plugin was switched off";
        return plugin_get_inactive_reason(plugin) ?: "the plugin is not active";
}

void host_sync(Host *host) {
        host->wanted = plugin_get_label(host->plugin) == PLUGIN_ACTIVE && plugin_count_native(host->plugin) > 0;
        if (!host->wanted) {
                host_dequeue(host);
                /* Whoever enables it again has looked at it: it begins anew (SY-20). */
                crash_budget_reset(&host->budget);
                g_clear_pointer(&host->failed_for, g_free);
                host_forget_failures(host);
                if (host->guard)
                        host_forget_guard(host);
                if (!host_drain(host) && host->state != HOST_DISABLED)
                        host_end(host, withdrawal_reason(host->plugin));
                return;
        }
        if (host->process) {
                if (!host_runs_old(host) || host->restart)
                        return;
                host->restart = true;
                crash_budget_reset(&host->budget);
                host_end(host, "the plugin or its configuration changed");
                return;
        }
        if (!host->timer)
                host_begin(host);
}

void host_attach(Host *host) {
        uint64_t now = 0;

        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &now);
        if (host->state != HOST_FAILED || host->process || !host->launch_failed ||
                        now < host->started_usec + HOST_LAUNCH_RETRY_MSEC * (uint64_t) 1000)
                return;

        g_clear_pointer(&host->failed_for, g_free);
        host->due = true;
        host_sync(host);
}

void host_retry(Host *host) {
        crash_budget_reset(&host->budget);
        g_clear_pointer(&host->failed_for, g_free);
        host_forget_failures(host);
        host->due = host->due || host->state == HOST_FAILED;
        /* Its last run is still ending: the next one begins when that is over, and calls wait for it. */
        if (host->wanted && host->state == HOST_FAILED && host->process) {
                host_list(host);
                host_set_state(host, HOST_STOPPING, host->reason);
        }
        if (host->state == HOST_READY)
                host_watch_idle(host);
        if (!host->process)
                host->timer = sd_event_source_disable_unref(host->timer);
        host_sync(host);
}
