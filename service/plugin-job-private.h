/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of PluginJob. For plugin-job.c and plugin-steps.c only. */

#include "service/bundle.h"
#include "service/plugin-job.h"
#include "service/plugin-progress.h"
#include "service/plugin-reload.h"
#include "service/staged-copy.h"
#include "service/worker.h"
#include "storage/trust-state.h"

/* What a step answers beside a negative errno (with job->error) */
enum {
        PLUGIN_STEP_DONE = 0,
        PLUGIN_STEP_MORE = 1,
        PLUGIN_STEP_LATER = 2, /* more to do, but it takes long by itself: in a slice of its own */
        PLUGIN_STEP_WAIT = 3, /* for the worker or for an erased module */
};

typedef struct PluginErased {
        char *path; /* of the .mts */
        char *text;
        size_t size;
} PluginErased;

struct PluginJob {
        PluginSet *set; /* NULL once it is done */
        sd_event *event;
        sd_event_source *slices;
        PluginJobDone done;
        void *userdata;

        int (*step)(PluginJob *job); /* the next thing to do; steps set their successor */
        Plugin *plugin;
        char *first, *second; /* arguments: token and confirmed_by; source and expected hash */
        ReviewFlags flags;
        uint64_t generation;

        int root; /* of the bundle that is loaded */
        BundleLoad *load;
        StagedLoad *staged_load;
        PluginReload *reload;
        TrustReceipt *receipt;
        Worker *worker;
        GPtrArray *erased; /* of PluginErased */
        BundleTree *tree;  /* that the token is for: the plugin may get another one meanwhile */
        size_t next_node;  /* of it, that may be a .mts */
        const char *asked_path;
        bool asked, refused;
        int (*after_load)(PluginJob *job);

        bool fetch, fetching; /* it may; it does */
        int (*after_fetch)(PluginJob *job);
        bool replaced;        /* an update found other bytes */
        char *archive;        /* what was fetched; removed at the end */

        PluginStage stage;
        uint64_t total, n_done;
        PluginProgress *shared; /* written by the worker; NULL before there was one */
        sd_bus_error error;
        char *text;
};

/* Steps that more than one file uses (plugin-steps.c) */
int plugin_job_go_on(PluginJob *job, int (*step)(PluginJob *job));
int plugin_job_step_done(PluginJob *job);
int plugin_job_step_reload(PluginJob *job);

PluginJob *plugin_job_new(
                PluginSet *set, sd_event *event, Plugin *plugin, int (*step)(PluginJob *job), PluginJobDone done,
                void *userdata);

/** plugin_job_work() - go on in a worker; its text becomes job->text. Return: what the step returns. */
int plugin_job_work(PluginJob *job, WorkerRun run, void *data);

void plugin_job_erased_free(void *erased);
