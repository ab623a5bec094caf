/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "service/heartbeat.h"

/* One ping on its way. It outlives the heartbeat when that is freed first: the reply still comes, to nobody. */
typedef struct Ping {
        Heartbeat *heartbeat; /* NULL when that is gone */
} Ping;

struct Heartbeat {
        sd_event *event;
        Rpc *rpc;
        const HeartbeatEvents *events;
        void *userdata;
        sd_event_source *timer;
        Ping *ping;
        bool late;
};

static void heartbeat_arm(Heartbeat *heartbeat, uint64_t msec) {
        (void) sd_event_source_set_time_relative(heartbeat->timer, msec * 1000);
        (void) sd_event_source_set_enabled(heartbeat->timer, SD_EVENT_ONESHOT);
}

static void on_pong(const RpcAnswer *answer, void *userdata) {
        Ping *ping = userdata;
        Heartbeat *heartbeat = ping->heartbeat;

        g_free(ping);
        if (!heartbeat)
                return;

        heartbeat->ping = NULL;
        if (answer->outcome == RPC_OUTCOME_CLOSED || answer->outcome == RPC_OUTCOME_CANCELLED)
                return;
        if (answer->outcome == RPC_OUTCOME_TIMED_OUT) {
                heartbeat->events->lost("heartbeat timed out", heartbeat->userdata);
                return;
        }
        if (answer->outcome != RPC_OUTCOME_RESULT || !jval_is(answer->result, J_OBJECT) || jval_length(answer->result) > 0) {
                heartbeat->events->lost("the answer to a ping was not an empty object", heartbeat->userdata);
                return;
        }

        heartbeat_arm(heartbeat, HOST_PING_MSEC);
        if (heartbeat->events->beat)
                heartbeat->events->beat(heartbeat->userdata);
        if (heartbeat->late) {
                heartbeat->late = false;
                heartbeat->events->back(heartbeat->userdata);
        }
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Heartbeat *heartbeat = userdata;
        int r;

        (void) source;
        (void) usec;
        if (heartbeat->ping) {
                heartbeat->late = true;
                heartbeat->events->late(heartbeat->userdata);
                return 0;
        }

        heartbeat->ping = g_new(Ping, 1);
        heartbeat->ping->heartbeat = heartbeat;
        r = rpc_call(heartbeat->rpc, RPC_HEARTBEAT, "host/ping", "{}", 2, HOST_PING_LOST_MSEC, on_pong, heartbeat->ping, NULL);
        if (r < 0) {
                g_clear_pointer(&heartbeat->ping, g_free);
                /* A queue that is full takes the ping all the same: one that stays full is a pong that never comes (F09). */
                heartbeat->events->lost("the host does not read its channel", heartbeat->userdata);
                return 0;
        }
        heartbeat_arm(heartbeat, HOST_PING_LATE_MSEC);
        return 0;
}

int heartbeat_new(sd_event *event, Rpc *rpc, const HeartbeatEvents *events, void *userdata, Heartbeat **ret) {
        Heartbeat *heartbeat = g_new0(Heartbeat, 1);
        int r;

        *heartbeat = (Heartbeat) { .event = event, .rpc = rpc, .events = events, .userdata = userdata };
        r = sd_event_add_time_relative(event, &heartbeat->timer, CLOCK_MONOTONIC, HOST_PING_MSEC * 1000, 100000, on_timer, heartbeat);
        if (r < 0) {
                g_free(heartbeat);
                return r;
        }
        *ret = heartbeat;
        return 0;
}

Heartbeat *heartbeat_free(Heartbeat *heartbeat) {
        if (!heartbeat)
                return NULL;

        if (heartbeat->ping)
                heartbeat->ping->heartbeat = NULL;
        sd_event_source_disable_unref(heartbeat->timer);
        g_free(heartbeat);
        return NULL;
}
