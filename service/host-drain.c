/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/messages.h"
#include "service/host-drain.h"
#include "service/host-state.h"
#include "service/wire-method.h"

#define LOOK_USEC (100u * 1000u)

typedef struct HostDrain {
        HostTable *table;
        Plugin *plugin;
        HostProcess *process;
        sd_event_source *timer;
        uint64_t end_usec; /* by then no call can be running */
} HostDrain;

static void drain_free(void *data) {
        HostDrain *drain = data;

        sd_event_source_disable_unref(drain->timer);
        host_process_free(drain->process);
        plugin_unref(drain->plugin);
        g_free(drain);
}

GPtrArray *host_drains_new(void) {
        return g_ptr_array_new_with_free_func(drain_free);
}

static const char refusal[] = "the bundle changed; only what was running may end";

static void on_request(HostProcess *process, const WireMethod *method, uint64_t id, Jval params, void *userdata) {
        (void) method;
        (void) params;
        (void) userdata;
        if (host_process_rpc(process))
                (void) rpc_respond_error(host_process_rpc(process), id, RPC_NOT_AVAILABLE, refusal);
}

/* Its log lines and faults are those of bytes that count no more (S16). */
static void on_notification(HostProcess *process, const WireMethod *method, Jval params, void *userdata) {
        (void) process;
        (void) method;
        (void) params;
        (void) userdata;
}

static void on_cancelled(HostProcess *process, uint64_t id, void *userdata) {
        (void) process;
        (void) id;
        (void) userdata;
}

static void on_nothing(HostProcess *process, void *userdata) {
        (void) process;
        (void) userdata;
}

static void on_ended(HostProcess *process, void *userdata) {
        HostDrain *drain = userdata;
        HostTable *table = drain->table;

        (void) process;
        (void) g_ptr_array_remove_fast(host_table_get_drains(table), drain);
        host_table_tell_drained(table);
}

static const HostProcessEvents events = {
        .ready = on_nothing,
        .request = on_request,
        .notification = on_notification,
        .cancelled = on_cancelled,
        .lost = on_nothing,
        .ended = on_ended,
};

static int on_look(sd_event_source *source, uint64_t usec, void *userdata) {
        HostDrain *drain = userdata;
        Rpc *rpc = host_process_rpc(drain->process);

        if (rpc && rpc_pending(rpc) > 0 && usec < drain->end_usec) {
                (void) sd_event_source_set_time_relative(source, LOOK_USEC);
                (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
                return 0;
        }
        host_process_stop(drain->process, "the bundle changed");
        return 0;
}

static void drain_new(HostTable *table, const HostContext *context, Plugin *plugin, HostProcess *process) {
        HostDrain *drain = g_new0(HostDrain, 1);
        uint64_t now = 0;

        (void) sd_event_now(context->event, CLOCK_MONOTONIC, &now);
        *drain = (HostDrain) {
                .table = table,
                .plugin = plugin_ref(plugin),
                .process = process,
                .end_usec = now + (uint64_t) TOOL_DEADLINE_MSEC * 1000,
        };
        host_process_set_events(process, &events, drain);
        g_ptr_array_add(host_table_get_drains(table), drain);
        log_plugin(LOG_INFO, MESSAGE_TRUST, plugin_get_id(plugin), host_process_unit(process),
                   "%s changed; what it was working on may end", plugin_get_name(plugin));
        if (sd_event_add_time_relative(context->event, &drain->timer, CLOCK_MONOTONIC, LOOK_USEC, 0, on_look, drain) < 0)
                host_process_stop(process, "the bundle changed");
}

void host_drains_end(GPtrArray *drains, const Plugin *plugin) {
        for (size_t i = drains->len; i > 0; i--) {
                HostDrain *drain = g_ptr_array_index(drains, i - 1);

                if (drain->plugin == plugin)
                        host_process_stop(drain->process, "it was disabled");
        }
}

/* Whether what runs may end: the bytes of the bundle are others now, and nobody wants the reviewed ones gone. */
static bool may_drain(const Host *host) {
        Rpc *rpc = host_get_rpc(host);

        return host->state == HOST_READY && rpc && rpc_pending(rpc) > 0 && plugin_is_enabled(host->plugin) &&
                        plugin_get_trust(host->plugin) == TRUST_CONTENT_CHANGED && plugin_get_staged(host->plugin);
}

bool host_drain(Host *host) {
        const char *reason = plugin_get_inactive_reason(host->plugin);

        if (!may_drain(host))
                return false;

        host_withdraw(host, reason);
        host_tell_ended(host, &(HostEnd) { .kind = _UNIT_END_INVALID, .status = -1, .reason = reason });
        /* Whoever would have answered these knows this process no more: what is running must not wait for them for ever. */
        rpc_refuse_all(host_get_rpc(host), RPC_NOT_AVAILABLE, refusal);
        drain_new(host->table, host->context, host->plugin, g_steal_pointer(&host->process));
        host_set_state(host, HOST_STOPPING, reason);
        host_set_state(host, HOST_DISABLED, NULL);
        return true;
}
