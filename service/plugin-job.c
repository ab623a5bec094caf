/* SPDX-License-Identifier: MIT */
/* The machine that runs jobs: a queue, slices of time, one worker. What each kind of job does stands in plugin-steps.c. */
#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "service/plugin-job-private.h"
#include "service/plugin-private.h"

#define SLICE_NSEC INT64_C(2000000)

static int64_t now_nsec(void) {
        struct timespec now;

        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t) now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void wake(PluginJob *job) {
        (void) sd_event_source_set_enabled(job->slices, SD_EVENT_ON);
}

/* The next one's turn */
static void leave_queue(PluginJob *job) {
        GQueue *queue = job->set ? &job->set->jobs : NULL;
        bool was_first = queue && g_queue_peek_head(queue) == job;

        if (queue)
                (void) g_queue_remove(queue, job);
        if (was_first && !g_queue_is_empty(queue))
                wake(g_queue_peek_head(queue));
        job->set = NULL;
}

/* What was fetched was for this job alone. */
static void remove_archive(PluginJob *job) {
        if (job->archive)
                (void) unlink(job->archive);
        g_clear_pointer(&job->archive, g_free);
}

static void finish(PluginJob *job, int r) {
        g_auto(sd_bus_error) error = job->error;

        job->error = SD_BUS_ERROR_NULL;
        if (r < 0 && !sd_bus_error_is_set(&error))
                (void) errors_set(&error, ERROR_IO, "%s", g_strerror(-r));

        job->slices = sd_event_source_disable_unref(job->slices);
        remove_archive(job);
        leave_queue(job);
        job->done(job, r, &error, job->userdata); /* may free it */
}

static int on_slice(sd_event_source *source, void *userdata) {
        PluginJob *job = userdata;
        int64_t end = now_nsec() + SLICE_NSEC;
        int r;

        (void) source;
        do
                r = job->step(job);
        while (r == PLUGIN_STEP_MORE && now_nsec() < end);

        if (r == PLUGIN_STEP_WAIT)
                (void) sd_event_source_set_enabled(job->slices, SD_EVENT_OFF);
        else if (r != PLUGIN_STEP_MORE && r != PLUGIN_STEP_LATER)
                finish(job, r);
        return 0;
}

PluginJob *plugin_job_new(
                PluginSet *set, sd_event *event, Plugin *plugin, int (*step)(PluginJob *job), PluginJobDone done,
                void *userdata) {
        PluginJob *job = g_new0(PluginJob, 1);

        assert(set && event && done);

        job->set = set;
        job->event = sd_event_ref(event);
        job->plugin = plugin ? plugin_ref(plugin) : NULL;
        job->step = step;
        job->done = done;
        job->userdata = userdata;
        job->root = -EBADF;
        job->erased = g_ptr_array_new_with_free_func(plugin_job_erased_free);
        /* Behind everything else: a source that is always due keeps its place before others of its priority for ever, so that
         * slices alone would hold up the whole of a job. */
        if (sd_event_add_defer(event, &job->slices, on_slice, job) < 0 ||
                        sd_event_source_set_priority(job->slices, SD_EVENT_PRIORITY_IDLE) < 0)
                g_error("No event source for a job.");

        g_queue_push_tail(&set->jobs, job);
        if (g_queue_peek_head(&set->jobs) != job)
                (void) sd_event_source_set_enabled(job->slices, SD_EVENT_OFF);
        else
                wake(job);
        return job;
}

PluginJob *plugin_job_free(PluginJob *job) {
        if (!job)
                return NULL;

        if (job->asked && job->set && job->set->eraser.forget)
                job->set->eraser.forget(job, job->set->eraser_userdata);
        if (job->fetching && job->set && job->set->downloader.forget)
                job->set->downloader.forget(job, job->set->downloader_userdata);
        if (job->worker) {
                job->set->working = false;
                job->set->recovered = false; /* the next reload looks for what it left */
        }
        worker_free(job->worker);
        sd_event_source_disable_unref(job->slices);
        leave_queue(job);
        bundle_load_free(job->load);
        staged_load_free(job->staged_load);
        plugin_reload_free(job->reload);
        trust_receipt_free(job->receipt);
        bundle_tree_unref(job->tree);
        g_ptr_array_unref(job->erased);
        plugin_unref(job->plugin);
        close_fd(&job->root);
        sd_bus_error_free(&job->error);
        sd_event_unref(job->event);
        remove_archive(job);
        if (job->shared)
                (void) munmap(job->shared, sizeof *job->shared);
        g_free(job->first);
        g_free(job->second);
        g_free(job->text);
        g_free(job);
        return NULL;
}

