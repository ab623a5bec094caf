/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of Plugin and PluginSet. For plugin*.c and review.c only. */

#include "service/bundle.h"
#include "service/plugin-set.h"
#include "storage/trust-state.h"

struct Plugin {
        unsigned n_ref;
        PluginScope scope;
        char *id, *name, *root, *root_display, *workspace, *data_name;

        Bundle *bundle;        /* never NULL; what the source held when it was last looked at */
        bool stale;            /* the source can't be loaded any more: @bundle is the past */
        bool extension_host;   /* the feature flag that @bundle was loaded with */
        bool applicable, installed;
        char *inapplicable; /* why, when it does not apply */
        char *shadowed_by;  /* the id of the bundle that owns the name, or NULL */

        TrustRecord *record; /* never NULL; generation 0: none */
        bool state_invalid;  /* the state file can't be trusted: @record is empty for that reason */
        StagedCopy *staged;
        const char *staged_problem; /* why there is none although one is named */
        GHashTable *erased; /* path -> TrustErased of @record->trust; borrowed */

        Diagnostics *diagnostics; /* derived: of the bundle, its name, its sealed copy */
        char *reason;             /* derived: why it is not active; NULL when it is */
        bool found;               /* by the last reload, or installed since: it is in the set */
};

/** plugin_new() - takes @bundle; @scope, @workspace and @root as discovery says them */
Plugin *plugin_new(PluginScope scope, const char *workspace, const char *root, Bundle *bundle);

/** plugin_take_bundle() - what a newer look at the source found */
void plugin_take_bundle(Plugin *plugin, Bundle *bundle, bool extension_host);

/** plugin_take_record() - a copy of what the state file says; NULL for nothing */
void plugin_take_record(Plugin *plugin, const TrustRecord *record);

/** plugin_update() - derive all facts again, after anything above or a field has changed */
void plugin_update(Plugin *plugin);

struct PluginSet {
        CodewhaleHome *home;
        bool extension_host;
        bool recovered; /* what a killed service left was seen to */
        char *builtin_directory, *search_path;
        GHashTable *workspaces; /* canonical path -> how often it was added */
        TrustState *state;
        char *state_problem;    /* why the state file can't be trusted, or NULL */
        GPtrArray *plugins;     /* of Plugin, sorted */
        GPtrArray *copies;      /* of StagedCopy: all that may still be in use */
        Diagnostics *discovered; /* by the last reload */
        Diagnostics *diagnostics; /* that and the state file */
        PluginSetEvents events;
        void *userdata;
};

/** plugin_set_take_bundle() - put what was loaded from its root into a plugin; takes @bundle */
void plugin_set_take_bundle(PluginSet *set, Plugin *plugin, Bundle *bundle);

/** plugin_set_load_bundle() - look at a plugin's source again; @fresh: read every byte. A failure makes it stale. */
void plugin_set_load_bundle(PluginSet *set, Plugin *plugin, bool fresh);

/** plugin_set_load_staged() - open and hash the sealed copy that the record names, unless it is known and unchanged */
void plugin_set_load_staged(PluginSet *set, Plugin *plugin);

/**
 * plugin_set_sync_state() - read the state file if it changed, and bring all plugins up to date
 *
 * Plugins whose facts changed are announced. Return: 0, ERROR_STATE_INVALID or ERROR_IO.
 */
int plugin_set_sync_state(PluginSet *set, sd_bus_error *reterr);

/** plugin_set_update_diagnostics() - put together what concerns no plugin; announces a change */
void plugin_set_update_diagnostics(PluginSet *set);

/**
 * plugin_set_refresh_state() - only read the state file
 *
 * Return: 1 when records may be others than before, 0 when not, or the error.
 */
int plugin_set_refresh_state(PluginSet *set, sd_bus_error *reterr);

/** plugin_set_take_state() - give a plugin its record as read last, and its sealed copy */
void plugin_set_take_state(PluginSet *set, Plugin *plugin);

/** plugin_set_settle_names() - who owns which name; @plugins are sorted */
void plugin_set_settle_names(GPtrArray *plugins);

/** plugin_set_sweep() - remove sealed copies that neither a receipt nor a running call needs */
void plugin_set_sweep(PluginSet *set);

/** plugin_set_unref_plugin() - plugin_unref() for arrays */
void plugin_set_unref_plugin(void *plugin);

/* What a plugin looked like before a change; announces the change if there was one. */
typedef struct PluginChange {
        Plugin *plugin;
        char *before;
} PluginChange;
PluginChange plugin_change_begin(Plugin *plugin);
void plugin_change_end(PluginSet *set, PluginChange *change);

/** plugin_set_adopt_record() - after a write of ours: give the plugin its new record and announce the change */
void plugin_set_adopt_record(PluginSet *set, Plugin *plugin);

/** plugin_set_recover() - finish or undo what a killed service left in the folder of bundles; at the first reload */
void plugin_set_recover(PluginSet *set);
