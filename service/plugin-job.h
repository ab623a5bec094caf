/* SPDX-License-Identifier: MIT */
#pragma once

/* The long ways of plugin-set.h without holding up the loop: reading and hashing go in slices of a few milliseconds, what
 * writes or waits for the disk goes to a worker process. The jobs of a set run one after the other, in the order in which
 * they were started; the quick calls of plugin-set.h may come in between. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "service/plugin-set.h"

typedef struct PluginJob PluginJob;

/**
 * Called once, from the loop, never from inside a starting call.
 * @r:     as the call of the same name in plugin-set.h returns
 * @error: set when @r is negative
 */
typedef void (*PluginJobDone)(PluginJob *job, int r, const sd_bus_error *error, void *userdata);

/* Each begins a job. The caller owns it, also after it is done; freeing one that is not done takes it back: a worker is
 * killed and what it left half done is swept. Nothing else than what is said in plugin-set.h can fail. */
PluginJob *plugin_job_reload(PluginSet *set, sd_event *event, PluginJobDone done, void *userdata);
PluginJob *plugin_job_review(
                PluginSet *set, sd_event *event, Plugin *plugin, ReviewFlags flags, PluginJobDone done, void *userdata);
PluginJob *plugin_job_trust(
                PluginSet *set, sd_event *event, Plugin *plugin, const char *token, const char *confirmed_by,
                PluginJobDone done, void *userdata);
PluginJob *plugin_job_enable(PluginSet *set, sd_event *event, Plugin *plugin, PluginJobDone done, void *userdata);

/* @fetch: a person wants it fetched, when the source lies elsewhere (plugin_set_set_downloader()) */
PluginJob *plugin_job_preview(
                PluginSet *set, sd_event *event, const char *source, bool fetch, PluginJobDone done, void *userdata);
PluginJob *plugin_job_install(
                PluginSet *set, sd_event *event, const char *source, const char *expected_hash, bool fetch,
                PluginJobDone done, void *userdata);

/** plugin_job_update() - ask the source of an installed bundle again (plugin_set_update()); see plugin_job_was_replaced() */
PluginJob *plugin_job_update(
                PluginSet *set, sd_event *event, Plugin *plugin, const char *expected_hash, bool fetch, PluginJobDone done,
                void *userdata);
PluginJob *plugin_job_uninstall(PluginSet *set, sd_event *event, Plugin *plugin, PluginJobDone done, void *userdata);

/** plugin_job_verify() - look again at a plugin that may have changed (2.8), where plugin_set_verify() would read much */
PluginJob *plugin_job_verify(
                PluginSet *set, sd_event *event, Plugin *plugin, uint64_t generation, PluginJobDone done, void *userdata);

/** plugin_job_sweep() - what plugin_set_tidy() is for, in a worker */
PluginJob *plugin_job_sweep(PluginSet *set, sd_event *event, PluginJobDone done, void *userdata);

PluginJob *plugin_job_free(PluginJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PluginJob, plugin_job_free)

/** plugin_job_get_text() - the JSON of a review or preview, when it is done; NULL else */
const char *plugin_job_get_text(const PluginJob *job);

/** plugin_job_was_replaced() - whether an update brought other bytes */
bool plugin_job_was_replaced(const PluginJob *job);

/** plugin_job_get_plugin() - what was installed, when it is done; for other jobs what they are about; NULL for none */
Plugin *plugin_job_get_plugin(const PluginJob *job);

/* What a job is at; each is counted anew. */
typedef enum PluginStage {
        PLUGIN_STAGE_WAITING,  /* for the jobs before it */
        PLUGIN_STAGE_FETCHING,
        PLUGIN_STAGE_READING,  /* and hashing */
        PLUGIN_STAGE_WRITING,  /* a review, a copy */
        _PLUGIN_STAGE_MAX,
        _PLUGIN_STAGE_INVALID = -EINVAL,
} PluginStage;

const char *plugin_stage_to_string(PluginStage stage); /* "waiting", "fetching", "reading", "writing" */

/** plugin_job_get_progress() - bytes done so far at this stage, and of how many; 0 of 0 while that is not known */
PluginStage plugin_job_get_progress(const PluginJob *job, uint64_t *ret_done, uint64_t *ret_total);

/**
 * plugin_set_set_eraser() - who makes type-erased modules of .mts files when a bundle is trusted
 * @erase: begins one; @source is the reviewed text. It answers, now or later, with plugin_job_take_erased(). One at a
 *         time. When the job is freed meanwhile the answer must not come any more: @forget is called.
 *
 * Without one, .mts files are erased by the host itself, each time. Only plugin_job_trust() asks.
 */
typedef struct PluginEraser {
        void (*erase)(PluginJob *job, const char *path, const char *source, size_t size, void *userdata);
        void (*forget)(PluginJob *job, void *userdata);
} PluginEraser;
void plugin_set_set_eraser(PluginSet *set, const PluginEraser *eraser, void *userdata);

/** plugin_job_take_erased() - the answer: the text, or NULL and the reason why there is none (the trust fails then) */
void plugin_job_take_erased(PluginJob *job, const char *text, size_t size, const char *reason);

/**
 * plugin_set_set_downloader() - who fetches what lies elsewhere
 * @begin:  begins one; @approved: a person wants it. Not at once, but later, it answers with plugin_job_take_download().
 *          One at a time. Return: 0, or an error: the policy says no, or the address is none.
 * @forget: the answer must not come any more
 *
 * Without one such sources are refused with ERROR_NOT_SUPPORTED.
 */
typedef struct PluginDownloader {
        int (*begin)(PluginJob *job, const char *source, bool approved, void *userdata, sd_bus_error *reterr);
        void (*forget)(PluginJob *job, void *userdata);
} PluginDownloader;
void plugin_set_set_downloader(PluginSet *set, const PluginDownloader *downloader, void *userdata);

/** plugin_job_take_download() - the answer: a file that the job removes when it is over, or NULL and the reason */
void plugin_job_take_download(PluginJob *job, const char *path, const sd_bus_error *error);

/** plugin_job_set_progress() - how far the download is; @total is 0 while nobody knows */
void plugin_job_set_progress(PluginJob *job, uint64_t done, uint64_t total);
