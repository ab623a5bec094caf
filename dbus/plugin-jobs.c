/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "dbus/act-record.h"
#include "dbus/bundle-validation.h"
#include "dbus/bus-job.h"
#include "dbus/options.h"
#include "dbus/plugin-jobs.h"
#include "dbus/server.h"

typedef struct JobOptions {
        const char *handle_token;
        int diff;
        int allow_network;
        const char *expected_content_hash;
} JobOptions;

/* ---- looking ---- */

static void on_validated(PluginJob *plugin_job, int r, const sd_bus_error *error, void *userdata) {
        g_auto(sd_bus_error) refusal = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;
        BusJob *job = userdata;

        r = bundle_validation_make(job->path, r, error, plugin_job_get_text(plugin_job), &json, &refusal);
        bus_job_finish(job, r, &refusal, json);
}

int plugin_jobs_validate(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const char *path;
        BusJob *job;
        int r;

        r = message_read(m, reterr, "s", &path);
        if (r < 0)
                return r;
        if (path[0] != '/')
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The path of a folder to check must be absolute.");

        r = bus_job_new(face, caller, m, NULL, &job, reterr);
        if (r < 0)
                return r;

        job->path = g_strdup(path);
        bus_job_run(job, plugin_job_preview(face->service->plugins, face->service->event, path, false, on_validated, job));
        return 1;
}

static void on_previewed(PluginJob *plugin_job, int r, const sd_bus_error *error, void *userdata) {
        bus_job_finish(userdata, r, error, plugin_job_get_text(plugin_job));
}

int plugin_jobs_preview(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        static const Option known[] = {
                OPTION("allow-network", 'b', JobOptions, allow_network),
                OPTION("handle-token", 's', JobOptions, handle_token),
        };
        JobOptions options = {};
        const char *source;
        BusJob *job;
        int r;

        r = message_read(m, reterr, "s", &source);
        if (r >= 0)
                r = options_read(m, known, G_N_ELEMENTS(known), &options, reterr);
        if (r >= 0)
                r = bus_job_new(face, caller, m, options.handle_token, &job, reterr);
        if (r < 0)
                return r;

        bus_job_run(job, plugin_job_preview(face->service->plugins, face->service->event, source, options.allow_network,
                                         on_previewed, job));
        return 1;
}

/* For the largest bundles a list of all files is more than a message may be; then it goes without. */
static void on_reviewed(PluginJob *plugin_job, int r, const sd_bus_error *error, void *userdata) {
        const char *json = plugin_job_get_text(plugin_job);
        BusJob *job = userdata;

        if (r >= 0 && strlen(json) > BUS_MESSAGE_BYTES_MAX && job->flags != 0) {
                Service *service = job->server->service;

                job->flags = 0;
                bus_job_run(job, plugin_job_review(service->plugins, service->event, plugin_job_get_plugin(plugin_job), 0,
                                                on_reviewed, job));
                return;
        }
        bus_job_finish(job, r, error, json);
}

int plugin_jobs_review(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        static const Option known[] = {
                OPTION("diff", 'b', JobOptions, diff),
                OPTION("handle-token", 's', JobOptions, handle_token),
        };
        JobOptions options = {};
        const char *word;
        Plugin *plugin;
        BusJob *job;
        int r;

        r = message_read(m, reterr, "s", &word);
        if (r >= 0)
                r = face_find_plugin(face, word, &plugin, reterr);
        if (r >= 0)
                r = options_read(m, known, G_N_ELEMENTS(known), &options, reterr);
        if (r >= 0)
                r = bus_job_new(face, caller, m, options.handle_token, &job, reterr);
        if (r < 0)
                return r;

        job->flags = REVIEW_FILES | (options.diff ? REVIEW_DIFF_LINES : 0);
        bus_job_run(job, plugin_job_review(
                                         face->service->plugins, face->service->event, plugin, job->flags, on_reviewed, job));
        return 1;
}

/* ---- bringing ---- */

static const Option install_options[] = {
        OPTION("expected-content-hash", 's', JobOptions, expected_content_hash),
        OPTION("allow-network", 'b', JobOptions, allow_network),
        OPTION("handle-token", 's', JobOptions, handle_token),
};

/* @update: NULL after an install; else whether other bytes came */
static char *describe_installed(const Plugin *plugin, const bool *update) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "id", plugin_get_id(plugin));
        jwriter_member_string(&writer, "name", plugin_get_name(plugin));
        jwriter_member_string(&writer, "version", plugin_get_version(plugin));
        jwriter_member_string(&writer, "content_hash", plugin_get_content_hash(plugin));
        jwriter_member_string(&writer, "capability_hash", plugin_get_capability_hash(plugin));
        if (update)
                jwriter_member_boolean(&writer, "updated", *update);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

/* Who brought what, for the ledger. */
static void record(const BusJob *job, const char *word, const Plugin *plugin, int r, const sd_bus_error *error) {
        g_autoptr(ActRecord) act = act_record_new(reply_get_caller(job->reply), &(ActSubject) {
                .kind = "trust", .word = word, .plugin = plugin ? plugin_get_id(plugin) : NULL,
        });

        act_record_end(act, job->server->service, r < 0 ? error->name ?: ERROR_IO : NULL, r < 0 ? error->message : NULL);
}

static void on_installed(PluginJob *plugin_job, int r, const sd_bus_error *error, void *userdata) {
        const Plugin *plugin = r < 0 ? NULL : plugin_job_get_plugin(plugin_job);
        g_autofree char *json = plugin ? describe_installed(plugin, NULL) : NULL;

        record(userdata, "installed", plugin, r, error);
        bus_job_finish(userdata, r, error, json);
}

int plugin_jobs_install(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        JobOptions options = {};
        const char *source;
        BusJob *job;
        int r;

        r = message_read(m, reterr, "s", &source);
        if (r >= 0)
                r = options_read(m, install_options, G_N_ELEMENTS(install_options), &options, reterr);
        if (r >= 0)
                r = bus_job_new(face, caller, m, options.handle_token, &job, reterr);
        if (r < 0)
                return r;

        bus_job_run(job, plugin_job_install(face->service->plugins, face->service->event, source,
                                         options.expected_content_hash, options.allow_network, on_installed, job));
        return 1;
}

static void on_updated(PluginJob *plugin_job, int r, const sd_bus_error *error, void *userdata) {
        const Plugin *plugin = plugin_job_get_plugin(plugin_job);
        bool replaced = plugin_job_was_replaced(plugin_job);
        g_autofree char *json = r < 0 ? NULL : describe_installed(plugin, &replaced);

        if (r < 0 || replaced)
                record(userdata, "updated", plugin, r, error);
        bus_job_finish(userdata, r, error, json);
}

int plugin_jobs_update(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        JobOptions options = {};
        const char *word;
        Plugin *plugin;
        BusJob *job;
        int r;

        r = message_read(m, reterr, "s", &word);
        if (r >= 0)
                r = face_find_plugin(face, word, &plugin, reterr);
        if (r >= 0)
                r = options_read(m, install_options, G_N_ELEMENTS(install_options), &options, reterr);
        if (r >= 0)
                r = bus_job_new(face, caller, m, options.handle_token, &job, reterr);
        if (r < 0)
                return r;

        bus_job_run(job, plugin_job_update(face->service->plugins, face->service->event, plugin,
                                         options.expected_content_hash, options.allow_network, on_updated, job));
        return 1;
}
