/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/messages.h"
#include "service/host-state.h"

/* A run that did not work, or ended by itself: who is told what, and whether there is another one (contract 3.11, 3.12). */

/* What failed, so that the same is not tried again by itself (3.12, A04). */
char *host_attempt_key(const Host *host) {
        return g_strdup_printf("%" G_GUINT64_FORMAT " %s", plugin_get_generation(host->plugin), host->config_json ?: "");
}

static void host_announce_failure(
                Host *host, HostStage stage, const char *error_name, const char *message_id, const char *reason) {
        host->error_name = error_name;
        host_add_diagnostic(host, "%s: %s", host_stage_to_string(stage), reason);
        log_plugin(LOG_WARNING, message_id, plugin_get_id(host->plugin), host_get_unit(host), "%s failed (%s): %s",
                   plugin_get_name(host->plugin), host_stage_to_string(stage), reason);
        host_table_tell_failed(host->table, host, stage, reason);
}

static const char *message_of(const Host *host, HostStage stage) {
        uint64_t now = 0;

        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &now);
        if (stage == HOST_STAGE_SANDBOX)
                return MESSAGE_SANDBOX_REFUSED;
        return crash_budget_count(&host->budget, now) >= HOST_CRASHES_MAX ? MESSAGE_PLUGIN_LEFT_ALONE : MESSAGE_PLUGIN_FAILED;
}

void host_fail(Host *host, HostStage stage, const char *error_name, const char *reason) {
        g_autofree char *kept = g_strdup(reason);

        if (host->owner && owner_is_live(host->owner))
                owner_set_state(host->owner, stage == HOST_STAGE_RUNNING ? OWNER_FAULTED : OWNER_FAILED, kept);
        host_withdraw(host, kept);
        if (stage == HOST_STAGE_ACTIVATION)
                host_forget_record(host);
        g_free(host->failed_for);
        host->failed_for = host_attempt_key(host);
        host_set_state(host, HOST_FAILED, kept);
        host_announce_failure(host, stage, error_name, message_of(host, stage), kept);
        if (host->process)
                host_process_stop(host->process, kept);
}

/* A sentence that goes on: its length without the full stop. */
static int open_end(const char *reason) {
        size_t size = strlen(reason);

        return (int) (size > 0 && reason[size - 1] == '.' ? size - 1 : size);
}

char *host_explain_end(const Host *host, const char *reason) {
        if (!host->usage.tasks_told)
                return g_strdup(reason);
        return g_strdup_printf("%.*s; it had run into its limit of %u tasks", open_end(reason), reason, host->context->config->tasks);
}

static int on_backoff(sd_event_source *source, uint64_t usec, void *userdata) {
        Host *host = userdata;

        (void) source;
        (void) usec;
        host->timer = sd_event_source_disable_unref(host->timer);
        host_sync(host);
        return 0;
}

void host_recover(Host *host, HostStage stage, const char *reason, bool crash, bool activating) {
        uint64_t delay_usec, now = 0;
        g_autofree char *text = NULL;

        host->launch_failed = !crash;
        if (activating || !crash) {
                host_fail(host, activating ? HOST_STAGE_ACTIVATION : stage,
                          stage == HOST_STAGE_SANDBOX ? ERROR_SANDBOX_REFUSED : ERROR_HOST_UNAVAILABLE, reason);
                return;
        }

        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &now);
        if (!crash_budget_spend(&host->budget, now, &delay_usec)) {
                text = g_strdup_printf("%.*s; it crashed %u times within 5 minutes and is not started again until it is changed, "
                                       "enabled anew or reloaded", open_end(reason), reason, HOST_CRASHES_MAX);
                host_fail(host, stage, ERROR_HOST_UNAVAILABLE, text);
                return;
        }
        host->due = true;
        host_set_state(host, HOST_RESTARTING, reason);
        host_announce_failure(host, stage, ERROR_HOST_UNAVAILABLE, MESSAGE_PLUGIN_CRASHED, reason);
        (void) sd_event_add_time_relative(host->context->event, &host->timer, CLOCK_MONOTONIC, delay_usec, 0, on_backoff, host);
}

bool host_fall_back(Host *host, RuntimeKind runtime, const char *reason) {
        bool first = false;

        if (!runtime_selector_fail(host->context->runtime, runtime, reason, &first))
                return false;
        if (first)
                log_plugin(LOG_NOTICE, NULL, plugin_get_id(host->plugin), NULL,
                           "Hosts run on Node from now on, because Bun did not come up: %s", reason);
        host->due = true;
        host_set_state(host, HOST_RESTARTING, reason);
        (void) sd_event_add_time_relative(host->context->event, &host->timer, CLOCK_MONOTONIC, HOST_RESTART_MSEC * 1000, 0,
                                          on_backoff, host);
        return true;
}
