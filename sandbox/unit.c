/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <signal.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/unit-internal.h"
#include "sandbox/unit-name.h"

void unit_unref(SandboxUnit *unit) {
        assert(unit->n_ref > 0);
        if (--unit->n_ref > 0)
                return;

        assert(unit->phase == UNIT_ENDED);
        unit_manager_unref(unit->manager);
        sandbox_spec_free(unit->spec);
        g_free(unit->path);
        g_free(unit->job);
        g_free(unit->cgroup);
        g_free(unit);
}

SandboxUnit *unit_ref(SandboxUnit *unit) {
        unit->n_ref++;
        return unit;
}

void unit_set_ended(SandboxUnit *unit) {
        unit->phase = UNIT_ENDED;
        unit_manager_unfollow(unit->manager, unit);
        unit->call_slot = sd_bus_slot_unref(unit->call_slot);
        unit->job_slot = sd_bus_slot_unref(unit->job_slot);
        unit->properties_slot = sd_bus_slot_unref(unit->properties_slot);
        unit->start_timer = sd_event_source_disable_unref(unit->start_timer);
        unit->stop_timer = sd_event_source_disable_unref(unit->stop_timer);
        unit->poll_timer = sd_event_source_disable_unref(unit->poll_timer);
        close_fd(&unit->fd);
}

int unit_set_timer(
                SandboxUnit *unit, sd_event_source **timer, uint64_t usec, sd_event_time_handler_t handler) {
        *timer = sd_event_source_disable_unref(*timer);
        return sd_event_add_time_relative(unit_manager_event(unit->manager), timer, CLOCK_MONOTONIC, usec,
                        MIN(usec / 10, MSEC), handler, unit);
}

void unit_send_kill(SandboxUnit *unit) {
        sd_bus *bus = unit_manager_bus(unit->manager);

        unit->kill_sent = true;
        if (bus)
                (void) sd_bus_call_method_async(bus, NULL, unit_manager_destination(unit->manager),
                                "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "KillUnit",
                                NULL, NULL, "ssi", unit->spec->unit, "all", (int32_t) SIGKILL);
}

void unit_send_stop(SandboxUnit *unit) {
        sd_bus *bus = unit_manager_bus(unit->manager);

        if (bus)
                (void) sd_bus_call_method_async(bus, NULL, unit_manager_destination(unit->manager),
                                "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "StopUnit",
                                NULL, NULL, "ss", unit->spec->unit, "replace");
}

int sandbox_unit_start(UnitManager *manager, const SandboxSpec *spec, int fd,
                const SandboxUnitEvents *events, void *userdata, SandboxUnit **ret, sd_bus_error *reterr) {
        _cleanup_close_ int taken = fd;
        SandboxUnit *unit;
        int r;

        assert(manager);
        assert(spec);
        assert(fd >= 0);
        assert(events && events->started && events->failed && events->stopped);
        assert(ret);

        r = sandbox_spec_check(spec, unit_manager_get_system(manager), reterr);
        if (r < 0)
                return r;

        unit = g_new(SandboxUnit, 1);
        *unit = (SandboxUnit){
                .n_ref = 1,
                .manager = unit_manager_ref(manager),
                .spec = sandbox_spec_copy(spec),
                .fd = steal_fd(&taken),
                .events = events,
                .userdata = userdata,
                .path = unit_name_to_path(spec->unit),
        };
        unit_manager_follow(manager, on_manager_changed, unit);

        r = unit_set_timer(unit, &unit->start_timer, HOST_HANDSHAKE_MSEC * MSEC, on_start_timeout);
        if (r < 0) {
                unit_set_ended(unit);
                unit_unref(unit);
                return r;
        }
        unit_request(unit);

        *ret = unit;
        return 0;
}

SandboxUnit *sandbox_unit_free(SandboxUnit *unit) {
        if (!unit)
                return NULL;

        unit->events = NULL;
        if (unit->phase != UNIT_ENDED) {
                if (unit->phase != UNIT_WAITING && !unit_state_is_over(&unit->state)) {
                        unit_send_stop(unit);
                        unit_send_kill(unit);
                }
                unit_set_ended(unit);
        }
        unit_unref(unit);
        return NULL;
}

/* Stopping */

static int on_stop_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) source;
        (void) usec;

        if (unit->phase != UNIT_RUNNING)
                return 0;
        if (!unit->kill_sent) {
                unit_send_kill(unit);
                (void) unit_set_timer(unit, &unit->stop_timer, HOST_KILL_MSEC * MSEC, on_stop_timeout);
                return 0;
        }

        /* systemd still calls it running although everything in it was killed: look for ourselves. */
        unit_over(unit);
        return 0;
}

static int on_cancelled(sd_event_source *source, uint64_t usec, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) source;
        (void) usec;

        unit_fail(unit, UNIT_STAGE_JOB, -ECANCELED, "It was stopped before it started.", NULL);
        return 0;
}

void sandbox_unit_stop(SandboxUnit *unit) {
        assert(unit);

        if (unit->phase == UNIT_ENDED || unit->stop_requested)
                return;

        unit->stop_requested = true;
        if (unit->phase == UNIT_WAITING || unit->phase == UNIT_LOST) {
                (void) unit_set_timer(unit, &unit->start_timer, 1, on_cancelled);
                return;
        }
        unit_send_stop(unit);
        (void) unit_set_timer(unit, &unit->stop_timer, HOST_KILL_MSEC * MSEC, on_stop_timeout);
}

void sandbox_unit_kill(SandboxUnit *unit) {
        assert(unit);

        sandbox_unit_stop(unit);
        if (unit->phase == UNIT_ENDED || unit->phase == UNIT_WAITING || unit->kill_sent)
                return;

        unit_send_kill(unit);
}

const char *sandbox_unit_name(const SandboxUnit *unit) {
        assert(unit);
        return unit->spec->unit;
}

bool sandbox_unit_is_running(const SandboxUnit *unit) {
        assert(unit);
        return unit->phase == UNIT_RUNNING;
}

pid_t sandbox_unit_main_pid(const SandboxUnit *unit) {
        assert(unit);
        return unit->state.main_pid;
}

const char *sandbox_unit_cgroup(const SandboxUnit *unit) {
        assert(unit);
        return unit->cgroup;
}

WallSet sandbox_unit_refused_walls(const SandboxUnit *unit) {
        assert(unit);
        return unit->without;
}

int sandbox_unit_count_refused_tasks(const SandboxUnit *unit, uint64_t *ret) {
        assert(unit);

        return unit->cgroup ? cgroup_count_refused_tasks(unit->cgroup, ret) : -ENODATA;
}

int sandbox_unit_read_usage(const SandboxUnit *unit, CgroupReading *ret) {
        assert(unit);

        return unit->cgroup ? cgroup_read(unit->cgroup, ret) : -ENODATA;
}
