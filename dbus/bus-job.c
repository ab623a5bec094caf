/* SPDX-License-Identifier: MIT */
#include "dbus/bus-job.h"

#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "dbus/server.h"

static int check_limit(const BusServer *server, const Caller *caller, sd_bus_error *reterr) {
        unsigned n = 0;

        for (size_t i = 0; i < server->jobs->len; i++)
                n += reply_get_caller(((BusJob *) g_ptr_array_index(server->jobs, i))->reply) == caller;

        return n < CLIENT_JOBS_MAX ? 0
                                   : errors_set(reterr, ERROR_BUSY, "This client waits for %u bundles already.", n);
}

static const char *measure(uint64_t *ret_done, uint64_t *ret_total, void *userdata) {
        const BusJob *job = userdata;

        return plugin_stage_to_string(job->job ? plugin_job_get_progress(job->job, ret_done, ret_total) : PLUGIN_STAGE_WAITING);
}

static bool close_job(void *userdata) {
        bus_job_cancel(userdata);
        return true;
}

static const RequestWork job_work = { .measure = measure, .close = close_job };

static void bus_job_free(BusJob *job) {
        g_ptr_array_remove_fast(job->server->jobs, job);
        plugin_job_free(job->job);
        reply_free(job->reply);
        request_handle_free(job->handle);
        g_free(job->path);
        g_free(job);
}

int bus_job_new(
                Face *face, Caller *caller, sd_bus_message *m, const char *handle_token, BusJob **ret, sd_bus_error *reterr) {
        Reply *reply;
        BusJob *job;
        int r;

        r = check_limit(face->server, caller, reterr);
        if (r >= 0)
                r = reply_new(caller, m, 0, &reply, reterr);
        if (r < 0)
                return r;

        job = g_new0(BusJob, 1);
        job->server = face->server;
        job->reply = reply;
        g_ptr_array_add(face->server->jobs, job);
        if (handle_token) {
                r = request_handle_new(face, caller, handle_token, &job_work, job, &job->handle, reterr);
                if (r < 0) {
                        /* The message itself carries the refusal. */
                        job->reply = reply_withdraw(job->reply);
                        bus_job_free(job);
                        return r;
                }
        }
        *ret = job;
        return 0;
}

void bus_job_run(BusJob *job, PluginJob *plugin_job) {
        plugin_job_free(job->job);
        job->job = plugin_job;
}

static void fail(BusJob *job, const char *name, const char *message) {
        const InvocationAnswer answer = { .error_name = name, .error_message = message ?: "It failed." };

        request_handle_end(job->handle, &answer);
        reply_fail(job->reply, name, message);
}

static void fail_with(BusJob *job, const sd_bus_error *error) {
        bool ours = error && error->name && g_str_has_prefix(error->name, ERROR_PREFIX);

        fail(job, ours ? error->name : ERROR_IO, error ? error->message : NULL);
}

void bus_job_finish_with(BusJob *job, int r, const sd_bus_error *error, sd_bus_message *answer) {
        if (r < 0)
                fail_with(job, error);
        else
                reply_send(job->reply, answer);
        bus_job_free(job);
}

void bus_job_finish(BusJob *job, int r, const sd_bus_error *error, const char *json) {
        if (r < 0)
                fail_with(job, error);
        else if (strlen(json) > BUS_MESSAGE_BYTES_MAX)
                fail(job, ERROR_TOO_LARGE, "The answer is larger than a message may be.");
        else {
                const InvocationAnswer answer = { .result = json, .result_size = strlen(json) };

                request_handle_end(job->handle, &answer);
                reply_text(job->reply, json);
        }
        bus_job_free(job);
}

void bus_job_cancel(BusJob *job) {
        const InvocationAnswer answer = {
                .cancelled = true, .error_name = ERROR_CANCELLED, .error_message = "The caller closed its request.",
        };

        request_handle_end(job->handle, &answer);
        reply_fail(job->reply, answer.error_name, answer.error_message);
        bus_job_free(job);
}

void bus_jobs_drop(BusServer *server, const Caller *caller) {
        for (size_t i = server->jobs->len; i > 0; i--) {
                BusJob *job = g_ptr_array_index(server->jobs, i - 1);

                if (!caller || reply_get_caller(job->reply) == caller)
                        bus_job_free(job);
        }
}
