/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/log.h"
#include "service/host-state.h"
#include "service/registration-record.h"

/* Nothing runs when nobody calls (design 5.3): what a plugin registers is known from a record, its host is started by
 * whoever needs it, and stopped when nobody did for a while. */

/* ---- those who wait ---- */

static bool is_settled(const Host *host, bool need) {
        switch (host->state) {
        case HOST_DISABLED:
        case HOST_READY:
                return true;
        case HOST_UNRESPONSIVE:
                return need;
        case HOST_IDLE:
                return !need && !host->restart && host->queued == 0;
        case HOST_FAILED:
                return !host->process;
        default:
                return false;
        }
}

static void tell(Host *host, const HostWaiter *waiter) {
        if (host->state == HOST_FAILED)
                waiter->settled(host, host->error_name ?: ERROR_HOST_UNAVAILABLE, host->reason, waiter->userdata);
        else if (host->state == HOST_DISABLED && waiter->need)
                waiter->settled(host, ERROR_CANCELLED, "the plugin was withdrawn", waiter->userdata);
        else
                waiter->settled(host, NULL, NULL, waiter->userdata);
}

/* One at a time: each may change the list, and the host. */
void host_settle(Host *host) {
        for (unsigned i = 0; i < host->waiters->len;) {
                HostWaiter waiter = g_array_index(host->waiters, HostWaiter, i);

                if (!is_settled(host, waiter.need)) {
                        i++;
                        continue;
                }
                g_array_remove_index(host->waiters, i);
                tell(host, &waiter);
                i = 0;
        }
}

void host_abandon_waiters(Host *host) {
        while (host->waiters->len > 0) {
                HostWaiter waiter = g_array_index(host->waiters, HostWaiter, 0);

                g_array_remove_index(host->waiters, 0);
                waiter.settled(host, ERROR_CANCELLED, "the plugin was withdrawn", waiter.userdata);
        }
}

void host_when_settled(Host *host, HostSettled settled, void *userdata) {
        const HostWaiter waiter = { settled, userdata, false };

        g_array_append_val(host->waiters, waiter);
        if (host->queued > 0)
                host_sync(host);
        host_settle(host);
}

void host_need(Host *host, HostSettled settled, void *userdata) {
        const HostWaiter waiter = { settled, userdata, true };

        host_touch(host);
        g_array_append_val(host->waiters, waiter);
        if (host->state == HOST_IDLE || host->queued > 0)
                host_sync(host);
        host_settle(host);
}

void host_forget_waiters(Host *host, const void *userdata) {
        for (unsigned i = host->waiters->len; i > 0; i--)
                if (g_array_index(host->waiters, HostWaiter, i - 1).userdata == userdata)
                        g_array_remove_index(host->waiters, i - 1);
}

bool host_is_ready(const Host *host) {
        return host->state == HOST_READY || host->state == HOST_UNRESPONSIVE;
}

bool host_must_run(const Host *host) {
        if (host->due || host_runs_always(host))
                return true;
        for (unsigned i = 0; i < host->waiters->len; i++)
                if (g_array_index(host->waiters, HostWaiter, i).need)
                        return true;
        return false;
}

/* ---- the record ---- */

bool host_runs_always(const Host *host) {
        return config_is_eager(host->context->config, plugin_get_name(host->plugin));
}

bool host_is_listed(const Host *host) {
        return host->owner && owner_get_state(host->owner) == OWNER_LISTED;
}

void host_list(Host *host) {
        g_autofree char *key = host_attempt_key(host), *reason = NULL;
        g_autoptr(Owner) owner = NULL;
        int n = 0;

        if (host_is_listed(host)) {
                if (g_strcmp0(key, host->listed_for) == 0)
                        return;
                host_withdraw(host, "the plugin or its configuration changed");
        }
        if (owner_new(host->plugin, &owner) >= 0)
                n = registration_record_list(host->context->home, host->context->registry, owner, host->config_json, &reason);

        g_free(host->record_reason);
        host->record_reason = g_steal_pointer(&reason);
        host->recorded = n > 0;
        if (n <= 0)
                return;
        owner_unref(host->owner);
        host->owner = g_steal_pointer(&owner);
        host->n_listed = (unsigned) n - 1;
        g_free(host->listed_for);
        host->listed_for = g_steal_pointer(&key);
        host_note_guard(host);
}

