/* SPDX-License-Identifier: MIT */
#pragma once

/* The properties of a plugin's object as texts, so that one table serves the getters and tells what has changed. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "service/service.h"

typedef struct PluginFact {
        const char *name; /* of the property */
        char type;        /* 's', 'b' or 't' */
        bool announced;   /* its changes are announced */
        char *(*text)(const Service *service, Plugin *plugin);
} PluginFact;

/** plugin_fact_find() - the fact behind a property; NULL when there is none */
const PluginFact *plugin_fact_find(const char *name);

/** plugin_fact_append() - append its value to a message */
int plugin_fact_append(const PluginFact *fact, const Service *service, Plugin *plugin, sd_bus_message *m);

/* The announced facts of one plugin at one time. */
typedef struct PluginFacts PluginFacts;

PluginFacts *plugin_facts_take(const Service *service, Plugin *plugin);
PluginFacts *plugin_facts_free(PluginFacts *facts);

/** plugin_facts_compare() - the names of those that differ (static texts); a new array ended by NULL, of which only itself is freed */
char **plugin_facts_compare(const PluginFacts *before, const PluginFacts *after);
