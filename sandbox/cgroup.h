/* SPDX-License-Identifier: MIT */
#pragma once

/* What a control group really limits, and what it uses: read back, because a property that systemd accepted
 * need not be in force (a user manager without the memory controller takes MemoryMax= and does nothing).
 * Version 2, version 1 and both side by side. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define CGROUP_UNLIMITED UINT64_MAX

typedef struct CgroupValue {
        bool enforced;    /* a finite limit is in force in this very group */
        uint64_t limit;   /* CGROUP_UNLIMITED when there is none */
        uint64_t usage;   /* 0 when not known */
        unsigned version; /* of control groups: 1 or 2; 0: no such controller for this group */
        char reason[160]; /* when not enforced: why, in words; else empty */
} CgroupValue;

typedef struct CgroupReading {
        CgroupValue memory; /* bytes */
        CgroupValue tasks;
        CgroupValue cpu; /* limit: microseconds a second; usage: microseconds since the start */
} CgroupReading;

/** cgroup_read() - @path as systemd gives it (ControlGroup), "/user.slice/…"; 0, -ENOENT when the group is
 * gone */
int cgroup_read(const char *path, CgroupReading *ret);

/**
 * cgroup_count_refused_tasks() - how often a process or thread was refused because of the limit of this group
 *
 * Return: 0; -ENOENT where nothing limits or counts that, or the group is gone; another -errno.
 */
int cgroup_count_refused_tasks(const char *path, uint64_t *ret);

/**
 * cgroup_count_processes() - processes in a group and all below it
 *
 * Return: their number; 0 when it is empty or gone; -errno.
 */
int cgroup_count_processes(const char *path);

/** cgroup_of_process() - the group that systemd keeps a process in; -ESRCH when the process is gone */
int cgroup_of_process(int pid, char **ret);

/* A mounted hierarchy in a place of its own, for tests. NULL is /sys/fs/cgroup. */
void cgroup_set_root(const char *root);
