/* SPDX-License-Identifier: MIT */
#include "service/tool-hook-end.h"

#include <time.h>

#include "common/cleanup.h"

HookFailure hook_failure_of_end(const HostEnd *end) {
        switch (end->kind) {
        case UNIT_END_EXITED:
                return HOOK_FAILURE_EXITED;
        case UNIT_END_SIGNAL:
        case UNIT_END_MEMORY:
        case UNIT_END_TIMEOUT:
                return HOOK_FAILURE_KILLED;
        default:
                return HOOK_FAILURE_ABSENT;
        }
}

static void go_on(Invocation *invocation, const HostEnd *end) {
        const Registration *listener = g_ptr_array_index(invocation->listeners, invocation->next_listener);
        const HookSource source = tool_hook_source(listener);

        invocation_stop_waiting(invocation);
        (void) hook_fold_add_failure(invocation->fold, &source, hook_failure_of_end(end), end->reason);
        invocation->await_next(invocation);
}

static void on_ended(const HostEnd *end, void *userdata) {
        Invocation *invocation = userdata;

        invocation->ending = NULL;
        go_on(invocation, end);
}

static int on_no_time_left(sd_event_source *source, uint64_t usec, void *userdata) {
        const HostEnd end = { .kind = _UNIT_END_INVALID, .status = -1, .reason = "its channel closed, and nobody knows why" };

        (void) source;
        (void) usec;
        go_on(userdata, &end);
        return 0;
}

void tool_hook_await_end(Invocation *invocation, const Registration *listener, void (*next)(Invocation *invocation)) {
        Host *host = host_table_find(invocation->service->hosts, owner_get_plugin(listener->owner));
        const char *reason = host ? host_get_reason(host) : NULL;
        const HostEnd end = { .kind = _UNIT_END_INVALID, .status = -1, .reason = reason };

        invocation->await_next = next;
        /* What runs now is another one already, when this one was broken off by us. */
        if (!host || host_get_owner(host) != listener->owner || host_when_ended(host, on_ended, invocation) < 0) {
                go_on(invocation, &end);
                return;
        }
        invocation->ending = host;
        (void) sd_event_add_time(invocation->service->event, &invocation->await_timer, CLOCK_MONOTONIC, invocation->hooks_due_usec, 0,
                                 on_no_time_left, invocation);
}
