/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "common/cleanup.h"
#include "sandbox/explain.h"
#include "sandbox/lifeline.h"
#include "sandbox/unit-internal.h"

void unit_started(SandboxUnit *unit) {
        unit->phase = UNIT_RUNNING;
        unit->start_timer = sd_event_source_disable_unref(unit->start_timer);
        if (unit->cgroup)
                (void) cgroup_read(unit->cgroup, &unit->limits);
        if (unit->events)
                unit->events->started(unit, unit->userdata);
        if (unit->phase == UNIT_RUNNING && unit_state_is_over(&unit->state))
                unit_over(unit);
}

static int on_cgroup(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        _held_ SandboxUnit *unit = unit_ref(userdata);
        const char *path = NULL;

        (void) reterr;

        unit->call_slot = sd_bus_slot_unref(unit->call_slot);
        if (!sd_bus_message_is_method_error(reply, NULL) &&
                        sd_bus_message_read(reply, "v", "s", &path) >= 0 && *path) {
                g_free(unit->cgroup);
                unit->cgroup = g_strdup(path);
        }
        if (unit->phase == UNIT_PLACING)
                unit_started(unit);
        return 0;
}

/* The control group is asked for once: it tells what is enforced, and later whether anything is left. */
void unit_place(SandboxUnit *unit) {
        sd_bus *bus = unit_manager_bus(unit->manager);
        int r = -ENOTCONN;

        unit->phase = UNIT_PLACING;
        if (bus)
                r = sd_bus_call_method_async(bus, &unit->call_slot, unit_manager_destination(unit->manager),
                                unit->path, "org.freedesktop.DBus.Properties", "Get", on_cgroup, unit, "ss",
                                "org.freedesktop.systemd1.Service", "ControlGroup");
        if (r < 0)
                unit_started(unit);
}

static void unit_job_failed(SandboxUnit *unit, const char *result) {
        g_autofree char *cause = NULL;
        bool exited = unit->state.main_code == CLD_EXITED;

        if (exited && explain_is_setup_status(unit->state.main_status)) {
                cause = explain_setup(unit->state.main_status, unit_manager_get_system(unit->manager));
                unit_fail(unit, UNIT_STAGE_SETUP, -EPERM, cause, NULL);
                return;
        }
        if (unit->stop_requested)
                cause = g_strdup("It was stopped while it started.");
        else if (g_str_equal(unit->state.result, "resources"))
                cause = g_strdup("The sandbox could not be set up: systemd is out of resources.");
        else
                cause = g_strdup_printf("Its start job ended as \"%s\" (%s).", result, unit->state.result);
        unit_fail(unit, unit->stop_requested ? UNIT_STAGE_JOB : UNIT_STAGE_SETUP,
                        unit->stop_requested ? -ECANCELED : -EIO, cause, NULL);
}

static int on_job_removed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        _held_ SandboxUnit *unit = unit_ref(userdata);
        const char *job = NULL, *name = NULL, *result = NULL;
        uint32_t id;

        (void) reterr;

        if (unit->phase != UNIT_QUEUED || sd_bus_message_read(m, "uoss", &id, &job, &name, &result) < 0 ||
                        !g_str_equal(job, unit->job))
                return 0;

        if (g_str_equal(result, "done"))
                unit_place(unit);
        else
                unit_job_failed(unit, result);
        return 0;
}

static int on_properties(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) reterr;

        if (unit_state_read(&unit->state, m) < 0 || unit->phase != UNIT_RUNNING)
                return 0;

        if (unit_state_is_over(&unit->state))
                unit_over(unit);
        else if (unit->state.active == UNIT_ACTIVE_DEACTIVATING && !unit->stop_requested &&
                        !unit->kill_sent && unit->state.main_code != 0)
                /* The main process is gone by itself; what it left behind has nothing more to do. */
                unit_send_kill(unit);
        return 0;
}

/* A match that can't be made would leave us deaf. */
static int on_matched(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        _held_ SandboxUnit *unit = unit_ref(userdata);
        const sd_bus_error *error = sd_bus_message_get_error(reply);

        (void) reterr;

        if (error && !unit_reply_is_lost(reply))
                unit_fail(unit, UNIT_STAGE_REQUEST, -EIO, "The bus does not let us watch units.", NULL);
        return 0;
}

int unit_watch(SandboxUnit *unit, sd_bus *bus) {
        const char *sender = unit_manager_destination(unit->manager);
        int r;

        unit->job_slot = sd_bus_slot_unref(unit->job_slot);
        unit->properties_slot = sd_bus_slot_unref(unit->properties_slot);

        /* Not narrowed down to our unit's name: buses and sd-bus disagree on backslashes in a match. */
        r = sd_bus_match_signal_async(bus, &unit->job_slot, sender, "/org/freedesktop/systemd1",
                        "org.freedesktop.systemd1.Manager", "JobRemoved", on_job_removed, on_matched, unit);
        if (r < 0)
                return r;

        return sd_bus_match_signal_async(bus, &unit->properties_slot, sender, unit->path,
                        "org.freedesktop.DBus.Properties", "PropertiesChanged", on_properties, on_matched,
                        unit);
}

