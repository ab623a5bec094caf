/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "common/cleanup.h"
#include "service/host-process.h"
#include "service/lock-probe.h"

struct LockProbe {
        HostProcess *process;
        bool ready;
        LockProbeDone done;
        void *userdata;
};

static void on_ready(HostProcess *process, void *userdata) {
        LockProbe *probe = userdata;

        probe->ready = true;
        host_process_stop(process, "all of it was seen");
}

static void on_request(HostProcess *process, const WireMethod *method, uint64_t id, Jval params, void *userdata) {
        (void) method;
        (void) id;
        (void) params;
        (void) userdata;
        host_process_kill(process, "a host without an extension has nothing to ask for");
}

static void on_notification(HostProcess *process, const WireMethod *method, Jval params, void *userdata) {
        (void) process;
        (void) method;
        (void) params;
        (void) userdata;
}

static void on_cancelled(HostProcess *process, uint64_t id, void *userdata) {
        (void) process;
        (void) id;
        (void) userdata;
}

static void on_lost(HostProcess *process, void *userdata) {
        (void) process;
        (void) userdata;
}

static void on_ended(HostProcess *process, void *userdata) {
        LockProbe *probe = userdata;

        probe->done(probe->ready ? host_process_lock(process) : NULL, probe->ready ? NULL : host_process_reason(process), probe->userdata);
}

static const HostProcessEvents process_events = {
        .ready = on_ready,
        .request = on_request,
        .notification = on_notification,
        .cancelled = on_cancelled,
        .lost = on_lost,
        .ended = on_ended,
};

LockProbe *lock_probe_new(const HostContext *context, LockProbeDone done, void *userdata) {
        LockProbe *probe = g_new0(LockProbe, 1);

        probe->done = done;
        probe->userdata = userdata;
        probe->process = host_process_new(context, NULL, HOST_TIER_STRIP, (uint64_t) g_get_real_time() / 1000, &process_events, probe);
        return probe;
}

LockProbe *lock_probe_free(LockProbe *probe) {
        if (!probe)
                return NULL;

        host_process_free(probe->process);
        g_free(probe);
        return NULL;
}
