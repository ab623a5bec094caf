/* SPDX-License-Identifier: MIT */
/* What each kind of job does, step by step. A step sets its successor in job->step. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/plugin-job-private.h"
#include "service/plugin-private.h"

int plugin_job_go_on(PluginJob *job, int (*step)(PluginJob *job)) {
        job->step = step;
        return PLUGIN_STEP_MORE;
}

int plugin_job_step_done(PluginJob *job) {
        (void) job;
        return PLUGIN_STEP_DONE;
}

/* Reload */

static int step_reload(PluginJob *job) {
        int r = plugin_reload_step(job->reload);

        if (r > 0)
                return PLUGIN_STEP_MORE;
        job->reload = plugin_reload_free(job->reload);
        return job->after_load ? plugin_job_go_on(job, job->after_load) : PLUGIN_STEP_DONE;
}

int plugin_job_step_reload(PluginJob *job) {
        if (!job->set->recovered)
                plugin_set_recover(job->set);
        job->set->recovered = true;
        job->stage = PLUGIN_STAGE_READING;
        job->reload = plugin_reload_new(job->set);
        return plugin_job_go_on(job, step_reload);
}

PluginJob *plugin_job_reload(PluginSet *set, sd_event *event, PluginJobDone done, void *userdata) {
        return plugin_job_new(set, event, NULL, plugin_job_step_reload, done, userdata);
}

/* Loading the source of one plugin */

static void end_load(PluginJob *job, int r) {
        PluginChange change = plugin_change_begin(job->plugin);

        plugin_set_take_load(job->set, job->plugin, g_steal_pointer(&job->load), r);
        close_fd(&job->root);
        plugin_change_end(job->set, &change);
        job->n_done = job->total;
}

/* What was known before goes here, and a worker may be started next: each takes a millisecond or more for a large bundle. */
static int step_load(PluginJob *job) {
        int r = bundle_load_step(job->load);

        if (r > 0)
                return PLUGIN_STEP_MORE;
        end_load(job, r);
        job->step = job->after_load;
        return PLUGIN_STEP_LATER;
}

static int begin_load(PluginJob *job, bool fresh, int (*after)(PluginJob *job)) {
        const BundleTree *tree = job->plugin->bundle->tree;

        job->after_load = after;
        job->stage = PLUGIN_STAGE_READING;
        job->total = tree ? tree->n_bytes : 0;
        job->load = plugin_set_begin_load(job->set, job->plugin, fresh, &job->root);
        if (job->load)
                return plugin_job_go_on(job, step_load);
        end_load(job, -ENOENT);
        return plugin_job_go_on(job, after);
}

static int check_loaded(PluginJob *job) {
        if (!job->plugin->found)
                return errors_set(&job->error, ERROR_NO_SUCH_PLUGIN, "%s is not there any more.", job->plugin->id);
        if (job->plugin->stale)
                return errors_set(&job->error, ERROR_INVALID_BUNDLE, "%s can't be loaded any more; reload and see.",
                                job->plugin->root_display);
        return 0;
}

/* Hashing the sealed copy that a receipt names; the set keeps the result for whoever asks next */

static int step_hash_copy(PluginJob *job) {
        int r = staged_load_step(job->staged_load);

        if (r > 0)
                return PLUGIN_STEP_MORE;
        if (r == 0) {
                g_autoptr(StagedCopy) copy = staged_load_steal(job->staged_load);

                plugin_set_keep_copy(job->set, copy);
        }
        job->staged_load = staged_load_free(job->staged_load);
        return plugin_job_go_on(job, job->after_load);
}

static int begin_hash_copy(PluginJob *job, const TrustReceipt *receipt, int (*after)(PluginJob *job)) {
        StagedCopy *known;

        job->after_load = after;
        if (!receipt)
                return plugin_job_go_on(job, after);
        known = plugin_set_find_copy(job->set, job->plugin->id, receipt);
        if (known && staged_copy_is_unchanged(known))
                return plugin_job_go_on(job, after);
        if (staged_load_new(job->set->home, job->plugin->id, receipt, known, &job->staged_load) < 0)
                return plugin_job_go_on(job, after); /* what that means is said when the plugin gets its state */
        job->stage = PLUGIN_STAGE_READING;
        job->total = job->plugin->bundle->tree ? job->plugin->bundle->tree->n_bytes : 0;
        return plugin_job_go_on(job, step_hash_copy);
}

/* Review */

static int run_review(void *data, GString *ret_text, sd_bus_error *reterr) {
        PluginJob *job = data;
        g_autofree char *json = plugin_set_write_review(job->set, job->plugin, job->flags);

        (void) reterr;
        g_string_append(ret_text, json);
        return 0;
}

static int step_write_review(PluginJob *job) {
        int r = check_loaded(job);

        if (r < 0)
                return r;
        job->step = plugin_job_step_done;
        return plugin_job_work(job, run_review, job);
}

static int step_begin_review(PluginJob *job) {
        (void) plugin_set_sync_state(job->set, NULL);
        return begin_load(job, true, step_write_review);
}

PluginJob *plugin_job_review(
                PluginSet *set, sd_event *event, Plugin *plugin, ReviewFlags flags, PluginJobDone done, void *userdata) {
        PluginJob *job = plugin_job_new(set, event, plugin, step_begin_review, done, userdata);

        job->flags = flags;
        return job;
}

/* Trust */

