/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <time.h>

#include "common/cleanup.h"
#include "service/rpc-deadline.h"

#define ACCURACY_USEC 10000u

struct RpcClock {
        sd_event *event;
        sd_event_source *timer;
        uint64_t armed_usec; /* UINT64_MAX: not armed */
        RpcDeadline *first;
        RpcDeadlineDue due;
        RpcDeadlinePassed passed;
        void *userdata;
        bool *freed;
};

static uint64_t clock_now(RpcClock *clock) {
        uint64_t now = 0;

        (void) sd_event_now(clock->event, CLOCK_MONOTONIC, &now);
        return now;
}

static void clock_arm(RpcClock *clock, uint64_t due_usec) {
        if (due_usec >= clock->armed_usec)
                return;

        clock->armed_usec = due_usec;
        (void) sd_event_source_set_time(clock->timer, due_usec);
        (void) sd_event_source_set_enabled(clock->timer, SD_EVENT_ONESHOT);
}

static RpcDeadline *clock_find_passed(RpcClock *clock, uint64_t now_usec) {
        for (RpcDeadline *deadline = clock->first; deadline; deadline = deadline->next)
                if (deadline->due_usec <= now_usec)
                        return deadline;

        return NULL;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        RpcClock *clock = userdata;
        RpcDeadline *deadline;
        uint64_t next = UINT64_MAX;
        bool freed = false;

        (void) source;
        clock->armed_usec = UINT64_MAX;
        clock->freed = &freed;
        if (clock_find_passed(clock, MAX(usec, clock_now(clock))))
                clock->due(clock->userdata);
        if (freed)
                return 0;
        while ((deadline = clock_find_passed(clock, MAX(usec, clock_now(clock))))) {
                rpc_clock_remove(clock, deadline);
                clock->passed(deadline, clock->userdata);
                if (freed)
                        return 0;
        }
        clock->freed = NULL;

        for (deadline = clock->first; deadline; deadline = deadline->next)
                next = MIN(next, deadline->due_usec);
        clock_arm(clock, next);
        return 0;
}

int rpc_clock_new(sd_event *event, RpcDeadlineDue due, RpcDeadlinePassed passed, void *userdata, RpcClock **ret) {
        RpcClock *clock = g_new0(RpcClock, 1);
        int r;

        *clock = (RpcClock) {
                .event = sd_event_ref(event), .armed_usec = UINT64_MAX, .due = due, .passed = passed, .userdata = userdata,
        };
        r = sd_event_add_time(event, &clock->timer, CLOCK_MONOTONIC, UINT64_MAX, ACCURACY_USEC, on_timer, clock);
        if (r < 0) {
                rpc_clock_free(clock);
                return r;
        }
        (void) sd_event_source_set_enabled(clock->timer, SD_EVENT_OFF);
        *ret = clock;
        return 0;
}

RpcClock *rpc_clock_free(RpcClock *clock) {
        if (!clock)
                return NULL;

        if (clock->freed)
                *clock->freed = true;
        clock->timer = sd_event_source_disable_unref(clock->timer);
        clock->event = sd_event_unref(clock->event);
        g_free(clock);
        return NULL;
}

void rpc_clock_add(RpcClock *clock, RpcDeadline *deadline, uint64_t msec) {
        *deadline = (RpcDeadline) {
                .next = clock->first, .due_usec = msec ? clock_now(clock) + msec * 1000 : UINT64_MAX, .linked = true,
        };
        if (clock->first)
                clock->first->previous = deadline;
        clock->first = deadline;
        clock_arm(clock, deadline->due_usec);
}

void rpc_clock_remove(RpcClock *clock, RpcDeadline *deadline) {
        if (!deadline->linked)
                return;

        if (deadline->previous)
                deadline->previous->next = deadline->next;
        else
                clock->first = deadline->next;
        if (deadline->next)
                deadline->next->previous = deadline->previous;
        deadline->previous = deadline->next = NULL;
        deadline->linked = false;
}

void rpc_clock_pause(RpcClock *clock, RpcDeadline *deadline) {
        uint64_t now = clock_now(clock);

        if (deadline->paused++ > 0 || deadline->due_usec == UINT64_MAX)
                return;

        /* One that has passed already has something left all the same: nothing left means that it has no end. */
        deadline->left_usec = deadline->due_usec > now ? deadline->due_usec - now : 1;
        deadline->due_usec = UINT64_MAX;
}

void rpc_clock_resume(RpcClock *clock, RpcDeadline *deadline) {
        if (deadline->paused == 0 || --deadline->paused > 0 || deadline->left_usec == 0)
                return;

        deadline->due_usec = clock_now(clock) + deadline->left_usec;
        deadline->left_usec = 0;
        clock_arm(clock, deadline->due_usec);
}
