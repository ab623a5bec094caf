/* SPDX-License-Identifier: MIT */
#pragma once

/* One run of a host: a unit, the launcher's report, the handshake, and the end. It knows nothing of what is activated
 * in it. Ended means that the unit's control group is empty. */

#include "sandbox/unit.h"
#include "service/host-end.h"
#include "service/host.h"

typedef struct HostProcess HostProcess;

/* How far it had come; the words of the bus signal Failed. */
typedef enum HostStage {
        HOST_STAGE_START,      /* no runtime, or the manager refused the unit */
        HOST_STAGE_SANDBOX,    /* a wall does not hold or could not be set up */
        HOST_STAGE_HANDSHAKE,  /* the runtime did not come up as it should */
        HOST_STAGE_ACTIVATION, /* set by the host, not here */
        HOST_STAGE_RUNNING,    /* it was ready */
        _HOST_STAGE_MAX,
        _HOST_STAGE_INVALID = -EINVAL,
} HostStage;

const char *host_stage_to_string(HostStage stage);

typedef struct HostProcessEvents {
        /* The handshake is done: requests may be sent. */
        void (*ready)(HostProcess *process, void *userdata);
        void (*request)(HostProcess *process, const WireMethod *method, uint64_t id, Jval params, void *userdata);
        void (*notification)(HostProcess *process, const WireMethod *method, Jval params, void *userdata);
        void (*cancelled)(HostProcess *process, uint64_t id, void *userdata);
        /* It can't be used any more, told once and before ended; all calls have failed. Its unit is being stopped. */
        void (*lost)(HostProcess *process, void *userdata);
        /* The control group is empty. Free the process from here or later. */
        void (*ended)(HostProcess *process, void *userdata);
} HostProcessEvents;

/**
 * host_process_new() - begin to start one
 * @plugin: NULL for doctor, which only looks: that decides for no runtime. Its tier is HOST_TIER_STRIP then
 * @unit_generation: makes the unit's name unique
 *
 * Whatever goes wrong comes as lost and ended, from the loop. @events is a static table.
 */
HostProcess *host_process_new(
                const HostContext *context, Plugin *plugin, HostTier tier, uint64_t unit_generation, const HostProcessEvents *events,
                void *userdata);

/** host_process_set_events() - somebody else looks after it from now on */
void host_process_set_events(HostProcess *process, const HostProcessEvents *events, void *userdata);

/** host_process_free() - forget it; a unit that still runs is killed */
HostProcess *host_process_free(HostProcess *process);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostProcess, host_process_free)

/** host_process_stop() - end it; ended follows. @reason: for those whose calls are cancelled */
void host_process_stop(HostProcess *process, const char *reason);

/** host_process_kill() - end it at once because it misbehaves; lost follows from within, then ended */
void host_process_kill(HostProcess *process, const char *reason);

Rpc *host_process_rpc(const HostProcess *process); /* NULL before the handshake and after lost */
HostStage host_process_stage(const HostProcess *process);
bool host_process_was_stopped(const HostProcess *process); /* host_process_stop() came first */
/** host_process_runtime() - which kind of runtime it was launched with; invalid before that */
RuntimeKind host_process_runtime(const HostProcess *process);
const char *host_process_reason(const HostProcess *process); /* why it was lost or ended; NULL while all is well */

/** host_process_end() - how it ended by itself; invalid before that, and when we ended it. The reason is not filled in */
HostEnd host_process_end(const HostProcess *process);

/** host_process_is_crash() - whether its end counts against the plugin: it ended by itself after the handshake */
bool host_process_is_crash(const HostProcess *process);
const char *host_process_unit(const HostProcess *process);
const char *host_process_report(const HostProcess *process); /* the launcher's, as JSON; NULL while there is none */
/** host_process_lock() - what the host's hello told of its runtime and its lock, as JSON; NULL before that */
const char *host_process_lock(const HostProcess *process);
/** host_process_count_refused_tasks() - how often its unit was refused a process or thread; see cgroup.h */
int host_process_count_refused_tasks(const HostProcess *process, uint64_t *ret);
int host_process_read_usage(const HostProcess *process, CgroupReading *ret);
