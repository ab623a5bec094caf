/* SPDX-License-Identifier: MIT */
#include "service/host-usage.h"

#include <glib.h>
#include <time.h>

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

void host_usage_note_state(Host *host) {
        if (host->state == HOST_STARTING)
                host->usage.since_usec = (uint64_t) g_get_real_time();
        else if (!host->process)
                host->usage.since_usec = 0;
}
