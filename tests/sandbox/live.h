/* SPDX-License-Identifier: MIT */
#pragma once

/* One sandboxed unit beside a real manager of systemd, for tests: its channel, its events, and a loop to
 * wait in. */

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/channel.h"
#include "sandbox/manager.h"
#include "sandbox/report.h"
#include "sandbox/spec.h"
#include "sandbox/unit.h"

typedef struct Live {
        sd_event *event;
        UnitManager *manager;
        char *directory; /* of this test; removed at its end */
        char *unit_name;
        char *data, *plugin, *bundle, *script;
        char *etc;  /* what becomes its /etc */
        char *root; /* what the sandbox's root is laid over; NULL in spec: over all of the machine's mounts */

        SandboxSpec spec;
        SandboxUnit *unit;
        Channel *channel;
        SandboxReport *report;
        GPtrArray *frames; /* of GBytes, without the report */
        bool hold;         /* don't send launcher/go by itself */

        bool started, failed, stopped, closed;
        UnitFailure failure;
        UnitStop stop;
        char *cause;
        int close_error;
        int64_t start_usec, started_usec, report_usec, frame_usec; /* of the monotonic clock */
} Live;

/** live_is_possible() - whether there is a manager to test with; says so and skips the test when not */
bool live_is_possible(UnitManagerKind kind);

/** live_init() - a specification with directories of its own, ready to be changed */
void live_init(Live *live, UnitManagerKind kind);
void live_done(Live *live);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Live, live_done)

/** live_run_shell() - the runtime becomes sh with this script; in it "send TEXT" writes a frame of at most
 * 255 bytes */
void live_run_shell(Live *live, const char *script);
void live_start(Live *live);

/** live_wait() - run the loop until *flag, at most half a minute */
void live_wait(Live *live, const bool *flag);

/** live_wait_end() - until it stopped, or failed to start: what ends at once may be either to systemd */
void live_wait_end(Live *live);
void live_wait_frames(Live *live, unsigned n);

/** live_frame() - a received frame as text */
const char *live_frame(Live *live, unsigned index);

/** live_launcher() - the built launcher */
const char *live_launcher(void);
