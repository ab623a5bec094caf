/* SPDX-License-Identifier: MIT */
#pragma once

/* What a host does and uses, in numbers: for the properties of a plugin's object, codewhalectl top and whoever watches. */

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/cgroup.h"

typedef struct Host Host;

/* Kept in a host, across its runs. */
typedef struct HostUsage {
        uint64_t calls, failures; /* of its tools and commands, that reached it */
        uint64_t since_usec;      /* CLOCK_REALTIME, of the start of this run; 0 while there is none */
        CgroupReading reading;
        bool tasks_told; /* that it ran into its limit in this run */
        uint64_t read_usec; /* CLOCK_MONOTONIC, of @reading; 0: none */
} HostUsage;

/* No limit is in force. */
#define HOST_NUMBER_UNLIMITED UINT64_MAX

/* All 0 while no host runs, but for the counts of calls. */
typedef struct HostNumbers {
        uint64_t memory_bytes, memory_max_bytes; /* used; the limit that the control group has */
        uint64_t tasks, tasks_max;
        uint64_t cpu_usec;   /* since this run began */
        uint64_t since_usec; /* CLOCK_REALTIME */
        uint64_t calls, failures;
} HostNumbers;

/** host_read_numbers() - the control group is read at most once in a turn of the loop; @host may be NULL */
void host_read_numbers(Host *host, HostNumbers *ret);

/** host_count_call() - a call reached the host and has ended; @host may be NULL */
void host_count_call(Host *host, bool failed);

/** host_look_at_tasks() - whether it was refused a process or thread, which is told once a run, by name with the limit */
void host_look_at_tasks(Host *host);

/** host_usage_note_state() - the host has another state: keep the time when a run began or ended */
void host_usage_note_state(Host *host);