static int step_store_trust(PluginJob *job) {
        int r = plugin_set_end_trust(job->set, job->plugin, job->receipt, &job->error);

        if (r >= 0)
                plugin_set_tidy(job->set);
        return r;
}

static int step_check_copy(PluginJob *job) {
        return begin_hash_copy(job, job->receipt, step_store_trust);
}

static StagingErased *list_erased(PluginJob *job) {
        StagingErased *list = g_new0(StagingErased, job->erased->len + 1);

        for (size_t i = 0; i < job->erased->len; i++) {
                const PluginErased *erased = g_ptr_array_index(job->erased, i);

                list[i] = (StagingErased) { .path = erased->path, .text = erased->text, .size = erased->size };
        }
        return list;
}

static int run_stage(void *data, GString *ret_text, sd_bus_error *reterr) {
        PluginJob *job = data;
        g_autofree StagingErased *list = list_erased(job);

        (void) ret_text;
        return plugin_set_stage(job->set, job->plugin, list, job->erased->len, job->receipt, reterr);
}

static int step_stage(PluginJob *job) {
        g_autofree StagingErased *list = list_erased(job);

        staging_note_erased(job->receipt, list, job->erased->len);
        job->step = step_check_copy;
        return plugin_job_work(job, run_stage, job);
}

/* The reviewed bytes of a module; what the disk holds now must still be those. */
static int read_module(PluginJob *job, const BundleNode *node, char **ret_text, size_t *ret_size) {
        _cleanup_close_ int root = safe_open_directory(job->plugin->root);
        g_autofree char *text = NULL, *sha256 = NULL;
        size_t size = 0;

        if (root < 0 || safe_read_at(root, node->path, BUNDLE_BYTES_MAX, &text, &size) < 0)
                return errors_set(&job->error, ERROR_CONTENT_CHANGED, "%s can't be read any more.", node->path);
        sha256 = sha256_hex(text, size);
        if (strcmp(sha256, node->sha256) != 0)
                return errors_set(&job->error, ERROR_CONTENT_CHANGED, "%s changed; review it again.", node->path);

        *ret_text = g_steal_pointer(&text);
        *ret_size = size;
        return 0;
}

static int ask_eraser(PluginJob *job, const BundleNode *node) {
        g_autofree char *text = NULL;
        size_t size = 0;
        int r = read_module(job, node, &text, &size);

        if (r < 0)
                return r;
        job->asked = true;
        job->asked_path = node->path;
        job->set->eraser.erase(job, node->path, text, size, job->set->eraser_userdata);
        return job->asked ? PLUGIN_STEP_WAIT : PLUGIN_STEP_MORE; /* it may have answered at once */
}

static int step_erase(PluginJob *job) {
        if (job->refused)
                return errors_to_errno(job->error.name);
        while (job->set->eraser.erase && job->next_node < job->tree->nodes->len) {
                const BundleNode *node = g_ptr_array_index(job->tree->nodes, job->next_node++);

                if (!node->directory && g_str_has_suffix(node->path, ".mts"))
                        return ask_eraser(job, node);
        }
        return plugin_job_go_on(job, step_stage);
}

static int step_check_token(PluginJob *job) {
        bool reuse = false;
        int r;

        r = plugin_set_begin_trust(job->set, job->plugin, job->first, job->second, &job->receipt, &reuse, &job->error);
        if (r < 0)
                return r;
        job->tree = bundle_tree_ref(job->plugin->bundle->tree);
        return plugin_job_go_on(job, reuse ? step_store_trust : step_erase);
}

static int step_begin_trust(PluginJob *job) {
        int r = plugin_set_sync_state(job->set, &job->error);

        if (r < 0)
                return r;
        if (!job->plugin->found)
                return check_loaded(job);
        return begin_load(job, true, step_check_token);
}

PluginJob *plugin_job_trust(
                PluginSet *set, sd_event *event, Plugin *plugin, const char *token, const char *confirmed_by,
                PluginJobDone done, void *userdata) {
        PluginJob *job = plugin_job_new(set, event, plugin, step_begin_trust, done, userdata);

        job->first = g_strdup(token);
        job->second = g_strdup(confirmed_by);
        return job;
}

/* Enable and verify: look again where something moved, then decide on what is known */

static int step_enable(PluginJob *job) {
        return plugin_set_enable(job->set, job->plugin, &job->error);
}

static int step_verify(PluginJob *job) {
        return plugin_set_verify(job->set, job->plugin, job->generation, &job->error);
}

static int step_look_at_copy(PluginJob *job) {
        return begin_hash_copy(job, job->plugin->record->trust, job->generation > 0 ? step_verify : step_enable);
}

static int step_look_again(PluginJob *job) {
        int r = plugin_set_sync_state(job->set, &job->error);

        if (r < 0)
                return r;
        if (plugin_is_unchanged(job->plugin))
                return step_look_at_copy(job);
        return begin_load(job, false, step_look_at_copy);
}

PluginJob *plugin_job_enable(PluginSet *set, sd_event *event, Plugin *plugin, PluginJobDone done, void *userdata) {
        return plugin_job_new(set, event, plugin, step_look_again, done, userdata);
}

PluginJob *plugin_job_verify(
                PluginSet *set, sd_event *event, Plugin *plugin, uint64_t generation, PluginJobDone done, void *userdata) {
        PluginJob *job = plugin_job_new(set, event, plugin, step_look_again, done, userdata);

        assert(generation > 0);
        job->generation = generation;
        return job;
}
