/* SPDX-License-Identifier: MIT */
#pragma once

/* One sandboxed unit from its start to its end. The order is: watch, then StartTransientUnit, then follow
 * the job, then the state (style 28). A unit ends once: with "failed" when it never ran, else with
 * "stopped", and that only when its control group is empty. Nothing here blocks. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "sandbox/cgroup.h"
#include "sandbox/manager.h"
#include "sandbox/spec.h"

typedef struct SandboxUnit SandboxUnit;

/* How far a unit came that never ran. */
typedef enum UnitStage {
        UNIT_STAGE_REQUEST, /* the manager was not reached or refused the unit */
        UNIT_STAGE_SETUP,   /* the sandbox could not be set up (exit codes 200 to 245, as 226): never the
                               plugin's fault */
        UNIT_STAGE_JOB,     /* the start job was cancelled, timed out, or a dependency failed */
        _UNIT_STAGE_MAX,
        _UNIT_STAGE_INVALID = -22,
} UnitStage;

/* Why a unit that ran has ended. */
typedef enum UnitEnd {
        UNIT_END_EXITED,       /* the main process exited; see status */
        UNIT_END_SIGNAL,       /* a signal ended it; see status */
        UNIT_END_MEMORY,       /* the kernel killed it for its memory limit */
        UNIT_END_STOPPED,      /* we, or an administrator, stopped it */
        UNIT_END_TIMEOUT,      /* it had to be killed to stop */
        UNIT_END_MANAGER_LOST, /* the manager went away and its units with it */
        _UNIT_END_MAX,
        _UNIT_END_INVALID = -22,
} UnitEnd;

const char *unit_stage_to_string(UnitStage stage); /* "request", "setup", "job" */
const char *unit_end_to_string(
                UnitEnd end); /* "exited", "signal", "memory", "stopped", "timeout", "manager-lost" */

typedef struct UnitFailure {
        UnitStage stage;
        bool is_setup_failure; /* the machine's or our fault: never counts as a crash of the plugin */
        int error;             /* negative errno */
        const char *cause;     /* a sentence for people, valid during the call only */
        const char *property;  /* NULL, or the property of systemd that was refused */
} UnitFailure;

typedef struct UnitStop {
        UnitEnd end;
        bool requested; /* sandbox_unit_stop() or _kill() came before */
        bool stuck;     /* processes are left that SIGKILL did not end; @n_left of them */
        unsigned n_left;
        int status;         /* exit status or signal number of the main process; -1 when not known */
        const char *result; /* systemd's word: "success", "exit-code", "signal", "oom-kill", "timeout", … */
        const char *cause;  /* a sentence for people, valid during the call only */
} UnitStop;

typedef struct SandboxUnitEvents {
        void (*started)(SandboxUnit *unit, void *userdata); /* the launcher was executed */
        void (*failed)(SandboxUnit *unit, const UnitFailure *failure, void *userdata);
        void (*stopped)(SandboxUnit *unit, const UnitStop *stop, void *userdata);
} SandboxUnitEvents;

/**
 * sandbox_unit_start() - start a unit
 * @spec:   copied as far as it is needed later
 * @fd:     the host's end of the channel; taken in every case, and closed here when the unit has it
 * @events: static table; all entries must be there. Any callback may free the unit, none comes from within
 * this call
 *
 * Waits for the manager when that is not ready yet, up to HOST_HANDSHAKE_MSEC.
 *
 * Return: 0; -EINVAL for an unusable specification (with words in @reterr); another -errno.
 */
int sandbox_unit_start(UnitManager *manager, const SandboxSpec *spec, int fd,
                const SandboxUnitEvents *events, void *userdata, SandboxUnit **ret, sd_bus_error *reterr);

/** sandbox_unit_free() - forget it; a unit that still runs is killed. Takes NULL, returns NULL */
SandboxUnit *sandbox_unit_free(SandboxUnit *unit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SandboxUnit, sandbox_unit_free)

/** sandbox_unit_stop() - StopUnit; whatever is left after HOST_KILL_MSEC gets SIGKILL. Harmless when it has
 * ended */
void sandbox_unit_stop(SandboxUnit *unit);

/** sandbox_unit_kill() - SIGKILL to every process of it, now */
void sandbox_unit_kill(SandboxUnit *unit);

const char *sandbox_unit_name(const SandboxUnit *unit);
bool sandbox_unit_is_running(const SandboxUnit *unit); /* between "started" and the end */

/** sandbox_unit_main_pid() - of the launcher and then the runtime; 0 when not known yet */
pid_t sandbox_unit_main_pid(const SandboxUnit *unit);

/** sandbox_unit_cgroup() - path of its control group below the hierarchy's root; NULL before "started" */
const char *sandbox_unit_cgroup(const SandboxUnit *unit);

/** sandbox_unit_refused_walls() - optional properties that this manager did not know; the unit runs without
 * them */
WallSet sandbox_unit_refused_walls(const SandboxUnit *unit);

/** sandbox_unit_count_refused_tasks(), sandbox_unit_read_usage() - what its control group says now (cgroup.h);
 * -ENODATA before "started" */
int sandbox_unit_count_refused_tasks(const SandboxUnit *unit, uint64_t *ret);
int sandbox_unit_read_usage(const SandboxUnit *unit, CgroupReading *ret);
