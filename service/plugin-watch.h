/* SPDX-License-Identifier: MIT */
#pragma once

/* Notices by inotify when somebody writes into the source of an enabled plugin, and has it looked at again soon (contract
 * 2.8 asks for the next call at the latest; this makes it a second without one). It only looks: nothing is reloaded, and the
 * facts change as they would by the next call. Where the kernel has no watches left, that call still finds it. */

#include <glib.h>
#include <systemd/sd-event.h>

#include "service/plugin-set.h"

typedef struct PluginWatch PluginWatch;

/**
 * plugin_watch_new() - watch the enabled plugins of @set, whichever these are from now on
 *
 * Free it before the set. Return: 0 or -errno.
 */
int plugin_watch_new(PluginSet *set, sd_event *event, PluginWatch **ret);
PluginWatch *plugin_watch_free(PluginWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PluginWatch, plugin_watch_free)

/** plugin_watch_follow() - a plugin's facts may have changed: begin, renew or end watching it. Called by the set. */
void plugin_watch_follow(PluginWatch *watch, Plugin *plugin);
