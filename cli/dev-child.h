/* SPDX-License-Identifier: MIT */
#pragma once

/* A program that codewhalectl dev runs for itself: it ends with us, and what it writes is ours to show. */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

/* One line that the program wrote, without its end; not made safe. */
typedef void (*DevChildLine)(const char *line, void *userdata);

typedef struct DevChild {
        pid_t pid; /* 0: none */
        int fd;    /* what it writes, on both of its outputs */
        GString *text;
        sd_event_source *io;
        DevChildLine line;
        void *userdata;
} DevChild;

/**
 * dev_child_start() - run a program found in PATH or by its own path
 * @environment: NAME=VALUE that are set in addition to ours, ended by NULL; NULL: none
 *
 * It has a process group of its own, so that Ctrl-C reaches us alone, and gets SIGTERM when we die. Return:
 * 0; -ENOENT when there is no such program, or another errno.
 */
int dev_child_start(DevChild *child, const char *const *arguments, const char *const *environment);

/** dev_child_read() - call back with each line from now on */
int dev_child_read(DevChild *child, sd_event *event, DevChildLine line, void *userdata);

/** dev_child_is_running() - whether it has not ended yet */
bool dev_child_is_running(DevChild *child);

/** dev_child_drain() - hand out what it wrote last, without waiting */
void dev_child_drain(DevChild *child);

/** dev_child_stop() - SIGTERM, and SIGKILL when that was not enough within ten seconds; harmless when none
 * runs */
void dev_child_stop(DevChild *child);
