/* SPDX-License-Identifier: MIT */
#include "service/idle-trim.h"

#include <time.h>

#include "common/limits.h"
#include "common/memory-trim.h"
#include "service/service.h"

static int on_idle_trim(sd_event_source *source, uint64_t usec, void *userdata) {
        Service *service = userdata;

        (void) usec;
        if (service->invocations->len == 0) {
                memory_trim();
                return 0;
        }
        (void) sd_event_source_set_time_relative(source, IDLE_TRIM_MSEC * UINT64_C(1000));
        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        return 0;
}

void idle_trim_arm(Service *service) {
        int enabled = SD_EVENT_OFF;

        if (!service->idle_trim) {
                (void) sd_event_add_time_relative(service->event, &service->idle_trim, CLOCK_MONOTONIC,
                                                  IDLE_TRIM_MSEC * UINT64_C(1000), 0, on_idle_trim, service);
                if (service->idle_trim)
                        (void) sd_event_source_set_priority(service->idle_trim, SD_EVENT_PRIORITY_IDLE);
                return;
        }
        (void) sd_event_source_get_enabled(service->idle_trim, &enabled);
        if (enabled != SD_EVENT_OFF)
                return;
        (void) sd_event_source_set_time_relative(service->idle_trim, IDLE_TRIM_MSEC * UINT64_C(1000));
        (void) sd_event_source_set_enabled(service->idle_trim, SD_EVENT_ONESHOT);
}
