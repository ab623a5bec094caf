/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "service/host-end.h"
#include "service/invocation-state.h"

/* Hosts that a call needs and that sleep are started for it: those of the listeners before it is decided, that of its target
 * when it may execute. Calls that come together share one start. */

static uint64_t now_usec(const Invocation *invocation) {
        uint64_t now = 0;

        (void) sd_event_now(invocation->service->event, CLOCK_MONOTONIC, &now);
        return now;
}

uint64_t invocation_left_msec(const Invocation *invocation) {
        uint64_t now = now_usec(invocation);

        if (invocation->due_usec == 0)
                return invocation->deadline_msec;
        return now < invocation->due_usec ? (invocation->due_usec - now + 999) / 1000 : 1;
}

void invocation_stop_waiting(Invocation *invocation) {
        invocation->await_timer = sd_event_source_disable_unref(invocation->await_timer);
        if (invocation->n_awaited > 0)
                host_table_forget_waiters(invocation->service->hosts, invocation);
        invocation->n_awaited = 0;
        if (invocation->ending)
                host_forget_ended(g_steal_pointer(&invocation->ending), invocation);
        g_clear_pointer(&invocation->await_error, g_free);
        g_clear_pointer(&invocation->await_reason, g_free);
}

/* One of those that were waited for; the last one goes on. */
static void invocation_awaited(Invocation *invocation) {
        if (--invocation->n_awaited > 0)
                return;

        invocation->await_timer = sd_event_source_disable_unref(invocation->await_timer);
        invocation->await_next(invocation);
}

static void on_host(Host *host, const char *error_name, const char *reason, void *userdata) {
        Invocation *invocation = userdata;

        (void) host;
        if (error_name && !invocation->await_error) {
                invocation->await_error = g_strdup(error_name);
                invocation->await_reason = g_strdup(reason);
        }
        invocation_awaited(invocation);
}

static void await_host(Invocation *invocation, Plugin *plugin) {
        Host *host = host_table_find(invocation->service->hosts, plugin);

        if (!host)
                return;
        host_touch(host);
        if (host_is_ready(host))
                return;
        invocation->n_awaited++;
        host_need(host, on_host, invocation);
}

/* ---- the listeners ---- */

void invocation_with_listeners(Invocation *invocation, void (*next)(Invocation *invocation)) {
        invocation->await_next = next;
        /* One more, so that nothing goes on before all are asked for. */
        invocation->n_awaited = 1;
        for (unsigned i = 0; i < invocation->listeners->len; i++)
                await_host(invocation, owner_get_plugin(((Registration *) g_ptr_array_index(invocation->listeners, i))->owner));
        invocation_awaited(invocation);
}

static void await_guard(Host *host, void *userdata) {
        Invocation *invocation = userdata;

        if (selection_sees(invocation->session->selection, host_get_plugin(host)))
                await_host(invocation, host_get_plugin(host));
}

void invocation_with_guards(Invocation *invocation, void (*next)(Invocation *invocation)) {
        invocation->await_next = next;
        invocation->n_awaited = 1;
        host_table_foreach_missing_guard(invocation->service->hosts, await_guard, invocation);
        invocation_awaited(invocation);
}

/* ---- the target ---- */

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Invocation *invocation = userdata;

        (void) source;
        (void) usec;
        invocation_fail(invocation, ERROR_DEADLINE_EXCEEDED,
                        "'%s' did not answer within %" G_GUINT64_FORMAT " ms: its host is still starting.",
                        invocation->target->name, invocation->deadline_msec);
        return 0;
}

static void on_target_host(Invocation *invocation) {
        void (*next)(Invocation *) = invocation->host_next;

        if (invocation->await_error)
                invocation_fail(invocation, invocation->await_error, "'%s' can't answer: %s.", invocation->target->name,
                                invocation->await_reason ?: "its host is not running");
        else
                next(invocation);
}

void invocation_with_host(Invocation *invocation, void (*next)(Invocation *invocation)) {
        invocation->state = INVOCATION_STARTING;
        invocation->due_usec = now_usec(invocation) + invocation->deadline_msec * 1000;
        invocation->host_next = next;
        invocation->await_next = on_target_host;
        g_clear_pointer(&invocation->await_error, g_free);
        g_clear_pointer(&invocation->await_reason, g_free);

        invocation->n_awaited = 1;
        await_host(invocation, owner_get_plugin(invocation->target->owner));
        if (invocation->n_awaited > 1)
                (void) sd_event_add_time_relative(invocation->service->event, &invocation->await_timer, CLOCK_MONOTONIC,
                                                  invocation->deadline_msec * 1000, 0, on_deadline, invocation);
        invocation_awaited(invocation);
}
