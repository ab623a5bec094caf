/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "service/eraser.h"

#define ERASE_MSEC 20000u
#define LINGER_MSEC 2000u

struct Eraser {
        const HostContext *context;
        PluginSet *set;
        HostProcess *process;
        bool ready;
        PluginJob *job; /* that waits for an answer; NULL when none does */
        char *params;   /* of its request, until it is sent */
        size_t params_size;
        RpcCall *call;
        sd_event_source *linger;
};

static void eraser_start(Eraser *eraser);

/* The answer to the job that waits, if it still does. */
static void eraser_answer(Eraser *eraser, const char *text, size_t size, const char *reason) {
        PluginJob *job = g_steal_pointer(&eraser->job);

        g_clear_pointer(&eraser->params, g_free);
        if (job)
                plugin_job_take_erased(job, text, size, reason);
}

static int on_linger(sd_event_source *source, uint64_t usec, void *userdata) {
        Eraser *eraser = userdata;

        (void) source;
        (void) usec;
        if (eraser->process)
                host_process_stop(eraser->process, "nothing more to erase");
        return 0;
}

static void on_erased(const RpcAnswer *answer, void *userdata) {
        static const ShapeField fields[] = { { .name = "code", .type = SHAPE_STRING }, {} };
        Eraser *eraser = userdata;
        g_autofree char *reason = NULL;
        const char *code;
        size_t size;

        eraser->call = NULL;
        if (eraser->linger)
                (void) sd_event_source_set_time_relative(eraser->linger, LINGER_MSEC * 1000);
        if (answer->outcome != RPC_OUTCOME_RESULT) {
                eraser_answer(eraser, NULL, 0, answer->message);
                return;
        }
        if (shape_check(answer->result, fields, &reason) < 0) {
                eraser_answer(eraser, NULL, 0, reason);
                return;
        }
        code = jval_string(jval_member(answer->result, "code"), &size);
        eraser_answer(eraser, code, size, NULL);
}

static void eraser_send(Eraser *eraser) {
        Rpc *rpc = host_process_rpc(eraser->process);
        int r;

        if (!eraser->params)
                return;
        r = rpc ? rpc_call(rpc, 0, "strip/module", eraser->params, eraser->params_size, ERASE_MSEC, on_erased, eraser, &eraser->call)
                : -ENOTCONN;
        g_clear_pointer(&eraser->params, g_free);
        if (r < 0)
                eraser_answer(eraser, NULL, 0, g_strerror(-r));
        (void) sd_event_source_set_time_relative(eraser->linger, (ERASE_MSEC + LINGER_MSEC) * 1000);
}

static void on_ready(HostProcess *process, void *userdata) {
        Eraser *eraser = userdata;

        (void) process;
        eraser->ready = true;
        eraser_send(eraser);
}

static void on_request(HostProcess *process, const WireMethod *method, uint64_t id, Jval params, void *userdata) {
        (void) method;
        (void) id;
        (void) params;
        (void) userdata;
        host_process_kill(process, "a host that only erases types has nothing to ask for");
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
        Eraser *eraser = userdata;

        (void) process;
        eraser->ready = false;
}

static void on_ended(HostProcess *process, void *userdata) {
        Eraser *eraser = userdata;
        g_autofree char *reason = g_strdup(host_process_reason(process));
        bool again = host_process_was_stopped(process) && eraser->job && eraser->params;

        eraser->process = host_process_free(eraser->process);
        eraser->linger = sd_event_source_disable_unref(eraser->linger);
        if (again)
                eraser_start(eraser); /* somebody asked just when it was told to go */
        else
                eraser_answer(eraser, NULL, 0, reason);
}

static const HostProcessEvents process_events = {
        .ready = on_ready,
        .request = on_request,
        .notification = on_notification,
        .cancelled = on_cancelled,
        .lost = on_lost,
        .ended = on_ended,
};

static void eraser_start(Eraser *eraser) {
        eraser->ready = false;
        (void) sd_event_add_time_relative(eraser->context->event, &eraser->linger, CLOCK_MONOTONIC,
                                          (HOST_HANDSHAKE_MSEC + ERASE_MSEC) * 1000, 0, on_linger, eraser);
        eraser->process = host_process_new(eraser->context, plugin_job_get_plugin(eraser->job), HOST_TIER_STRIP,
                                           (uint64_t) g_get_real_time() / 1000, &process_events, eraser);
}

static char *strip_params(const char *path, const char *source, size_t size, size_t *ret_size) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "path", path);
        jwriter_key(&writer, "source");
        jwriter_string_n(&writer, source, size);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, ret_size);
}

static void eraser_erase(PluginJob *job, const char *path, const char *source, size_t size, void *userdata) {
        Eraser *eraser = userdata;

        eraser->job = job;
        g_free(eraser->params);
        eraser->params = strip_params(path, source, size, &eraser->params_size);
        if (eraser->linger)
                (void) sd_event_source_set_time_relative(eraser->linger, (ERASE_MSEC + LINGER_MSEC) * 1000);
        if (eraser->process && eraser->ready) {
                eraser_send(eraser);
                return;
        }
        if (eraser->process)
                return;

        eraser_start(eraser);
}

static void eraser_forget(PluginJob *job, void *userdata) {
        Eraser *eraser = userdata;

        if (eraser->job == job)
                eraser->job = NULL;
}

static const PluginEraser plugin_eraser = {
        .erase = eraser_erase,
        .forget = eraser_forget,
};

Eraser *eraser_new(const HostContext *context, PluginSet *set) {
        Eraser *eraser = g_new0(Eraser, 1);

        eraser->context = context;
        eraser->set = set;
        plugin_set_set_eraser(set, &plugin_eraser, eraser);
        return eraser;
}

Eraser *eraser_free(Eraser *eraser) {
        if (!eraser)
                return NULL;

        plugin_set_set_eraser(eraser->set, NULL, NULL);
        sd_event_source_disable_unref(eraser->linger);
        host_process_free(eraser->process);
        g_free(eraser->params);
        g_free(eraser);
        return NULL;
}