static void on_worked(int r, const char *text, size_t size, const sd_bus_error *error, void *userdata) {
        PluginJob *job = userdata;

        (void) size;
        job->worker = worker_free(job->worker);
        job->set->working = false;
        if (r < 0) {
                (void) sd_bus_error_copy(&job->error, error);
                finish(job, r);
                return;
        }
        g_free(job->text);
        job->text = g_strdup(text);
        wake(job);
}

/* A page that the worker writes and the daemon only reads; without it there is no progress, and nothing else is missing. */
static void share_progress(PluginJob *job) {
        void *page;

        if (!job->shared) {
                page = mmap(NULL, sizeof *job->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
                job->shared = page == MAP_FAILED ? NULL : page;
        }
        if (job->shared)
                *job->shared = (PluginProgress) { .stage = PLUGIN_STAGE_WRITING };
}

int plugin_job_work(PluginJob *job, WorkerRun run, void *data) {
        int r;

        share_progress(job);
        job->set->progress = job->shared; /* the worker's copy of the set keeps it */
        r = worker_start(job->event, run, data, on_worked, job, &job->worker);
        job->set->progress = NULL;
        if (r < 0)
                return errors_set(&job->error, ERROR_IO, "No process for the work: %s.", g_strerror(-r));
        job->set->working = true;
        return PLUGIN_STEP_WAIT;
}

const char *plugin_job_get_text(const PluginJob *job) {
        return job->text;
}

bool plugin_job_was_replaced(const PluginJob *job) {
        return job->replaced;
}

Plugin *plugin_job_get_plugin(const PluginJob *job) {
        return job->plugin;
}

static const char *const plugin_stage_table[_PLUGIN_STAGE_MAX] = {
        [PLUGIN_STAGE_WAITING] = "waiting",
        [PLUGIN_STAGE_FETCHING] = "fetching",
        [PLUGIN_STAGE_READING] = "reading",
        [PLUGIN_STAGE_WRITING] = "writing",
};

const char *plugin_stage_to_string(PluginStage stage) {
        return stage >= 0 && stage < _PLUGIN_STAGE_MAX ? plugin_stage_table[stage] : NULL;
}

PluginStage plugin_job_get_progress(const PluginJob *job, uint64_t *ret_done, uint64_t *ret_total) {
        uint64_t done = job->n_done, total = job->total;
        PluginStage stage = job->stage;

        if (job->load)
                done = bundle_load_get_progress(job->load);
        else if (job->staged_load)
                done = staged_load_get_progress(job->staged_load);
        if (job->worker && job->shared) {
                stage = MIN(job->shared->stage, (unsigned) _PLUGIN_STAGE_MAX - 1);
                done = job->shared->done;
                total = job->shared->total;
        }
        *ret_done = total > 0 ? MIN(done, total) : done;
        *ret_total = total;
        return stage;
}

void plugin_set_set_eraser(PluginSet *set, const PluginEraser *eraser, void *userdata) {
        set->eraser = eraser ? *eraser : (PluginEraser) {};
        set->eraser_userdata = userdata;
}

void plugin_job_erased_free(void *data) {
        PluginErased *erased = data;

        g_free(erased->path);
        g_free(erased->text);
        g_free(erased);
}

void plugin_job_take_erased(PluginJob *job, const char *text, size_t size, const char *reason) {
        assert(job->asked);

        job->asked = false;
        if (text) {
                PluginErased *erased = g_new0(PluginErased, 1);

                erased->path = g_strdup(job->asked_path);
                erased->text = g_strndup(text, size);
                erased->size = size;
                g_ptr_array_add(job->erased, erased);
        } else {
                (void) errors_set(&job->error, ERROR_INVALID_BUNDLE, "%s can't be turned into JavaScript: %s",
                                job->asked_path, reason ? reason : "unknown reason");
                job->refused = true;
        }
        wake(job);
}

void plugin_set_set_downloader(PluginSet *set, const PluginDownloader *downloader, void *userdata) {
        set->downloader = downloader ? *downloader : (PluginDownloader) {};
        set->downloader_userdata = userdata;
}

void plugin_job_set_progress(PluginJob *job, uint64_t done, uint64_t total) {
        job->n_done = done;
        job->total = total;
}

void plugin_job_take_download(PluginJob *job, const char *path, const sd_bus_error *error) {
        assert(job->fetching);

        job->fetching = false;
        job->archive = g_strdup(path);
        /* What is next is a worker's; nothing of it is done. */
        job->stage = PLUGIN_STAGE_WRITING;
        job->n_done = job->total = 0;
        if (!path) {
                (void) sd_bus_error_copy(&job->error, error);
                job->refused = true;
        }
        wake(job);
}
