/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/unit-internal.h"

/* How often it is looked at while the manager is away and can't tell us of the end. */
#define LOST_POLL_USEC (250 * MSEC)
/* How often a start that survived its manager is looked at, and how long a manager may be away in the middle of one. */
#define START_POLL_USEC (20 * MSEC)
#define START_AWAY_USEC (15000 * MSEC)

static int on_resynced(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        _held_ SandboxUnit *unit = unit_ref(userdata);
        const char *active = NULL;

        (void) reterr;

        unit->call_slot = sd_bus_slot_unref(unit->call_slot);
        if (unit->phase != UNIT_RUNNING || unit_reply_is_lost(reply))
                return 0;
        if (!sd_bus_message_is_method_error(reply, NULL) &&
                        sd_bus_message_read(reply, "v", "s", &active) >= 0)
                unit->state.active = unit_active_from_string(active);
        else
                unit->state.active = UNIT_ACTIVE_INACTIVE;
        if (!unit_state_is_over(&unit->state)) {
                unit->gone_while_lost = false;
                return 0;
        }

        unit_over(unit);
        return 0;
}

static void unit_resync(SandboxUnit *unit) {
        sd_bus *bus = unit_manager_bus(unit->manager);
        int r;

        unit->poll_timer = sd_event_source_disable_unref(unit->poll_timer);
        r = unit_watch(unit, bus);
        if (r >= 0)
                r = sd_bus_call_method_async(bus, &unit->call_slot, unit_manager_destination(unit->manager),
                                unit->path, "org.freedesktop.DBus.Properties", "Get", on_resynced, unit,
                                "ss", "org.freedesktop.systemd1.Unit", "ActiveState");
        if (r < 0)
                unit_over(unit);
}

static int on_lost_poll(sd_event_source *source, uint64_t usec, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) source;
        (void) usec;

        if (unit->phase != UNIT_RUNNING)
                return 0;
        if (!unit->cgroup || cgroup_count_processes(unit->cgroup) == 0)
                unit_over(unit);
        else
                (void) unit_set_timer(unit, &unit->poll_timer, LOST_POLL_USEC, on_lost_poll);
        return 0;
}

/* ---- a manager that is executed anew in the middle of a start ---- */

static void unit_ask_start(SandboxUnit *unit);

static int on_start_poll(sd_event_source *source, uint64_t usec, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) source;
        (void) usec;

        if (unit->phase == UNIT_LOST && unit_manager_bus(unit->manager))
                unit_ask_start(unit);
        return 0;
}

/* Is it there, and is its job? */
static UnitActive read_start(sd_bus_message *reply) {
        const char *name, *description, *load, *active, *sub, *following, *path, *job_type, *job_path;
        uint32_t job = 0;

        if (sd_bus_message_is_method_error(reply, NULL) ||
                        sd_bus_message_read(reply, "a(ssssssouso)", 1, &name, &description, &load, &active, &sub, &following, &path,
                                        &job, &job_type, &job_path) < 0)
                return UNIT_ACTIVE_INACTIVE;
        return job > 0 ? UNIT_ACTIVE_ACTIVATING : unit_active_from_string(active);
}

/* Requested again only when we still hold what it is to be given, which is as long as no answer came to the first request. */
static int on_start_asked(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) reterr;

        unit->call_slot = sd_bus_slot_unref(unit->call_slot);
        if (unit->phase != UNIT_LOST || unit_reply_is_lost(reply))
                return 0;
        unit->state.active = read_start(reply);
        if (unit->state.active == UNIT_ACTIVE_ACTIVATING)
                (void) unit_set_timer(unit, &unit->poll_timer, START_POLL_USEC, on_start_poll);
        else if (!unit_state_is_over(&unit->state))
                unit_place(unit);
        else if (unit->fd >= 0)
                unit_request(unit);
        else
                unit_fail(unit, UNIT_STAGE_REQUEST, -ECONNRESET, "systemd's manager went away during the start.", NULL);
        return 0;
}

static void unit_ask_start(SandboxUnit *unit) {
        sd_bus *bus = unit_manager_bus(unit->manager);
        int r;

        r = sd_bus_call_method_async(bus, &unit->call_slot, unit_manager_destination(unit->manager), "/org/freedesktop/systemd1",
                        "org.freedesktop.systemd1.Manager", "ListUnitsByNames", on_start_asked, unit, "as", 1, unit->spec->unit);
        if (r < 0)
                unit_fail(unit, UNIT_STAGE_REQUEST, r, "systemd's manager can't be asked what became of the start.", NULL);
}

static int on_away(sd_event_source *source, uint64_t usec, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) source;
        (void) usec;

        unit_fail(unit, UNIT_STAGE_REQUEST, -ECONNRESET, "systemd's manager went away during the start.", NULL);
        return 0;
}

static void unit_lose_start(SandboxUnit *unit) {
        if (unit->stop_requested) {
                unit_fail(unit, UNIT_STAGE_JOB, -ECANCELED, "It was stopped while it started.", NULL);
                return;
        }
        unit->phase = UNIT_LOST;
        (void) unit_set_timer(unit, &unit->start_timer, START_AWAY_USEC, on_away);
}

static void unit_find_start(SandboxUnit *unit) {
        int r = unit_watch(unit, unit_manager_bus(unit->manager));

        (void) unit_set_timer(unit, &unit->start_timer, HOST_HANDSHAKE_MSEC * MSEC, on_start_timeout);
        if (r >= 0)
                unit_ask_start(unit);
        else
                unit_fail(unit, UNIT_STAGE_REQUEST, r, "systemd's manager does not let us watch units.", NULL);
}

void on_manager_changed(UnitManager *manager, bool ready, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) manager;

        if (ready) {
                if (unit->phase == UNIT_WAITING)
                        unit_request(unit);
                else if (unit->phase == UNIT_LOST)
                        unit_find_start(unit);
                else if (unit->phase == UNIT_RUNNING)
                        unit_resync(unit);
                return;
        }

        unit->call_slot = sd_bus_slot_unref(unit->call_slot);
        switch (unit->phase) {
        case UNIT_REQUESTED:
        case UNIT_QUEUED:
                unit_lose_start(unit);
                break;
        case UNIT_LOST: /* and again */
                (void) unit_set_timer(unit, &unit->start_timer, START_AWAY_USEC, on_away);
                break;
        case UNIT_PLACING:
                unit_started(unit);
                if (unit->phase != UNIT_RUNNING)
                        break;
                G_GNUC_FALLTHROUGH;
        case UNIT_RUNNING:
                unit->gone_while_lost = true;
                (void) unit_set_timer(unit, &unit->poll_timer, LOST_POLL_USEC, on_lost_poll);
                break;
        default:
                break;
        }
}
