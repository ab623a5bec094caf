/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <signal.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/explain.h"
#include "sandbox/unit-internal.h"

/* How often an ended unit's control group is looked at until it is empty. */
#define EMPTY_POLL_USEC (20 * MSEC)
static const char *const unit_stage_table[_UNIT_STAGE_MAX] = {
        [UNIT_STAGE_REQUEST] = "request",
        [UNIT_STAGE_SETUP] = "setup",
        [UNIT_STAGE_JOB] = "job",
};

static const char *const unit_end_table[_UNIT_END_MAX] = {
        [UNIT_END_EXITED] = "exited",
        [UNIT_END_SIGNAL] = "signal",
        [UNIT_END_MEMORY] = "memory",
        [UNIT_END_STOPPED] = "stopped",
        [UNIT_END_TIMEOUT] = "timeout",
        [UNIT_END_MANAGER_LOST] = "manager-lost",
};

const char *unit_stage_to_string(UnitStage stage) {
        return stage >= 0 && stage < _UNIT_STAGE_MAX ? unit_stage_table[stage] : NULL;
}

const char *unit_end_to_string(UnitEnd end) {
        return end >= 0 && end < _UNIT_END_MAX ? unit_end_table[end] : NULL;
}

void unit_fail(SandboxUnit *unit, UnitStage stage, int error, const char *cause, const char *property) {
        UnitFailure failure = {
                .stage = stage,
                .is_setup_failure = stage != UNIT_STAGE_JOB || !unit->stop_requested,
                .error = error,
                .cause = cause,
                .property = property,
        };

        assert(error < 0);
        if (unit->phase == UNIT_ENDED)
                return;

        /* It may exist all the same, or be about to. */
        if (unit->phase != UNIT_WAITING && !unit_state_is_over(&unit->state)) {
                unit_send_stop(unit);
                unit_send_kill(unit);
        }
        unit_set_ended(unit);
        if (unit->events)
                unit->events->failed(unit, &failure, unit->userdata);
}

static UnitEnd unit_get_end(const SandboxUnit *unit) {
        const UnitState *state = &unit->state;
        bool killed = state->main_code == CLD_KILLED || state->main_code == CLD_DUMPED;

        if (unit->gone_while_lost)
                return UNIT_END_MANAGER_LOST;
        if (g_str_equal(state->result, "oom-kill"))
                return UNIT_END_MEMORY;
        if (g_str_equal(state->result, "timeout"))
                return UNIT_END_TIMEOUT;
        if (unit->stop_requested)
                return UNIT_END_STOPPED;
        /* systemd learns of memory kills from version 2 only. On version 1 a SIGKILL that nobody here sent
         * is one. */
        if (killed && state->main_status == SIGKILL && unit->limits.memory.version == 1 &&
                        unit->limits.memory.enforced)
                return UNIT_END_MEMORY;
        if (killed && g_str_equal(state->result, "success"))
                return UNIT_END_STOPPED;
        if (killed)
                return UNIT_END_SIGNAL;

        return UNIT_END_EXITED;
}

static char *unit_explain_end(const SandboxUnit *unit, UnitEnd end) {
        g_autofree char *signal = NULL;
        const char *launcher;

        switch (end) {
        case UNIT_END_MEMORY:
                return g_strdup_printf("It was killed for exceeding its memory limit of %" G_GUINT64_FORMAT
                                       " MiB.",
                                (unit->spec->memory_bytes > 0 ? unit->spec->memory_bytes
                                                              : HOST_MEMORY_BYTES) /
                                                MIB(1));
        case UNIT_END_TIMEOUT:
                return g_strdup("It did not stop in time and was killed.");
        case UNIT_END_STOPPED:
                return g_strdup(unit->stop_requested ? "It was stopped." : "It was stopped from outside.");
        case UNIT_END_MANAGER_LOST:
                return g_strdup("It ended together with systemd's manager.");
        case UNIT_END_SIGNAL:
                signal = explain_signal(unit->state.main_status);
                /* V8 ends itself by one of these when there is no memory left, and has no other way to say so. */
                if (unit->state.main_status == SIGABRT || unit->state.main_status == SIGTRAP)
                        return g_strdup_printf("It was ended by %s: the runtime gave up, as it does when its memory is used up.",
                                        signal);
                return g_strdup_printf("It was ended by %s.", signal);
        default:
                launcher = explain_launcher_status(unit->state.main_status);
                return launcher ? g_strdup_printf("It never began: %s.", launcher)
                                : g_strdup_printf("It exited with status %d.", unit->state.main_status);
        }
}

static void unit_stopped(SandboxUnit *unit) {
        UnitEnd end = unit_get_end(unit);
        g_autofree char *cause = unit_explain_end(unit, end);
        UnitStop stop = {
                .end = end,
                .requested = unit->stop_requested,
                .stuck = unit->n_left > 0,
                .n_left = unit->n_left,
                .status = unit->state.main_code != 0 ? unit->state.main_status : -1,
                .result = unit->state.result,
                .cause = cause,
        };

        if (unit->phase == UNIT_ENDED)
                return;

        unit_set_ended(unit);
        if (unit->events)
                unit->events->stopped(unit, &stop, unit->userdata);
}

static int on_empty_poll(sd_event_source *source, uint64_t usec, void *userdata);

/* Raises "stopped" when nothing is left in the control group, or when what is left survives being killed. */
static void unit_check_empty(SandboxUnit *unit) {
        int n = unit->cgroup ? cgroup_count_processes(unit->cgroup) : 0;
        uint64_t now = 0;
        int r;

        if (n <= 0) {
                unit->n_left = 0;
                unit_stopped(unit);
                return;
        }

        unit->n_left = (unsigned) n;
        (void) sd_event_now(unit_manager_event(unit->manager), CLOCK_MONOTONIC, &now);
        if (now - unit->emptying_since > HOST_KILL_MSEC * MSEC) {
                unit_stopped(unit);
                return;
        }
        r = unit_set_timer(unit, &unit->poll_timer, EMPTY_POLL_USEC, on_empty_poll);
        if (r < 0)
                unit_stopped(unit);
}

static int on_empty_poll(sd_event_source *source, uint64_t usec, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) source;
        (void) usec;

        unit_check_empty(unit);
        return 0;
}

void unit_over(SandboxUnit *unit) {
        if (unit->phase == UNIT_EMPTYING || unit->phase == UNIT_ENDED)
                return;

        unit->phase = UNIT_EMPTYING;
        (void) sd_event_now(unit_manager_event(unit->manager), CLOCK_MONOTONIC, &unit->emptying_since);
        unit_check_empty(unit);
}
