/* SPDX-License-Identifier: MIT */
#pragma once

/* A reload in steps: what is on the disk becomes what is in the set. For plugin-set.c and plugin-job.c. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "service/plugin-set.h"

typedef struct PluginReload PluginReload;

/** plugin_reload_new() - begin; the set stays as it is until the last step. One at a time. */
PluginReload *plugin_reload_new(PluginSet *set);
PluginReload *plugin_reload_free(PluginReload *reload);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PluginReload, plugin_reload_free)

/** plugin_reload_step() - 1: more to do; 0: the set is up to date and its events were sent */
int plugin_reload_step(PluginReload *reload);
