/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of Plugin and PluginSet. For plugin*.c and review.c only. */

#include "service/bundle.h"
#include "service/plugin-job.h"
#include "service/plugin-progress.h"
#include "service/plugin-set.h"
#include "service/plugin-watch.h"
#include "service/staging.h"
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
        uint64_t attachments;   /* how often a workspace came or went */
        TrustState *state;
        char *state_problem;    /* why the state file can't be trusted, or NULL */
        GPtrArray *plugins;     /* of Plugin, sorted */
        GPtrArray *copies;      /* of StagedCopy: all that may still be in use */
        Diagnostics *discovered; /* by the last reload */
        Diagnostics *diagnostics; /* that and the state file */
        PluginSetEvents events;
        void *userdata;
        GQueue jobs; /* of PluginJob; the first one runs */
        bool working; /* it has a worker */
        PluginWatch *watch; /* NULL: none */
        LeaseTable *leases; /* NULL: none */
        PluginEraser eraser;
        void *eraser_userdata;
        PluginDownloader downloader;
        void *downloader_userdata;
        PluginProgress *progress; /* in a worker: where it says how far it is; else NULL */
};

/** plugin_set_take_bundle() - put what was loaded from its root into a plugin; takes @bundle */
void plugin_set_take_bundle(PluginSet *set, Plugin *plugin, Bundle *bundle);

/** plugin_set_load_bundle() - look at a plugin's source again; @fresh: read every byte. A failure makes it stale. */
void plugin_set_load_bundle(PluginSet *set, Plugin *plugin, bool fresh);

/** plugin_set_begin_load() - the same in steps; @ret_root is for the caller to close after plugin_set_take_load() */
BundleLoad *plugin_set_begin_load(PluginSet *set, Plugin *plugin, bool fresh, int *ret_root);

/** plugin_set_take_load() - what a load came to; takes @load, which may be NULL with a negative @r */
void plugin_set_take_load(PluginSet *set, Plugin *plugin, BundleLoad *load, int r);

/** plugin_set_keep_copy(), plugin_set_find_copy() - the sealed copies that were hashed already */
void plugin_set_keep_copy(PluginSet *set, StagedCopy *copy);
StagedCopy *plugin_set_find_copy(PluginSet *set, const char *plugin_id, const TrustReceipt *receipt);

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

/** plugin_set_sweep() - remove sealed copies that neither a receipt nor a running call needs, now */
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

/* The halves of the transitions, for those that have something long in the middle. */

/** plugin_set_begin_trust() - after a fresh load: check the token and write the receipt; @ret_reuse: the copy is there */
int plugin_set_begin_trust(
                PluginSet *set, Plugin *plugin, const char *token, const char *confirmed_by, TrustReceipt **ret_receipt,
                bool *ret_reuse, sd_bus_error *reterr);

/** plugin_set_stage() - make the sealed copy that @receipt names; may run in a worker */
int plugin_set_stage(
                PluginSet *set, Plugin *plugin, const StagingErased *erased, size_t n_erased, const TrustReceipt *receipt,
                sd_bus_error *reterr);

/** plugin_set_end_trust() - put the receipt into the state file */
int plugin_set_end_trust(PluginSet *set, Plugin *plugin, const TrustReceipt *receipt, sd_bus_error *reterr);

/** plugin_is_unchanged() - whether source and sealed copy carry the fingerprints of when they were hashed */
bool plugin_is_unchanged(const Plugin *plugin);

/** plugin_set_place() - the part of an install that writes; may run in a worker */
int plugin_set_place(
                PluginSet *set, const char *source, const char *fetched, const char *expected_hash, char **ret_name,
                char **ret_hash, sd_bus_error *reterr);

/** plugin_set_preview_fetched() - plugin_set_preview(); @fetched: NULL, or the file that was fetched from @source */
int plugin_set_preview_fetched(
                PluginSet *set, const char *source, const char *fetched, char **ret_json, sd_bus_error *reterr);

/** plugin_find_remote() - where an installed bundle came from, if that is a place to ask again; a new string */
int plugin_find_remote(const Plugin *plugin, char **ret_source, sd_bus_error *reterr);

/** plugin_set_put() - the part of an update that writes; may run in a worker */
int plugin_set_put(
                PluginSet *set, Plugin *plugin, const char *fetched, const char *expected_hash, sd_bus_error *reterr);

/** plugin_set_find_placed() - what an install brought, after a reload; @ret is borrowed */
int plugin_set_find_placed(PluginSet *set, const char *name, const char *hash, Plugin **ret, sd_bus_error *reterr);

/** plugin_set_check_uninstall() - whether @plugin may be uninstalled */
int plugin_set_check_uninstall(PluginSet *set, Plugin *plugin, sd_bus_error *reterr);

/** plugin_set_take_away() - the part of an uninstall that writes; may run in a worker */
int plugin_set_take_away(PluginSet *set, const Plugin *plugin, sd_bus_error *reterr);

/** plugin_set_write_review() - the document for what was loaded last; may run in a worker */
char *plugin_set_write_review(PluginSet *set, Plugin *plugin, ReviewFlags flags);
