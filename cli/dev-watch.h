/* SPDX-License-Identifier: MIT */
#pragma once

/* Tells when something in a folder was changed, once after a moment of quiet. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

typedef struct DevWatch DevWatch;

typedef void (*DevWatchChanged)(void *userdata);

/**
 * dev_watch_new() - watch a folder and all folders in it
 *
 * Hidden folders and node_modules are left out, and hidden files and those that editors keep beside others
 * change nothing. Return: 0 or -errno, -ENOSPC when the user may watch no more folders.
 */
int dev_watch_new(sd_event *event, const char *folder, DevWatchChanged changed, void *userdata, DevWatch **ret);
DevWatch *dev_watch_free(DevWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DevWatch, dev_watch_free)

/** dev_watch_is_noise() - whether a name is one that changes nothing */
bool dev_watch_is_noise(const char *name);
