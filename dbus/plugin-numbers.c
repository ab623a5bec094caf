/* SPDX-License-Identifier: MIT */
#include "dbus/plugin-numbers.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "service/host-usage.h"
#include "service/invocation.h"

static const struct {
        const char *name;
        size_t offset;
} numbers[] = {
        { "MemoryCurrent", offsetof(HostNumbers, memory_bytes)     },
        { "MemoryMax",     offsetof(HostNumbers, memory_max_bytes) },
        { "TasksCurrent",  offsetof(HostNumbers, tasks)            },
        { "TasksMax",      offsetof(HostNumbers, tasks_max)        },
        { "CPUUsageUSec",  offsetof(HostNumbers, cpu_usec)         },
        { "SinceUSec",     offsetof(HostNumbers, since_usec)       },
        { "Calls",         offsetof(HostNumbers, calls)            },
        { "Failures",      offsetof(HostNumbers, failures)         },
};

int plugin_number_append(const char *name, const Service *service, Plugin *plugin, sd_bus_message *m) {
        HostNumbers found;

        if (strcmp(name, "Pending") == 0)
                return sd_bus_message_append(m, "t", (uint64_t) invocation_count_for(service, plugin));

        host_read_numbers(service->hosts ? host_table_find(service->hosts, plugin) : NULL, &found);
        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
                if (strcmp(numbers[i].name, name) == 0)
                        return sd_bus_message_append(m, "t", *(const uint64_t *) ((const char *) &found + numbers[i].offset));

        return -ENOENT;
}
