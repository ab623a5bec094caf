/* SPDX-License-Identifier: MIT */
#pragma once

/* The files of an overlay: read in a worker, understood in the daemon. */

#include <systemd/sd-event.h>

#include "policy/policy-set.h"
#include "policy/repository-law.h"
#include "service/policy-file.h"
#include "service/worker.h"

/* What the files of one workspace say. */
typedef struct OverlayContent {
        RepositoryLaw *law; /* NULL when there is nothing */
        ProjectWish wish;
        GPtrArray *files; /* PolicyFile, those that are there */
        char *error;      /* the first mistake; NULL for none */
} OverlayContent;

OverlayContent *overlay_content_free(OverlayContent *content);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OverlayContent, overlay_content_free)

/** overlay_content_unreadable() - of a workspace whose files could not be looked at; @why is a sentence */
OverlayContent *overlay_content_unreadable(const char *why);

/**
 * overlay_read_start() - begin to read
 * @folder: descriptor of the workspace
 * @done:   gets the text for overlay_content_new()
 */
int overlay_read_start(sd_event *event, int folder, WorkerDone done, void *userdata, Worker **ret);

/** overlay_content_new() - understand what overlay_read_start() brought, for a workspace at @path; @law_only leaves config.toml out */
OverlayContent *overlay_content_new(const char *path, bool law_only, const char *text, size_t size);
