/* SPDX-License-Identifier: MIT */
#pragma once

/* What the workspace of a session says about permission, which can only tighten: `.codewhale/law.toml` (protected paths,
 * unwanted tools) and `.codewhale/config.toml` (a tighter posture, denied tools). The folder is held by a descriptor from
 * the moment its session opens; the files beneath it are read by a worker, so that a slow disk holds up nobody else, and
 * again when they change. A call waits until what it is judged by has been read. What is there and can't be read makes
 * whatever is not proven to only read ask. */

#include <systemd/sd-event.h>

#include "common/jwriter.h"
#include "policy/decision.h"
#include "service/session.h"

typedef struct OverlayTable OverlayTable;
typedef struct Overlay Overlay;

/**
 * overlay_table_new() - no session yet
 * @home:    the service's own folder: a config.toml in there is the user's and no project's
 * @changed: NULL, or called from the loop when an overlay was read anew
 */
OverlayTable *overlay_table_new(sd_event *event, const char *home, void (*changed)(void *userdata), void *userdata);
OverlayTable *overlay_table_free(OverlayTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OverlayTable, overlay_table_free)

/** overlay_table_open() - a session was opened: hold its workspace and begin to read; does nothing without a workspace */
void overlay_table_open(OverlayTable *table, const Session *session);

/** overlay_table_close() - a session has ended */
void overlay_table_close(OverlayTable *table, const Session *session);

/** overlay_table_find() - the overlay of a session; NULL when it has no workspace */
Overlay *overlay_table_find(const OverlayTable *table, const Session *session);

/** overlay_table_reload() - read all of them again, whether or not a change was seen */
void overlay_table_reload(OverlayTable *table);

/** overlay_fill() - lay it over a decision; what is filled in is borrowed until the loop goes on */
void overlay_fill(const Overlay *overlay, DecisionInput *input);

/** overlay_get_error() - the first mistake with its place; NULL when there is none */
const char *overlay_get_error(const Overlay *overlay);

/** overlay_table_get_error() - the first mistake in any workspace; NULL when there is none */
const char *overlay_table_get_error(const OverlayTable *table);

/** overlay_write() - "workspace","files","error", "posture_limit", "protect", … as members of an object that is begun */
void overlay_write(const Overlay *overlay, JWriter *writer);

typedef struct OverlayWait OverlayWait;

/**
 * overlay_wait() - be told when it has been read
 * @ret: NULL when it is read already and there is nothing to wait for; else to be freed, also by @ready
 */
void overlay_wait(Overlay *overlay, void (*ready)(void *userdata), void *userdata, OverlayWait **ret);

/** overlay_wait_free() - do not wait any more */
OverlayWait *overlay_wait_free(OverlayWait *wait);
