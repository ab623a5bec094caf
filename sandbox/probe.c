/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "sandbox/channel.h"
#include "sandbox/probe.h"
#include "sandbox/unit.h"

struct SandboxProbe {
        SandboxUnit *unit;
        Channel *channel;
        SandboxReport *report;
        SandboxProbeResult result;
        char *cause;
        sd_event *event;
        uint64_t begin_usec;
        bool unit_ended;
        bool channel_closed;

        void (*done)(SandboxProbe *probe, const SandboxProbeResult *result, void *userdata);
        void *userdata;
};

SandboxProbe *sandbox_probe_free(SandboxProbe *probe) {
        if (!probe)
                return NULL;

        sandbox_unit_free(probe->unit);
        channel_free(probe->channel);
        sandbox_report_free(probe->report);
        sd_event_unref(probe->event);
        g_free(probe->cause);
        g_free(probe);
        return NULL;
}

/* Keeps the first thing that went wrong. */
static void probe_blame(SandboxProbe *probe, int error, const char *cause) {
        if (probe->result.error < 0)
                return;

        probe->result.error = error;
        probe->cause = g_strdup(cause);
}

/* The end of the unit and that of its channel come by different ways; what was written last is still to be
 * read when the unit has ended. May free the probe. */
static void probe_finish(SandboxProbe *probe) {
        if (!probe->unit_ended || !probe->channel_closed)
                return;
        if (!probe->report)
                probe_blame(probe, -EIO, "The launcher ended without a report.");

        probe->result.cause = probe->cause;
        probe->result.report = probe->report;
        probe->done(probe, &probe->result, probe->userdata);
}

static void on_frame(Channel *channel, const uint8_t *payload, size_t size, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        SandboxProbe *probe = userdata;
        uint64_t now = 0;
        int r;

        (void) channel;

        if (probe->report)
                return;
        (void) sd_event_now(probe->event, CLOCK_MONOTONIC, &now);
        probe->result.start_usec = now - probe->begin_usec;
        r = sandbox_report_parse((const char *) payload, size, &probe->report, &error);
        if (r >= 0)
                r = sandbox_report_judge(probe->report, &error);
        if (r < 0)
                probe_blame(probe, r, error.message);
}

static void on_closed(Channel *channel, int error, const char *reason, void *userdata) {
        SandboxProbe *probe = userdata;

        (void) channel;

        if (error < 0)
                probe_blame(probe, error, reason);
        probe->channel_closed = true;
        probe_finish(probe);
}

static const ChannelEvents channel_events = {
        .frame = on_frame,
        .closed = on_closed,
};

/* The launcher waits for our word, so that the group's limits can be read while there is a group. */
static void on_started(SandboxUnit *unit, void *userdata) {
        SandboxProbe *probe = userdata;

        (void) sandbox_unit_read_usage(unit, &probe->result.limits);
        (void) channel_send(probe->channel, LAUNCHER_GO_PAYLOAD, sizeof(LAUNCHER_GO_PAYLOAD) - 1);
}

static void on_failed(SandboxUnit *unit, const UnitFailure *failure, void *userdata) {
        SandboxProbe *probe = userdata;

        probe->result.refused = sandbox_unit_refused_walls(unit);
        probe_blame(probe, failure->error, failure->cause);
        probe->unit_ended = true;
        probe_finish(probe);
}

static void on_stopped(SandboxUnit *unit, const UnitStop *stop, void *userdata) {
        SandboxProbe *probe = userdata;

        probe->result.refused = sandbox_unit_refused_walls(unit);
        if (stop->end != UNIT_END_EXITED || stop->status != 0)
                probe_blame(probe, -EIO, stop->cause);
        probe->unit_ended = true;
        probe->channel_closed = probe->channel_closed || stop->stuck; /* it may never close */
        probe_finish(probe);
}

static const SandboxUnitEvents unit_events = {
        .started = on_started,
        .failed = on_failed,
        .stopped = on_stopped,
};

int sandbox_probe_new(UnitManager *manager, const SandboxSpec *spec,
                void (*done)(SandboxProbe *probe, const SandboxProbeResult *result, void *userdata),
                void *userdata, SandboxProbe **ret, sd_bus_error *reterr) {
        g_autoptr(SandboxProbe) probe = g_new0(SandboxProbe, 1);
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        SandboxSpec bare = *spec;
        int fds[2], r;

        assert(manager);
        assert(done);
        assert(ret);

        bare.probe = true;
        bare.runtime = bare.bundle = NULL;
        bare.arguments = NULL;
        probe->done = done;
        probe->userdata = userdata;
        probe->event = sd_event_ref(unit_manager_event(manager));
        (void) sd_event_now(probe->event, CLOCK_MONOTONIC, &probe->begin_usec);

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        ours = fds[0];
        theirs = fds[1];
        r = channel_new(probe->event, ours, &channel_events, probe, &probe->channel);
        if (r < 0)
                return r;
        (void) steal_fd(&ours);
        r = sandbox_unit_start(manager, &bare, steal_fd(&theirs), &unit_events, probe, &probe->unit, reterr);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&probe);
        return 0;
}
