/* SPDX-License-Identifier: MIT */
#include "dbus/bus-job.h"

#include <stdbool.h>
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "dbus/bus-request.h"
#include "dbus/paths.h"
#include "dbus/server.h"

static int check_limit(const BusServer *server, const Caller *caller, sd_bus_error *reterr) {
        unsigned n = 0;

        for (size_t i = 0; i < server->jobs->len; i++)
                n += reply_get_caller(((BusJob *) g_ptr_array_index(server->jobs, i))->reply) == caller;

        return n < CLIENT_JOBS_MAX ? 0
                                   : errors_set(reterr, ERROR_BUSY, "This client waits for %u bundles already.", n);
}

BusJob *bus_job_find(const BusServer *server, const char *path) {
        for (size_t i = 0; i < server->jobs->len; i++) {
                BusJob *job = g_ptr_array_index(server->jobs, i);

                if (job->request && strcmp(job->request, path) == 0)
                        return job;
        }
        return NULL;
}

const char *bus_job_get_progress(const BusJob *job, uint64_t *ret_done, uint64_t *ret_total) {
        PluginStage stage = PLUGIN_STAGE_WAITING;

        *ret_done = *ret_total = 0;
        if (job->job)
                stage = plugin_job_get_progress(job->job, ret_done, ret_total);
        return plugin_stage_to_string(stage);
}

static RequestAddress address_of(const BusJob *job) {
        return (RequestAddress) { .bus = job->bus, .destination = job->destination, .path = job->request };
}

/* Says how far it is when that is news. */
static int on_tick(sd_event_source *source, uint64_t usec, void *userdata) {
        BusJob *job = userdata;
        const RequestAddress to = address_of(job);
        uint64_t done = 0, total = 0;
        PluginStage stage = job->job ? plugin_job_get_progress(job->job, &done, &total) : PLUGIN_STAGE_WAITING;

        (void) usec;
        (void) sd_event_source_set_time_relative(source, PROGRESS_SIGNAL_MSEC * 1000);
        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        if (stage == job->told_stage && done == job->told_done && total == job->told_total)
                return 0;
        job->told_stage = stage;
        job->told_done = done;
        job->told_total = total;
        bus_request_tell(&to, plugin_stage_to_string(stage), done, total);
        return 0;
}

static int add_request(BusJob *job, Face *face, Caller *caller, const char *token, sd_bus_error *reterr) {
        g_autofree char *path = NULL;
        int r;

        if (!handle_token_is_valid(token))
                return errors_set(reterr, ERROR_INVALID_OPTION,
                                "Option 'handle-token' is made of 1 to %u letters, digits and underscores.",
                                HANDLE_TOKEN_CHARS_MAX);
        path = path_of_request(caller_get_name(caller), token);
        if (g_hash_table_contains(face->server->requests, path) || bus_job_find(face->server, path))
                return errors_set(reterr, ERROR_INVALID_OPTION, "Handle token '%s' belongs to a call in progress.", token);

        r = sd_event_add_time_relative(face->server->event, &job->ticker, CLOCK_MONOTONIC, PROGRESS_SIGNAL_MSEC * 1000, 0,
                        on_tick, job);
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "No place in the loop: %s.", g_strerror(-r));
        job->request = g_steal_pointer(&path);
        job->bus = sd_bus_ref(face->bus);
        job->destination = face->caller ? NULL : g_strdup(caller_get_name(caller));
        return 0;
}

static void bus_job_free(BusJob *job) {
        g_ptr_array_remove_fast(job->server->jobs, job);
        plugin_job_free(job->job);
        reply_free(job->reply);
        sd_event_source_disable_unref(job->ticker);
        sd_bus_unref(job->bus);
        g_free(job->destination);
        g_free(job->request);
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
                r = add_request(job, face, caller, handle_token, reterr);
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

/* The end as the request object tells it, for those who wait for its signal. */
static void respond(BusJob *job, const InvocationAnswer *answer) {
        const RequestAddress to = address_of(job);

        if (job->request && !caller_is_gone(reply_get_caller(job->reply)))
                bus_request_end(&to, answer);
}

static void fail(BusJob *job, const char *name, const char *message) {
        const InvocationAnswer answer = { .error_name = name, .error_message = message ?: "It failed." };

        respond(job, &answer);
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

                respond(job, &answer);
                reply_text(job->reply, json);
        }
        bus_job_free(job);
}

void bus_job_cancel(BusJob *job) {
        const InvocationAnswer answer = {
                .cancelled = true, .error_name = ERROR_CANCELLED, .error_message = "The caller closed its request.",
        };

        respond(job, &answer);
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
