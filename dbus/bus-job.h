/* SPDX-License-Identifier: MIT */
#pragma once

/* A job over bundles that a caller waits for: review, preview, install, update, reading a workspace. It runs in slices and
 * workers (plugin-job.h); when its caller leaves, it is taken back. With a handle-token it has a request object, which tells
 * how far it is and ends it. */

#include "dbus/face.h"
#include "dbus/reply.h"
#include "dbus/request-handle.h"
#include "service/plugin-job.h"

typedef struct BusJob {
        BusServer *server;
        Reply *reply;
        PluginJob *job;
        char *path;        /* of a preview: what is looked at */
        ReviewFlags flags; /* of a review: what it was asked to hold */
        RequestHandle *handle; /* NULL: it was given no handle-token */
} BusJob;

/**
 * bus_job_new() - answer @m later
 * @handle_token: NULL, or the last part of the path of its request object
 *
 * Return: 0; ERROR_BUSY over CLIENT_JOBS_MAX or as reply_new(); ERROR_INVALID_OPTION for an unusable token.
 */
int bus_job_new(
                Face *face, Caller *caller, sd_bus_message *m, const char *handle_token, BusJob **ret, sd_bus_error *reterr);

/** bus_job_run() - take over a job that was begun; one that is done before is freed */
void bus_job_run(BusJob *job, PluginJob *plugin_job);

/** bus_job_finish() - answer with @json, or with @error when @r is negative; ends the job */
void bus_job_finish(BusJob *job, int r, const sd_bus_error *error, const char *json);

/** bus_job_finish_with() - the same with a message that was begun with reply_begin(); not for jobs with a request */
void bus_job_finish_with(BusJob *job, int r, const sd_bus_error *error, sd_bus_message *answer);

/** bus_job_cancel() - take it back, and say so */
void bus_job_cancel(BusJob *job);

/** bus_jobs_drop() - take back those of a caller who left, or all */
void bus_jobs_drop(BusServer *server, const Caller *caller);
