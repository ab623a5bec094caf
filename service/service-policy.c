/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/log.h"
#include "service/invocation-state.h"
#include "service/service.h"

/* The files of rules and settings. When rules change: what that means for calls that wait for an answer, and who is told. */

/* A call that waits for a person was allowed to ask under the rules of then. */
void service_rules_changed(void *userdata) {
        Service *service = userdata;

        for (size_t i = service->invocations->len; i > 0; i--)
                if (i <= service->invocations->len)
                        tool_call_reconsider(g_ptr_array_index(service->invocations, i - 1));
        if (service->events)
                service->events->policy_changed(service->userdata);
}

void service_read_permissions(Service *service) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (permissions_load(service->permissions, &error) >= 0)
                return;
        if (permissions_get_unreadable(service->permissions))
                log_error("%s Nothing runs until that is mended and read again.", error.message);
        else
                log_warning("%s The last good rules stay in force.", error.message);
}

void service_read_config(Service *service) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (config_load(service->config, service->home, &error) >= 0)
                return;
        if (config_get_unreadable(service->config))
                log_error("%s Nothing runs until that is mended and read again.", error.message);
        else
                log_warning("%s The last good configuration stays in force.", error.message);
}
