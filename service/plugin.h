/* SPDX-License-Identifier: MIT */
#pragma once

/* One bundle that discovery found, and its facts (contract 2.4): who it is, what its bytes are, whether a person reviewed
 * exactly these bytes, whether it is switched on. Nothing here runs anything. Facts change only inside plugin-set.c and
 * plugin_verify(); whoever keeps a Plugin across a return to the loop keeps a reference. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "common/jwriter.h"
#include "service/diagnostic.h"
#include "service/staged-copy.h"

typedef struct Plugin Plugin;

typedef enum PluginScope {
        PLUGIN_BUILTIN, /* in order of precedence for names (1.3) */
        PLUGIN_USER,
        PLUGIN_WORKSPACE,
        _PLUGIN_SCOPE_MAX,
        _PLUGIN_SCOPE_INVALID = -EINVAL,
} PluginScope;
const char *plugin_scope_to_string(PluginScope scope);

typedef enum TrustStatus {
        TRUST_TRUSTED,
        TRUST_NOT_REVIEWED,
        TRUST_CONTENT_CHANGED,
        TRUST_CAPABILITIES_CHANGED, /* looked at before the content */
        _TRUST_STATUS_MAX,
        _TRUST_STATUS_INVALID = -EINVAL,
} TrustStatus;
const char *trust_status_to_string(TrustStatus status);

typedef enum Compatibility {
        COMPATIBILITY_FULL,        /* everything that it declares is supported */
        COMPATIBILITY_PARTIAL,     /* something is */
        COMPATIBILITY_UNSUPPORTED, /* nothing is, or it declares nothing */
        _COMPATIBILITY_MAX,
        _COMPATIBILITY_INVALID = -EINVAL,
} Compatibility;
const char *compatibility_to_string(Compatibility compatibility);

/* What a person sees. Only PLUGIN_ACTIVE may run. */
typedef enum PluginLabel {
        PLUGIN_ACTIVE,
        PLUGIN_DISABLED,
        PLUGIN_ENABLED_UNTRUSTED,
        PLUGIN_UNSTAGED,     /* enabled and trusted, but the sealed copy is gone or altered */
        PLUGIN_INAPPLICABLE, /* its `when` does not hold here */
        PLUGIN_UNSUPPORTED,
        PLUGIN_INACTIVE, /* an error diagnostic, or the name belongs to another bundle */
        _PLUGIN_LABEL_MAX,
        _PLUGIN_LABEL_INVALID = -EINVAL,
} PluginLabel;
const char *plugin_label_to_string(PluginLabel label);

Plugin *plugin_ref(Plugin *plugin);
Plugin *plugin_unref(Plugin *plugin);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Plugin, plugin_unref)

/* Who it is. Strings live as long as the plugin, or until its next change where that is said. */
const char *plugin_get_id(const Plugin *plugin); /* "<scope>/<12 hex>/<name>" (1.3) */
const char *plugin_get_name(const Plugin *plugin);
PluginScope plugin_get_scope(const Plugin *plugin);
const char *plugin_get_root(const Plugin *plugin);         /* canonical path of the bundle; any bytes but NUL */
const char *plugin_get_root_display(const Plugin *plugin); /* the same, safe to show and to send */
const char *plugin_get_workspace(const Plugin *plugin);    /* NULL unless scope is PLUGIN_WORKSPACE */
const char *plugin_get_data_name(const Plugin *plugin);    /* its directory's name below HOME_DATA (3.9) */

/* What its manifest says; valid until the next change. NULL where it says nothing. */
const char *plugin_get_display_name(const Plugin *plugin); /* falls back on the name */
const char *plugin_get_version(const Plugin *plugin);
const char *plugin_get_description(const Plugin *plugin);

/* The facts of 2.4 */
PluginLabel plugin_get_label(const Plugin *plugin);
TrustStatus plugin_get_trust(const Plugin *plugin);
Compatibility plugin_get_compatibility(const Plugin *plugin);
bool plugin_is_enabled(const Plugin *plugin);
bool plugin_is_staged(const Plugin *plugin);
bool plugin_is_applicable(const Plugin *plugin);
bool plugin_is_shadowed(const Plugin *plugin); /* lost its name to a bundle of higher precedence */
bool plugin_is_installed(const Plugin *plugin); /* carries our installer's marker */
uint64_t plugin_get_generation(const Plugin *plugin); /* 0: never trusted, enabled or disabled */
const char *plugin_get_content_hash(const Plugin *plugin);    /* 64 hex; NULL when the bundle can't be hashed */
const char *plugin_get_capability_hash(const Plugin *plugin); /* 64 hex; NULL likewise */
const Diagnostics *plugin_get_diagnostics(const Plugin *plugin);

/** plugin_get_inactive_reason() - one sentence: why it is not active and what to do; NULL when it is active */
const char *plugin_get_inactive_reason(const Plugin *plugin);

/** plugin_describe() - all of the above as one JSON object */
void plugin_describe(const Plugin *plugin, JWriter *writer);

/* One file of the reviewed inventory. Digests are SHA-256 in lower-case hex, of the bytes alone. */
typedef struct PluginFile {
        const char *path; /* relative to the bundle, '/' separated */
        const char *sha256;
        uint64_t size;
        bool executable;
        const char *erased_path;   /* for a .mts: the type-erased text in the sealed copy (relative), or NULL */
        const char *erased_sha256; /* and its digest */
} PluginFile;

/**
 * plugin_foreach_file() - walk the files of the bundle in tree order (at most BUNDLE_FILES_MAX)
 * @on_file: called for each; a value other than 0 ends the walk
 *
 * For a trusted plugin this is what was reviewed and what the sealed copy holds.
 * Return: 0, or what @on_file returned.
 */
int plugin_foreach_file(const Plugin *plugin, int (*on_file)(const PluginFile *file, void *userdata), void *userdata);

/** plugin_find_file() - one file by its relative path; false when there is none */
bool plugin_find_file(const Plugin *plugin, const char *path, PluginFile *ret);

/* Native entries in declaration order, the same file only once (1.6). */
size_t plugin_count_native(const Plugin *plugin);
bool plugin_get_native(const Plugin *plugin, size_t index, PluginFile *ret);

/** plugin_declares_skill() - whether the file is the SKILL.md of a package in a skills folder that the manifest declares */
bool plugin_declares_skill(const Plugin *plugin, const char *path);

/** plugin_get_skill_folders() - those folders in declaration order; NULL when there are none; valid until the next change */
char **plugin_get_skill_folders(const Plugin *plugin);

/**
 * plugin_get_staged() - the sealed copy; borrowed; NULL when there is none
 *
 * It stays on the disk for as long as somebody holds a reference, even when newer bytes were trusted.
 */
StagedCopy *plugin_get_staged(const Plugin *plugin);