void host_compare_listing(Host *host) {
        unsigned confirmed, added;

        if (!host_is_listed(host))
                return;

        confirmed = registry_settle(host->context->registry, host->owner, &added);
        if (added == 0 && confirmed == host->n_listed)
                return;
        host->recorded = false;
        host_add_diagnostic(host, "it does not register what it did before: %u new or different, %u gone or different", added,
                            host->n_listed - MIN(confirmed, host->n_listed));
        log_plugin(LOG_NOTICE, NULL, plugin_get_id(host->plugin), host_get_unit(host),
                   "%s does not register what it did before: %u new or different, %u gone or different; what it registers now holds",
                   plugin_get_name(host->plugin), added, host->n_listed - MIN(confirmed, host->n_listed));
}

void host_forget_record(Host *host) {
        host->recorded = false;
        registration_record_forget(host->context->home, host->plugin);
        host_keep_guard(host);
}

/* Only when every entry is active: one that failed is to be seen, and tried again, at the next start. */
static bool can_record(const Host *host) {
        const OwnerEntry *entry;

        for (size_t i = 0; (entry = owner_get_entry(host->owner, i)); i++)
                if (entry->state != OWNER_ACTIVE)
                        return false;
        return host->listable;
}

/* ---- stopping it when nobody needs it ---- */

static int on_idle(sd_event_source *source, uint64_t usec, void *userdata);

static void host_arm_idle(Host *host, uint64_t usec) {
        if (host->idle) {
                (void) sd_event_source_set_time_relative(host->idle, usec);
                (void) sd_event_source_set_enabled(host->idle, SD_EVENT_ONESHOT);
        } else
                (void) sd_event_add_time_relative(host->context->event, &host->idle, CLOCK_MONOTONIC, usec, 0, on_idle, host);
}

/* Its next owner is listed before this one cleans up, so that nothing is missing from any list meanwhile. */
static void host_sleep(Host *host) {
        static const char reason[] = "nobody needed it for a while";

        log_plugin(LOG_INFO, NULL, plugin_get_id(host->plugin), host_get_unit(host),
                   "%s is stopped because nobody needed it; the next call starts it", plugin_get_name(host->plugin));
        host->heartbeat = heartbeat_free(host->heartbeat);
        host->idle = sd_event_source_disable_unref(host->idle);
        host->retiring = g_steal_pointer(&host->owner);
        owner_set_state(host->retiring, OWNER_REVOKED, reason);
        registry_withdraw(host->context->registry, host->retiring, NULL);
        host_list(host);
        host_set_state(host, HOST_STOPPING, NULL);
        if (!host_deactivate(host, host->retiring, reason))
                host_process_stop(host->process, reason);
}

static int on_idle(sd_event_source *source, uint64_t usec, void *userdata) {
        Host *host = userdata;
        Rpc *rpc = host_get_rpc(host);
        uint64_t now = 0, idle_usec = host->context->config->idle_msec * 1000;

        (void) source;
        (void) usec;
        if (host->state != HOST_READY || !rpc || idle_usec == 0 || host_runs_always(host))
                return 0;

        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &now);
        if (now < host->used_usec + idle_usec)
                host_arm_idle(host, host->used_usec + idle_usec - now);
        else if (!host->recorded || owner_was_touched(host->owner) || rpc_pending(rpc) > 0 ||
                        host_table_is_in_use(host->table, host))
                host_arm_idle(host, idle_usec);
        else
                host_sleep(host);
        return 0;
}

void host_watch_idle(Host *host) {
        host_touch(host);
        if (host->context->config->idle_msec > 0)
                host_arm_idle(host, host->context->config->idle_msec * 1000);
}

void host_touch(Host *host) {
        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &host->used_usec);
}

void host_keep_record(Host *host) {
        int r;

        if (!can_record(host))
                host_forget_record(host);
        else if (!host->recorded) {
                r = registration_record_write(host->context->home, host->context->registry, host->owner, host->config_json);
                host->recorded = r >= 0;
                if (r < 0)
                        host_add_diagnostic(host, "what it registered can't be kept: %s", g_strerror(-r));
                host_keep_guard(host);
        }

        host_watch_idle(host);
}