/* Return: whether the request was sent once more, with one optional property less. */
static bool unit_retry_without(SandboxUnit *unit, int row) {
        size_t n;
        const Wall *walls = walls_get(&n);

        if (walls[row].security || wall_set_has(&unit->without, (size_t) row))
                return false;

        /* All rows of this property, as the manager knows none of them. */
        for (size_t i = 0; i < n; i++)
                if (g_str_equal(walls[i].property, walls[row].property))
                        wall_set_add(&unit->without, i);
        unit_request(unit);
        return true;
}

static void unit_refused(SandboxUnit *unit, const sd_bus_error *error) {
        const char *message = error->message ? error->message : error->name;
        g_autofree char *cause = NULL;
        const char *property = NULL;
        size_t n;
        int row = walls_find_refused(message);

        if (row >= 0 && unit_retry_without(unit, row))
                return;
        if (row >= 0)
                property = walls_get(&n)[row].property;

        cause = property ? g_strdup_printf("systemd's manager can't set up the wall %s=: %s", property,
                                           message)
                         : g_strdup_printf("systemd's manager refused the unit: %s", message);
        unit_fail(unit, UNIT_STAGE_REQUEST, -EOPNOTSUPP, cause, property);
}

static int on_requested(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        _held_ SandboxUnit *unit = unit_ref(userdata);
        const char *job = NULL;

        (void) reterr;

        unit->call_slot = sd_bus_slot_unref(unit->call_slot);
        if (unit->phase != UNIT_REQUESTED || unit_reply_is_lost(reply))
                return 0;
        if (sd_bus_message_is_method_error(reply, NULL)) {
                unit_refused(unit, sd_bus_message_get_error(reply));
                return 0;
        }
        if (sd_bus_message_read(reply, "o", &job) < 0) {
                unit_fail(unit, UNIT_STAGE_REQUEST, -EBADMSG, "systemd's manager answered nonsense.", NULL);
                return 0;
        }

        g_free(unit->job);
        unit->job = g_strdup(job);
        unit->phase = UNIT_QUEUED;
        unit->state.active = UNIT_ACTIVE_UNKNOWN; /* whatever was said of an earlier one */
        close_fd(&unit->fd); /* the unit has its own */
        if (unit->stop_requested)
                unit_send_stop(unit);
        return 0;
}

/* Asked for on the same connection, so that it is there when our request is read. */
static int unit_bind(SandboxUnit *unit, sd_bus *bus) {
        const char *to = NULL;
        int r;

        if (!unit->spec->lifeline)
                return 0;
        r = lifeline_hold(unit->spec->lifeline, bus, &to);
        if (r < 0)
                return r;

        g_free((char *) unit->spec->binds_to);
        unit->spec->binds_to = g_strdup(to);
        return 0;
}

static int unit_send_request(SandboxUnit *unit, sd_bus *bus) {
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = unit_watch(unit, bus);
        if (r >= 0)
                r = unit_bind(unit, bus);
        if (r < 0)
                return r;
        r = sd_bus_message_new_method_call(bus, &m, unit_manager_destination(unit->manager),
                        "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                        "StartTransientUnit");
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "ss", unit->spec->unit, "fail");
        if (r < 0)
                return r;
        r = sandbox_spec_append(unit->spec, m, unit->fd, &unit->without);
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "a(sa(sv))", 0);
        if (r < 0)
                return r;

        return sd_bus_call_async(bus, &unit->call_slot, m, on_requested, unit, 0);
}

static int on_request_failed(sd_event_source *source, uint64_t usec, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) source;
        (void) usec;

        unit_fail(unit, UNIT_STAGE_REQUEST, -EIO,
                        "The start request could not be sent to systemd's manager.", NULL);
        return 0;
}

void unit_request(SandboxUnit *unit) {
        sd_bus *bus = unit_manager_bus(unit->manager);
        int r;

        unit->phase = UNIT_WAITING;
        if (!bus)
                return;

        r = unit_send_request(unit, bus);
        if (r >= 0)
                unit->phase = UNIT_REQUESTED;
        else /* from the loop, because this may be within sandbox_unit_start() */
                (void) unit_set_timer(unit, &unit->start_timer, 1, on_request_failed);
}

int on_start_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) source;
        (void) usec;

        unit_fail(unit, UNIT_STAGE_REQUEST, -ETIMEDOUT,
                        unit->phase == UNIT_WAITING ? "There is no connection to systemd's manager."
                                                    : "systemd's manager did not start the unit in time.",
                        NULL);
        return 0;
}
