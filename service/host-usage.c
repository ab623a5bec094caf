/* SPDX-License-Identifier: MIT */
#include "service/host-usage.h"

#include <glib.h>
#include <time.h>

#include "common/log.h"
#include "common/messages.h"
#include "service/host-state.h"

static void read_group(Host *host) {
        HostUsage *usage = &host->usage;
        uint64_t now = 0;

        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &now);
        if (usage->read_usec == now && now != 0)
                return;

        usage->reading = (CgroupReading) {};
        usage->read_usec = now;
        if (host->process)
                (void) host_process_read_usage(host->process, &usage->reading);
}

static uint64_t limit_of(const CgroupValue *value) {
        return value->enforced ? value->limit : HOST_NUMBER_UNLIMITED;
}

void host_read_numbers(Host *host, HostNumbers *ret) {
        *ret = (HostNumbers) {};
        if (!host)
                return;

        ret->calls = host->usage.calls;
        ret->failures = host->usage.failures;
        if (!host->process)
                return;

        read_group(host);
        ret->memory_bytes = host->usage.reading.memory.usage;
        ret->memory_max_bytes = limit_of(&host->usage.reading.memory);
        ret->tasks = host->usage.reading.tasks.usage;
        ret->tasks_max = limit_of(&host->usage.reading.tasks);
        ret->cpu_usec = host->usage.reading.cpu.usage;
        ret->since_usec = host->usage.since_usec;
}

void host_count_call(Host *host, bool failed) {
        if (!host)
                return;

        host->usage.calls++;
        host->usage.failures += failed;
}

void host_look_at_tasks(Host *host) {
        unsigned limit = host->context->config->tasks;
        uint64_t refused = 0;

        if (host->usage.tasks_told || !host->process || host_process_count_refused_tasks(host->process, &refused) < 0 || refused == 0)
                return;

        host->usage.tasks_told = true;
        host_add_diagnostic(host, "It ran into its limit of %u tasks: it was refused another process or thread", limit);
        log_plugin(LOG_WARNING, MESSAGE_PLUGIN_LIMIT, plugin_get_id(host->plugin), host_get_unit(host),
                   "%s ran into its limit of %u tasks: it was refused another process or thread", plugin_get_name(host->plugin), limit);
}

void host_usage_note_state(Host *host) {
        if (host->state == HOST_STARTING)
                host->usage.tasks_told = false;
        if (host->state == HOST_STARTING)
                host->usage.since_usec = (uint64_t) g_get_real_time();
        else if (!host->process)
                host->usage.since_usec = 0;
}
