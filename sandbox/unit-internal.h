/* SPDX-License-Identifier: MIT */
#pragma once

/* What the files of a unit share: unit.c (the object, stopping), unit-start.c (request, job, place),
 * unit-end.c (how it ended, and is anything left), unit-sync.c (the manager's connection comes and goes).
 * Not for other modules. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "sandbox/unit-state.h"
#include "sandbox/unit.h"

#define MSEC UINT64_C(1000) /* in microseconds */

typedef enum UnitPhase {
        UNIT_WAITING,   /* the manager is not ready yet              -> REQUESTED, ENDED           */
        UNIT_REQUESTED, /* StartTransientUnit was sent               -> QUEUED, LOST, ENDED        */
        UNIT_QUEUED,    /* the start job exists                      -> PLACING, LOST, ENDED       */
        UNIT_LOST,      /* the manager went away; did it start it?   -> REQUESTED, PLACING, ENDED  */
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

SandboxUnit *unit_ref(SandboxUnit *unit);
void unit_unref(SandboxUnit *unit);

/* Keeps the unit while the function runs: SandboxUnit *unit _held_ = unit_ref(userdata). */
static inline void unref_unit(SandboxUnit **unit) {
        unit_unref(*unit);
}
#define _held_ __attribute__((cleanup(unref_unit), unused))

/** unit_set_ended() - the last phase: nothing of ours hears of the unit any more */
void unit_set_ended(SandboxUnit *unit);

/** unit_set_timer() - (re)start one of the unit's timers */
int unit_set_timer(
                SandboxUnit *unit, sd_event_source **timer, uint64_t usec, sd_event_time_handler_t handler);

/* Messages whose answers tell us nothing that the unit's state does not. */
void unit_send_kill(SandboxUnit *unit);
void unit_send_stop(SandboxUnit *unit);

/**
 * unit_reply_is_lost() - no answer: the connection ended first, and on_manager_changed() says what follows
 *
 * sd-bus makes an error of that, which must not be taken for a word of the manager.
 */
static inline bool unit_reply_is_lost(sd_bus_message *reply) {
        return sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NO_REPLY);
}

/* unit-start.c */

/** unit_watch() - (again) hear of the unit on this connection */
int unit_watch(SandboxUnit *unit, sd_bus *bus);

/** unit_request() - send StartTransientUnit when the manager is ready, else wait for it */
void unit_request(SandboxUnit *unit);

/** unit_started() - it runs: tell the owner */
void unit_started(SandboxUnit *unit);
int on_start_timeout(sd_event_source *source, uint64_t usec, void *userdata);

/* unit-end.c */

/** unit_fail() - it never ran; raises "failed" and may free the unit */
void unit_fail(SandboxUnit *unit, UnitStage stage, int error, const char *cause, const char *property);

/** unit_over() - systemd says that it has ended: raise "stopped" when its control group is empty */
void unit_over(SandboxUnit *unit);

/** unit_place() - its job is done, or it is known to be there: find out where it runs */
void unit_place(SandboxUnit *unit);

/* unit-sync.c */
void on_manager_changed(UnitManager *manager, bool ready, void *userdata);
