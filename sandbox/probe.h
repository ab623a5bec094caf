/* SPDX-License-Identifier: MIT */
#pragma once

/* Tries the sandbox with nothing in it: a throw-away unit whose launcher reports and ends. What
 * "codewhalectl doctor" shows. */

#include <glib.h>

#include "sandbox/cgroup.h"
#include "sandbox/manager.h"
#include "sandbox/report.h"
#include "sandbox/spec.h"

typedef struct SandboxProbe SandboxProbe;

typedef struct SandboxProbeResult {
        int error;                   /* 0: all required walls hold; else a negative errno */
        const char *cause;           /* NULL, or what is wrong, in words */
        const SandboxReport *report; /* NULL when the launcher never spoke */
        CgroupReading limits;        /* as in force for the unit; zero when it never ran */
        WallSet refused;             /* optional properties that the manager does not know */
        uint64_t start_usec;         /* from the request to the report */
} SandboxProbeResult;

/**
 * sandbox_probe_new() - run it
 * @spec: as for a host; runtime, arguments, bundle and probe are ignored, unit names the throw-away unit
 * @done: comes exactly once from the loop unless the probe is freed before; everything in the result is
 * valid during the call only; may free the probe
 */
int sandbox_probe_new(UnitManager *manager, const SandboxSpec *spec,
                void (*done)(SandboxProbe *probe, const SandboxProbeResult *result, void *userdata),
                void *userdata, SandboxProbe **ret, sd_bus_error *reterr);
SandboxProbe *sandbox_probe_free(SandboxProbe *probe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SandboxProbe, sandbox_probe_free)
