/* SPDX-License-Identifier: MIT */
#pragma once

/* The deadlines of many calls on one timer. A call that is answered in time costs no system call: the timer stays armed for
 * the earliest deadline that was ever set and looks again when it fires. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct RpcClock RpcClock;

/* Embedded in the call. @due is UINT64_MAX for none. */
typedef struct RpcDeadline {
        struct RpcDeadline *previous, *next;
        uint64_t due_usec;
        uint64_t left_usec; /* while paused */
        unsigned paused;
        bool linked;
} RpcDeadline;

/* Some deadline has passed: look whether what was waited for is there and only was not read yet. May free the clock. */
typedef void (*RpcDeadlineDue)(void *userdata);

/* The deadline is out of the clock when this runs. */
typedef void (*RpcDeadlinePassed)(RpcDeadline *deadline, void *userdata);

int rpc_clock_new(sd_event *event, RpcDeadlineDue due, RpcDeadlinePassed passed, void *userdata, RpcClock **ret);
RpcClock *rpc_clock_free(RpcClock *clock);

/** rpc_clock_add() - let a deadline pass in @msec; 0 for never */
void rpc_clock_add(RpcClock *clock, RpcDeadline *deadline, uint64_t msec);
void rpc_clock_remove(RpcClock *clock, RpcDeadline *deadline);
void rpc_clock_pause(RpcClock *clock, RpcDeadline *deadline);
void rpc_clock_resume(RpcClock *clock, RpcDeadline *deadline);
