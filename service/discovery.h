/* SPDX-License-Identifier: MIT */
#pragma once

/* Finds the directories that may be bundles (contract 1.1). Only looks: nothing is opened for writing, nothing runs. */

#include <glib.h>
#include <stddef.h>

#include "service/diagnostic.h"
#include "service/plugin.h"

typedef struct DiscoveryRoot {
        PluginScope scope;
        const char *path;      /* absolute */
        const char *workspace; /* for PLUGIN_WORKSPACE, else NULL */
} DiscoveryRoot;

typedef struct DiscoveryEntry {
        PluginScope scope;
        char *workspace;
        char *path; /* canonical; any bytes but NUL */
} DiscoveryEntry;

/**
 * discovery_list() - the direct children of the roots, in the order of the roots and then of their names
 *
 * A missing root is silently empty. Return: a new array of DiscoveryEntry that frees its items.
 */
GPtrArray *discovery_list(const DiscoveryRoot *roots, size_t n_roots, Diagnostics *diagnostics);

/** discovery_plugin_id() - "<scope>/<12 hex>/<name>" (1.3), with a domain string of ours; a new string */
char *discovery_plugin_id(PluginScope scope, const char *canonical_path, const char *name);
