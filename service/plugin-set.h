/* SPDX-License-Identifier: MIT */
#pragma once

/* All bundles that we know, and everything that a person can do to them (contract 1 and 2). The set owns the trust state
 * file and the sealed copies. It knows nothing of a bus: errors are typed, changes go up by callback. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "service/codewhale-home.h"
#include "service/diagnostic.h"
#include "service/plugin.h"

typedef struct PluginSet PluginSet;

/* Called when the set has settled, never in the middle of a change; a handler may call back into the set for reading. */
typedef struct PluginSetEvents {
        void (*added)(PluginSet *set, Plugin *plugin, void *userdata);
        void (*changed)(PluginSet *set, Plugin *plugin, void *userdata); /* any fact; also: a new generation */
        void (*removed)(PluginSet *set, Plugin *plugin, void *userdata); /* no longer found by id */
        void (*diagnostics_changed)(PluginSet *set, void *userdata);     /* plugin_set_get_diagnostics() */
        void (*leftover)(PluginSet *set, void *userdata); /* there are sealed copies for plugin_job_sweep(); NULL: swept at once */
} PluginSetEvents;

typedef struct PluginSetOptions {
        bool extension_host;           /* [features] extension_host: whether native entries may run (1.12) */
        const char *builtin_directory; /* NULL, or where builtin bundles are */
        const char *search_path;       /* for when.binaries; NULL takes $PATH */
} PluginSetOptions;

/** plugin_set_new() - an empty set; plugin_set_reload() fills it. Touches no disk. */
PluginSet *plugin_set_new(CodewhaleHome *home, const PluginSetOptions *options);
PluginSet *plugin_set_free(PluginSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PluginSet, plugin_set_free)

/**
 * plugin_set_use_leases() - verify large sealed copies by leases (lease-table.h) from now on
 *
 * For one set of a process. Return: 0 or -errno; without them each file is looked at, which only takes longer.
 */
int plugin_set_use_leases(PluginSet *set, sd_event *event);

void plugin_set_set_events(PluginSet *set, const PluginSetEvents *events, void *userdata);

/** plugin_set_set_extension_host() - flip the feature; takes effect with the next reload (2.5: capabilities-changed) */
void plugin_set_set_extension_host(PluginSet *set, bool enabled);
bool plugin_set_get_extension_host(const PluginSet *set);

/**
 * plugin_set_add_workspace() - look for bundles in @workspace/.codewhale/plugins too, from the next reload on
 *
 * Counted: a workspace goes when it was removed as often as it was added.
 * Return: 1 when it is new, 0 when it is known; -EINVAL for a path that is not absolute.
 */
int plugin_set_add_workspace(PluginSet *set, const char *workspace);
void plugin_set_remove_workspace(PluginSet *set, const char *workspace);

/**
 * plugin_set_reload() - discover again and read the state file again (1.1, 2.5)
 *
 * Never grants trust, never writes but to sweep sealed copies that nobody needs. A broken state file or root is no
 * failure of this call: it shows in plugin_set_get_diagnostics() and nothing is enabled.
 */
int plugin_set_reload(PluginSet *set, sd_bus_error *reterr);

/** plugin_set_get_diagnostics() - what concerns no plugin: roots, bundles without a usable manifest, the state file */
const Diagnostics *plugin_set_get_diagnostics(const PluginSet *set);

/* Plugins sorted by scope, name, root. */
size_t plugin_set_count(const PluginSet *set);
Plugin *plugin_set_get(const PluginSet *set, size_t index); /* borrowed */

/**
 * plugin_set_find() - by id, or by name when that is unique among the plugins that own their name
 * @ret: borrowed
 *
 * Return: 0; ERROR_NO_SUCH_PLUGIN; ERROR_AMBIGUOUS_PLUGIN when two workspaces have one of that name.
 */
int plugin_set_find(const PluginSet *set, const char *id_or_name, Plugin **ret, sd_bus_error *reterr);

/* The transitions of 2.5. They change the state file first and the facts after; the `changed` event comes before they
 * return. Errors beside those named: ERROR_STATE_INVALID, ERROR_BUSY (another process holds the state file), ERROR_IO. */

/**
 * plugin_set_tidy() - remove sealed copies that nobody needs, if there are any
 *
 * Needed are the one that a receipt in force names, the one that was reviewed before it (for the differences), and whatever a
 * host still runs from. For who knows that a host is done with one; reloads and trusts do it by themselves.
 */
void plugin_set_tidy(PluginSet *set);

typedef enum ReviewFlags {
        REVIEW_FILES      = 1 << 0, /* with every file: path, size, digest */
        REVIEW_DIFF_LINES = 1 << 1, /* with line diffs of text files against the last reviewed bytes */
} ReviewFlags;

