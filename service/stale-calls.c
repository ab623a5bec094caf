/* SPDX-License-Identifier: MIT */
#include "common/errors.h"
#include "service/invocation-state.h"
#include "service/stale-calls.h"

static void fail_stale(Invocation *invocation) {
        const Registration *target = invocation->target;
        Host *host = host_table_find(invocation->service->hosts, owner_get_plugin(target->owner));
        HostState state = host ? host_get_state(host) : HOST_DISABLED;

        if (target->gone)
                invocation_fail(invocation, ERROR_HOST_UNAVAILABLE, "'%s' is no longer available: %s.", target->name, target->gone);
        else if (state == HOST_RESTARTING || state == HOST_FAILED) /* nobody took it away: its host died (S09) */
                invocation_fail(invocation, ERROR_HOST_UNAVAILABLE, "'%s' can't answer: %s.", target->name,
                                host_get_reason(host) ?: "its host is not running");
        else
                invocation_fail(invocation, ERROR_CANCELLED, "The plugin was withdrawn.");
}

void stale_calls_end(Service *service) {
        g_autoptr(GPtrArray) stale = g_ptr_array_new();

        for (size_t i = 0; i < service->invocations->len; i++) {
                Invocation *invocation = g_ptr_array_index(service->invocations, i);

                /* One that waits for its host is told by the host, unless that will not come. */
                if (invocation->state == INVOCATION_STARTING &&
                                plugin_get_label(owner_get_plugin(invocation->target->owner)) == PLUGIN_ACTIVE)
                        continue;
                if (invocation->state != INVOCATION_EXECUTING && !invocation->starting &&
                                !registration_is_usable(invocation->target))
                        g_ptr_array_add(stale, invocation);
        }
        for (size_t i = 0; i < stale->len; i++)
                if (g_ptr_array_find(service->invocations, g_ptr_array_index(stale, i), NULL))
                        fail_stale(g_ptr_array_index(stale, i));
}

void stale_calls_end_session(Service *service, const Session *session) {
        for (size_t i = service->invocations->len; i > 0; i--) {
                Invocation *invocation = i <= service->invocations->len ? g_ptr_array_index(service->invocations, i - 1) : NULL;

                if (invocation && invocation->session == session && !invocation->starting)
                        invocation_cancel(invocation, "the session ended");
        }
}
