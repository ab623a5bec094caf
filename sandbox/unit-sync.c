/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/cleanup.h"
#include "sandbox/unit-internal.h"

/* How often it is looked at while the manager is away and can't tell us of the end. */
#define LOST_POLL_USEC (250 * MSEC)
static int on_resynced(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        _held_ SandboxUnit *unit = unit_ref(userdata);
        const char *active = NULL;

        (void) reterr;

        unit->call_slot = sd_bus_slot_unref(unit->call_slot);
        if (unit->phase != UNIT_RUNNING)
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

void on_manager_changed(UnitManager *manager, bool ready, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) manager;

        if (ready) {
                if (unit->phase == UNIT_WAITING)
                        unit_request(unit);
                else if (unit->phase == UNIT_RUNNING)
                        unit_resync(unit);
                return;
        }

        unit->call_slot = sd_bus_slot_unref(unit->call_slot);
        switch (unit->phase) {
        case UNIT_REQUESTED:
        case UNIT_QUEUED:
                unit_fail(unit, UNIT_STAGE_REQUEST, -ECONNRESET,
                                "systemd's manager went away during the start.", NULL);
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