/**
 * plugin_set_review() - the review document (2.3): looks at the bytes anew, changes nothing
 * @ret_json: one JSON object; ends in the exact token to trust; g_free() it
 */
int plugin_set_review(PluginSet *set, Plugin *plugin, ReviewFlags flags, char **ret_json, sd_bus_error *reterr);

/**
 * plugin_set_trust() - a person reviewed exactly these bytes and capabilities
 * @token:        "<content hash>.<capability hash>" from the review
 * @confirmed_by: how the person was asked: "token", "polkit", "approver"; kept in the receipt
 *
 * Hashes anew, makes the sealed copy, stores the receipt, switches the plugin off.
 * Return: 0; ERROR_INVALID_TOKEN when it is malformed; ERROR_CONTENT_CHANGED; ERROR_CAPABILITIES_CHANGED;
 * ERROR_INVALID_BUNDLE when it has error diagnostics.
 */
int plugin_set_trust(PluginSet *set, Plugin *plugin, const char *token, const char *confirmed_by, sd_bus_error *reterr);

/** plugin_check_token() - whether a token is for what the plugin was when it was last looked at; errors as plugin_set_trust() */
int plugin_check_token(const Plugin *plugin, const char *token, sd_bus_error *reterr);

/** plugin_set_enable() - 0; ERROR_NOT_TRUSTED, ERROR_CONTENT_CHANGED, ERROR_CAPABILITIES_CHANGED, ERROR_NOT_ACTIVE */
int plugin_set_enable(PluginSet *set, Plugin *plugin, sd_bus_error *reterr);

/** plugin_set_disable() - switch off; trust stays. 0 also when it was off */
int plugin_set_disable(PluginSet *set, Plugin *plugin, sd_bus_error *reterr);

/** plugin_set_revoke() - take trust away; the enabled bit stays */
int plugin_set_revoke(PluginSet *set, Plugin *plugin, sd_bus_error *reterr);

/**
 * plugin_set_preview() - what installing @source would bring: the review document of those bytes, nothing written
 * @source: see plugin_set_install()
 */
int plugin_set_preview(PluginSet *set, const char *source, char **ret_json, sd_bus_error *reterr);

/**
 * plugin_set_install() - copy a bundle into HOME_PLUGINS; it is then disabled and untrusted (2.9)
 * @source:        "path:<absolute path>" or an absolute path: of a directory, or of a tar archive (plain or compressed)
 * @expected_hash: NULL, or the content hash that the bytes must have
 * @ret:           borrowed
 *
 * Return: 0; ERROR_INVALID_BUNDLE, ERROR_INVALID_MANIFEST, ERROR_TOO_LARGE, ERROR_ALREADY_INSTALLED,
 * ERROR_CONTENT_CHANGED (not @expected_hash), ERROR_NOT_SUPPORTED (a form of source we don't know).
 */
int plugin_set_install(PluginSet *set, const char *source, const char *expected_hash, Plugin **ret, sd_bus_error *reterr);

/**
 * plugin_set_update() - newer bytes for an installed bundle (2.5)
 * @archive:       absolute path of what was downloaded from the bundle's source; NULL asks whether there is such a source
 * @expected_hash: NULL, or the content hash that the bytes must have
 *
 * Replaces the bundle in one step; the receipt then no longer fits, so it is inactive until it is reviewed. A bundle that
 * came from a local path is refused: disable, uninstall and install it again.
 * Return: 1 when it was replaced; 0 when the bytes are the same; ERROR_NOT_INSTALLED_BY_US; ERROR_NOT_SUPPORTED for a local
 * source, or when there is nothing to download with; else as plugin_set_install().
 */
int plugin_set_update(
                PluginSet *set, Plugin *plugin, const char *archive, const char *expected_hash, sd_bus_error *reterr);

/**
 * plugin_set_uninstall() - remove an installed bundle and its state entry; its data directory stays
 *
 * @plugin is gone from the set afterwards (event `removed`). Return: 0; ERROR_STILL_ENABLED; ERROR_NOT_INSTALLED_BY_US.
 */
int plugin_set_uninstall(PluginSet *set, Plugin *plugin, sd_bus_error *reterr);

/**
 * plugin_set_verify() - the check at every boundary of a side effect (2.8)
 * @generation: the one that the caller activated
 *
 * The state file still says enabled and trusted with this generation, the source and the sealed copy still are the
 * reviewed bytes. Costs a stat() per node when nothing changed. When it fails the plugin's facts change (event).
 *
 * Return: 0; ERROR_NOT_ACTIVE, ERROR_NOT_TRUSTED, ERROR_CONTENT_CHANGED, ERROR_CAPABILITIES_CHANGED, ERROR_STATE_INVALID.
 */
int plugin_set_verify(PluginSet *set, Plugin *plugin, uint64_t generation, sd_bus_error *reterr);
