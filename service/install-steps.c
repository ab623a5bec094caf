/* SPDX-License-Identifier: MIT */
/* The jobs that bring bundles and take them away, step by step: fetch what lies elsewhere, do the rest in a worker, and read
 * what came of it as everything else is read. A step sets its successor in job->step. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "service/plugin-job-private.h"
#include "service/plugin-private.h"
#include "service/remote-source.h"

/* Fetching, which goes before the worker when the source lies elsewhere */

static int step_fetched(PluginJob *job) {
        return job->refused ? errors_to_errno(job->error.name) : plugin_job_go_on(job, job->after_fetch);
}

static int fetch(PluginJob *job, const char *source, int (*after)(PluginJob *job)) {
        PluginSet *set = job->set;
        int r;

        job->after_fetch = after;
        if (!set->downloader.begin)
                return errors_set(&job->error, ERROR_NOT_SUPPORTED, "There is nothing here that fetches bundles.");

        job->step = step_fetched;
        job->stage = PLUGIN_STAGE_FETCHING;
        job->fetching = true;
        r = set->downloader.begin(job, source, job->fetch, set->downloader_userdata, &job->error);
        if (r < 0) {
                job->fetching = false;
                return r;
        }
        return PLUGIN_STEP_WAIT;
}

/* @job->first is the source */
static int fetch_first(PluginJob *job, int (*after)(PluginJob *job)) {
        return remote_source_is_one(job->first) ? fetch(job, job->first, after) : plugin_job_go_on(job, after);
}

/* Preview */

static int run_preview(void *data, GString *ret_text, sd_bus_error *reterr) {
        PluginJob *job = data;
        g_autofree char *json = NULL;
        int r = plugin_set_preview_fetched(job->set, job->first, job->archive, &json, reterr);

        if (r >= 0)
                g_string_append(ret_text, json);
        return r;
}

static int step_preview(PluginJob *job) {
        job->step = plugin_job_step_done;
        return plugin_job_work(job, run_preview, job);
}

static int step_begin_preview(PluginJob *job) {
        return fetch_first(job, step_preview);
}

PluginJob *plugin_job_preview(
                PluginSet *set, sd_event *event, const char *source, bool may_fetch, PluginJobDone done, void *userdata) {
        PluginJob *job = plugin_job_new(set, event, NULL, step_begin_preview, done, userdata);

        job->first = g_strdup(source);
        job->fetch = may_fetch;
        return job;
}

/* Install */

static int run_place(void *data, GString *ret_text, sd_bus_error *reterr) {
        PluginJob *job = data;
        g_autofree char *name = NULL, *hash = NULL;
        int r = plugin_set_place(job->set, job->first, job->archive, job->second, &name, &hash, reterr);

        if (r >= 0)
                g_string_printf(ret_text, "%s %s", hash, name);
        return r;
}

static int step_find_placed(PluginJob *job) {
        g_auto(GStrv) answer = g_strsplit(job->text, " ", 2);
        Plugin *plugin = NULL;
        int r;

        r = plugin_set_find_placed(job->set, answer[1], answer[0], &plugin, &job->error);
        if (r < 0)
                return r;
        job->plugin = plugin_ref(plugin);
        return PLUGIN_STEP_DONE;
}

static int step_place(PluginJob *job) {
        job->step = plugin_job_step_reload;
        job->after_load = step_find_placed;
        return plugin_job_work(job, run_place, job);
}

static int step_begin_place(PluginJob *job) {
        return fetch_first(job, step_place);
}

PluginJob *plugin_job_install(
                PluginSet *set, sd_event *event, const char *source, const char *expected_hash, bool may_fetch,
                PluginJobDone done, void *userdata) {
        PluginJob *job = plugin_job_new(set, event, NULL, step_begin_place, done, userdata);

        job->first = g_strdup(source);
        job->second = g_strdup(expected_hash);
        job->fetch = may_fetch;
        return job;
}

/* Update: the same under a name that is taken; its reload tells everybody that the bytes are no longer those of the review */

static int run_put(void *data, GString *ret_text, sd_bus_error *reterr) {
        PluginJob *job = data;
        int r = plugin_set_put(job->set, job->plugin, job->archive, job->second, reterr);

        if (r >= 0)
                g_string_assign(ret_text, r > 0 ? "replaced" : "same");
        return r;
}

static int step_put_done(PluginJob *job) {
        job->replaced = strcmp(job->text, "replaced") == 0;
        return job->replaced ? plugin_job_go_on(job, plugin_job_step_reload) : PLUGIN_STEP_DONE;
}

static int step_put(PluginJob *job) {
        job->step = step_put_done;
        return plugin_job_work(job, run_put, job);
}

static int step_begin_update(PluginJob *job) {
        g_autofree char *source = NULL;
        int r;

        if (!job->plugin->found)
                return errors_set(&job->error, ERROR_NO_SUCH_PLUGIN, "%s is not there any more.", job->plugin->id);
        r = plugin_find_remote(job->plugin, &source, &job->error);
        return r < 0 ? r : fetch(job, source, step_put);
}

PluginJob *plugin_job_update(
                PluginSet *set, sd_event *event, Plugin *plugin, const char *expected_hash, bool may_fetch,
                PluginJobDone done, void *userdata) {
        PluginJob *job = plugin_job_new(set, event, plugin, step_begin_update, done, userdata);

        job->second = g_strdup(expected_hash);
        job->fetch = may_fetch;
        return job;
}

/* Uninstall */

static int run_take_away(void *data, GString *ret_text, sd_bus_error *reterr) {
        PluginJob *job = data;

        (void) ret_text;
        return plugin_set_take_away(job->set, job->plugin, reterr);
}

static int step_uninstall(PluginJob *job) {
        int r = plugin_set_check_uninstall(job->set, job->plugin, &job->error);

        if (r < 0)
                return r;
        job->step = plugin_job_step_reload;
        return plugin_job_work(job, run_take_away, job);
}

PluginJob *plugin_job_uninstall(PluginSet *set, sd_event *event, Plugin *plugin, PluginJobDone done, void *userdata) {
        return plugin_job_new(set, event, plugin, step_uninstall, done, userdata);
}
