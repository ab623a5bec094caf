/* SPDX-License-Identifier: MIT */
#pragma once

/* A short-lived process of ours that does what would hold up the loop: copies, syncs, compares. It is a fork of the
 * daemon, so it has everything in memory that it needs, and hands back a text. It dies with the daemon. */

#include <glib.h>
#include <stddef.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#define WORKER_TEXT_BYTES_MAX (16u * 1024u * 1024u)

typedef struct Worker Worker;

/**
 * What the process does. All descriptors of the daemon are closed in it (but 0 to 2, and what worker_start_keeping() keeps): what
 * it needs it opens by path.
 * @ret_text: to be filled, may stay empty
 * Return: 0 or more; a negative errno, with @reterr where words must reach a person.
 */
typedef int (*WorkerRun)(void *data, GString *ret_text, sd_bus_error *reterr);

/**
 * Called once, from the loop; the worker may be freed in it.
 * @r:     what the process returned; -EPIPE when it died
 * @text:  ended by NUL; "" when it returned an error
 * @error: unset when @r is not negative
 */
typedef void (*WorkerDone)(int r, const char *text, size_t size, const sd_bus_error *error, void *userdata);

/** worker_start() - begin; @data must stay as it is until this returns. Return: 0 or -errno. */
int worker_start(sd_event *event, WorkerRun run, void *data, WorkerDone done, void *userdata, Worker **ret);

/** worker_start_keeping() - the same with one descriptor of the daemon's left open, under its number */
int worker_start_keeping(
                sd_event *event, WorkerRun run, void *data, int keep, WorkerDone done, void *userdata, Worker **ret);

/** worker_free() - end it; @done is not called any more */
Worker *worker_free(Worker *worker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Worker, worker_free)
