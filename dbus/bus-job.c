/* SPDX-License-Identifier: MIT */
#include "dbus/bus-job.h"

#include <stdbool.h>
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

int bus_job_new(Face *face, Caller *caller, sd_bus_message *m, BusJob **ret, sd_bus_error *reterr) {
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
        *ret = job;
        return 0;
}

static void bus_job_free(BusJob *job) {
        g_ptr_array_remove_fast(job->server->jobs, job);
        plugin_job_free(job->job);
        reply_free(job->reply);
        g_free(job->path);
        g_free(job);
}

void bus_job_run(BusJob *job, PluginJob *plugin_job) {
        plugin_job_free(job->job);
        job->job = plugin_job;
}

static void fail(BusJob *job, const sd_bus_error *error) {
        bool ours = error && error->name && g_str_has_prefix(error->name, ERROR_PREFIX);

        reply_fail(job->reply, ours ? error->name : ERROR_IO, error ? error->message : NULL);
}

void bus_job_finish_with(BusJob *job, int r, const sd_bus_error *error, sd_bus_message *answer) {
        if (r < 0)
                fail(job, error);
        else
                reply_send(job->reply, answer);
        bus_job_free(job);
}

void bus_job_finish(BusJob *job, int r, const sd_bus_error *error, const char *json) {
        if (r < 0)
                fail(job, error);
        else if (strlen(json) > BUS_MESSAGE_BYTES_MAX)
                reply_fail(job->reply, ERROR_TOO_LARGE, "The answer is larger than a message may be.");
        else
                reply_text(job->reply, json);
        bus_job_free(job);
}

void bus_jobs_drop(BusServer *server, const Caller *caller) {
        for (size_t i = server->jobs->len; i > 0; i--) {
                BusJob *job = g_ptr_array_index(server->jobs, i - 1);

                if (!caller || reply_get_caller(job->reply) == caller)
                        bus_job_free(job);
        }
}
