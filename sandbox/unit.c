/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "sandbox/explain.h"
#include "sandbox/unit-name.h"
#include "sandbox/unit-state.h"
#include "sandbox/unit.h"

#define MSEC UINT64_C(1000) /* in microseconds */

/* How often an ended unit's control group is looked at until it is empty. */
#define EMPTY_POLL_USEC (20 * MSEC)

/* How often it is looked at while the manager is away and can't tell us of the end. */
#define LOST_POLL_USEC (250 * MSEC)

typedef enum UnitPhase {
        UNIT_WAITING,   /* the manager is not ready yet              -> REQUESTED, ENDED           */
        UNIT_REQUESTED, /* StartTransientUnit was sent               -> QUEUED, WAITING, ENDED     */
        UNIT_QUEUED,    /* the start job exists                      -> PLACING, ENDED             */
        UNIT_PLACING,   /* the job is done; where does it run?       -> RUNNING                    */
        UNIT_RUNNING,   /* "started" was raised                      -> EMPTYING, ENDED            */
        UNIT_EMPTYING,  /* systemd calls it ended; is anything left? -> ENDED                      */
        UNIT_ENDED,     /* "failed" or "stopped" was raised: the last phase                        */
        _UNIT_PHASE_MAX,
} UnitPhase;

struct SandboxUnit {
        unsigned n_ref; /* the owner's, and one while we work, so that a callback may free the unit */
        UnitManager *manager;
        SandboxSpec *spec;
        int fd;
        const SandboxUnitEvents *events; /* NULL when the owner let go */
        void *userdata;

        UnitPhase phase;
        UnitState state;
        WallSet without; /* optional walls that this manager refused */
        char *path;      /* of the unit's object */
        char *job;
        char *cgroup;
        CgroupReading limits; /* as they were when it started */

        bool stop_requested;
        bool kill_sent;
        bool gone_while_lost;
        unsigned n_left;

        sd_bus_slot *call_slot;
        sd_bus_slot *job_slot;
        sd_bus_slot *properties_slot;
        sd_event_source *start_timer; /* the whole start takes too long */
        sd_event_source *stop_timer;  /* the stop takes too long: kill; then: give up */
        sd_event_source *poll_timer;  /* is the control group empty? */
        uint64_t emptying_since;
};

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

static void unit_unref(SandboxUnit *unit) {
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

static void unref_unit(SandboxUnit **unit) {
        unit_unref(*unit);
}
#define _held_ __attribute__((cleanup(unref_unit), unused))

static SandboxUnit *unit_ref(SandboxUnit *unit) {
        unit->n_ref++;
        return unit;
}

/* The last phase: nothing of ours hears of the unit any more. */
static void unit_set_ended(SandboxUnit *unit) {
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

static int unit_set_timer(
                SandboxUnit *unit, sd_event_source **timer, uint64_t usec, sd_event_time_handler_t handler) {
        *timer = sd_event_source_disable_unref(*timer);
        return sd_event_add_time_relative(unit_manager_event(unit->manager), timer, CLOCK_MONOTONIC, usec,
                        MIN(usec / 10, MSEC), handler, unit);
}

/* Messages whose answers tell us nothing that the unit's state does not. */

static void unit_send_kill(SandboxUnit *unit) {
        sd_bus *bus = unit_manager_bus(unit->manager);

        unit->kill_sent = true;
        if (bus)
                (void) sd_bus_call_method_async(bus, NULL, unit_manager_destination(unit->manager),
                                "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "KillUnit",
                                NULL, NULL, "ssi", unit->spec->unit, "all", (int32_t) SIGKILL);
}

static void unit_send_stop(SandboxUnit *unit) {
        sd_bus *bus = unit_manager_bus(unit->manager);

        if (bus)
                (void) sd_bus_call_method_async(bus, NULL, unit_manager_destination(unit->manager),
                                "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "StopUnit",
                                NULL, NULL, "ss", unit->spec->unit, "replace");
}

static void unit_fail(
                SandboxUnit *unit, UnitStage stage, int error, const char *cause, const char *property) {
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

static void unit_over(SandboxUnit *unit) {
        if (unit->phase == UNIT_EMPTYING || unit->phase == UNIT_ENDED)
                return;

        unit->phase = UNIT_EMPTYING;
        (void) sd_event_now(unit_manager_event(unit->manager), CLOCK_MONOTONIC, &unit->emptying_since);
        unit_check_empty(unit);
}

/* Starting */

static void unit_started(SandboxUnit *unit) {
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
static void unit_place(SandboxUnit *unit) {
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
                cause = explain_setup(unit->state.main_status);
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

        if (error)
                unit_fail(unit, UNIT_STAGE_REQUEST, -EIO, "The bus does not let us watch units.", NULL);
        return 0;
}

static int unit_watch(SandboxUnit *unit, sd_bus *bus) {
        const char *sender = unit_manager_destination(unit->manager);
        g_autofree char *rule = NULL;
        int r;

        unit->job_slot = sd_bus_slot_unref(unit->job_slot);
        unit->properties_slot = sd_bus_slot_unref(unit->properties_slot);

        rule = g_strdup_printf(
                        "type='signal',path='/org/freedesktop/systemd1',"
                        "interface='org.freedesktop.systemd1.Manager',member='JobRemoved',arg2='%s'%s%s%s",
                        unit->spec->unit, sender ? ",sender='" : "", sender ? sender : "",
                        sender ? "'" : "");
        r = sd_bus_add_match_async(bus, &unit->job_slot, rule, on_job_removed, on_matched, unit);
        if (r < 0)
                return r;

        return sd_bus_match_signal_async(bus, &unit->properties_slot, sender, unit->path,
                        "org.freedesktop.DBus.Properties", "PropertiesChanged", on_properties, on_matched,
                        unit);
}

static void unit_request(SandboxUnit *unit);

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
        if (unit->phase != UNIT_REQUESTED)
                return 0;
        if (sd_bus_message_is_method_error(reply, NULL)) {
                unit_refused(unit, sd_bus_message_get_error(reply));
                return 0;
        }
        if (sd_bus_message_read(reply, "o", &job) < 0) {
                unit_fail(unit, UNIT_STAGE_REQUEST, -EBADMSG, "systemd's manager answered nonsense.", NULL);
                return 0;
        }

        unit->job = g_strdup(job);
        unit->phase = UNIT_QUEUED;
        close_fd(&unit->fd); /* the unit has its own */
        if (unit->stop_requested)
                unit_send_stop(unit);
        return 0;
}

static int unit_send_request(SandboxUnit *unit, sd_bus *bus) {
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = unit_watch(unit, bus);
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

static void unit_request(SandboxUnit *unit) {
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

static int on_start_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        _held_ SandboxUnit *unit = unit_ref(userdata);

        (void) source;
        (void) usec;

        unit_fail(unit, UNIT_STAGE_REQUEST, -ETIMEDOUT,
                        unit->phase == UNIT_WAITING ? "There is no connection to systemd's manager."
                                                    : "systemd's manager did not start the unit in time.",
                        NULL);
        return 0;
}

/* The manager's connection comes and goes */

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

static void on_manager_changed(UnitManager *manager, bool ready, void *userdata) {
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
        if (unit->phase == UNIT_WAITING) {
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

int sandbox_unit_read_usage(const SandboxUnit *unit, CgroupReading *ret) {
        assert(unit);

        return unit->cgroup ? cgroup_read(unit->cgroup, ret) : -ENODATA;
}
