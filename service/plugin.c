/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "common/sha256.h"
#include "service/discovery.h"
#include "service/plugin-private.h"
#include "service/plugin.h"

static const char *const scope_table[_PLUGIN_SCOPE_MAX] = {
        [PLUGIN_BUILTIN]   = "builtin",
        [PLUGIN_USER]      = "user",
        [PLUGIN_WORKSPACE] = "workspace",
};

static const char *const trust_table[_TRUST_STATUS_MAX] = {
        [TRUST_TRUSTED]              = "trusted",
        [TRUST_NOT_REVIEWED]         = "not-reviewed",
        [TRUST_CONTENT_CHANGED]      = "content-changed",
        [TRUST_CAPABILITIES_CHANGED] = "capabilities-changed",
};

static const char *const compatibility_table[_COMPATIBILITY_MAX] = {
        [COMPATIBILITY_FULL]        = "full",
        [COMPATIBILITY_PARTIAL]     = "partial",
        [COMPATIBILITY_UNSUPPORTED] = "unsupported",
};

static const char *const label_table[_PLUGIN_LABEL_MAX] = {
        [PLUGIN_ACTIVE]            = "active",
        [PLUGIN_DISABLED]          = "disabled",
        [PLUGIN_ENABLED_UNTRUSTED] = "enabled-untrusted",
        [PLUGIN_UNSTAGED]          = "unstaged",
        [PLUGIN_INAPPLICABLE]      = "inapplicable",
        [PLUGIN_UNSUPPORTED]       = "unsupported",
        [PLUGIN_INACTIVE]          = "inactive",
};

const char *plugin_scope_to_string(PluginScope scope) {
        assert(scope >= 0 && scope < _PLUGIN_SCOPE_MAX);
        return scope_table[scope];
}

const char *trust_status_to_string(TrustStatus status) {
        assert(status >= 0 && status < _TRUST_STATUS_MAX);
        return trust_table[status];
}

const char *compatibility_to_string(Compatibility compatibility) {
        assert(compatibility >= 0 && compatibility < _COMPATIBILITY_MAX);
        return compatibility_table[compatibility];
}

const char *plugin_label_to_string(PluginLabel label) {
        assert(label >= 0 && label < _PLUGIN_LABEL_MAX);
        return label_table[label];
}

Plugin *plugin_new(PluginScope scope, const char *workspace, const char *root, Bundle *bundle) {
        Plugin *plugin = g_new0(Plugin, 1);
        g_autofree char *hash = NULL;

        plugin->n_ref = 1;
        plugin->scope = scope;
        plugin->workspace = g_strdup(workspace);
        plugin->root = g_strdup(root);
        plugin->root_display = sanitize_line(root, DIAGNOSTIC_BYTES_MAX, NULL);
        plugin->name = g_strdup(bundle->manifest->name);
        plugin->id = discovery_plugin_id(scope, root, plugin->name);
        hash = sha256_hex(plugin->id, strlen(plugin->id));
        plugin->data_name = g_strdup_printf("%s-%.12s", plugin->name, hash);
        plugin->bundle = bundle;
        plugin->record = trust_record_new();
        plugin->erased = g_hash_table_new(g_str_hash, g_str_equal);
        plugin->diagnostics = diagnostics_new();
        plugin->applicable = true;
        return plugin;
}

Plugin *plugin_ref(Plugin *plugin) {
        assert(plugin && plugin->n_ref > 0);

        plugin->n_ref++;
        return plugin;
}

Plugin *plugin_unref(Plugin *plugin) {
        if (!plugin)
                return NULL;

        assert(plugin->n_ref > 0);
        if (--plugin->n_ref > 0)
                return NULL;

        g_free(plugin->id);
        g_free(plugin->name);
        g_free(plugin->root);
        g_free(plugin->root_display);
        g_free(plugin->workspace);
        g_free(plugin->data_name);
        bundle_free(plugin->bundle);
        g_free(plugin->inapplicable);
        g_free(plugin->shadowed_by);
        g_hash_table_unref(plugin->erased);
        trust_record_free(plugin->record);
        staged_copy_unref(plugin->staged);
        diagnostics_free(plugin->diagnostics);
        g_free(plugin->reason);
        g_free(plugin);
        return NULL;
}

void plugin_take_bundle(Plugin *plugin, Bundle *bundle, bool extension_host) {
        assert(strcmp(bundle->manifest->name, plugin->name) == 0);

        if (bundle != plugin->bundle) {
                bundle_free(plugin->bundle);
                plugin->bundle = bundle;
        }
        plugin->extension_host = extension_host;
        plugin->stale = false;
}

void plugin_take_record(Plugin *plugin, const TrustRecord *record) {
        TrustRecord *copy = trust_record_copy(record);

        trust_record_free(plugin->record);
        plugin->record = copy;
        g_hash_table_remove_all(plugin->erased);
        for (size_t i = 0; copy->trust && i < copy->trust->erased->len; i++) {
                TrustErased *erased = g_ptr_array_index(copy->trust->erased, i);

                g_hash_table_insert(plugin->erased, erased->path, erased);
        }
}

static char *find_reason(const Plugin *plugin) {
        const Diagnostic *error = diagnostics_first_error(plugin->diagnostics);

        switch (plugin_get_label(plugin)) {
        case PLUGIN_ACTIVE:
                return NULL;
        case PLUGIN_INACTIVE:
                if (plugin->state_invalid)
                        return g_strdup("The state file can't be trusted, so nothing is enabled.");
                if (error)
                        return g_strdup_printf("It has an error (%s): %s", diagnostic_code_to_string(error->code),
                                        error->message);
                return g_strdup("Its name belongs to a bundle of higher precedence.");
        case PLUGIN_INAPPLICABLE:
                return g_strdup(plugin->inapplicable);
        case PLUGIN_UNSUPPORTED:
                return g_strdup("Nothing that it declares is supported by this build.");
        case PLUGIN_ENABLED_UNTRUSTED:
        case PLUGIN_DISABLED:
                switch (plugin_get_trust(plugin)) {
                case TRUST_NOT_REVIEWED:
                        return g_strdup("It has not been reviewed; review and trust it first.");
                case TRUST_CONTENT_CHANGED:
                        return g_strdup("content-changed: Its content changed since it was reviewed; review it again.");
                case TRUST_CAPABILITIES_CHANGED:
                        return g_strdup("capabilities-changed: What it asks for, or what this service allows, changed since it "
                                        "was reviewed; review it again.");
                default:
                        return g_strdup("It is switched off; enable it.");
                }
        default:
                return g_strdup("Its sealed copy is gone or was altered; trust it again.");
        }
}

void plugin_update(Plugin *plugin) {
        diagnostics_free(plugin->diagnostics);
        plugin->diagnostics = diagnostics_new();
        diagnostics_append(plugin->diagnostics, plugin->bundle->diagnostics);
        if (plugin->shadowed_by)
                diagnostics_add(plugin->diagnostics, DIAGNOSTIC_NAME_CONFLICT, NULL,
                                "The name '%s' belongs to %s; this bundle can't be used.", plugin->name,
                                plugin->shadowed_by);
        if (plugin->staged_problem)
                diagnostics_add(plugin->diagnostics, DIAGNOSTIC_STAGED_INVALID, NULL, "%s", plugin->staged_problem);

        g_free(plugin->reason);
        plugin->reason = find_reason(plugin);
}

const char *plugin_get_id(const Plugin *plugin) {
        return plugin->id;
}

const char *plugin_get_name(const Plugin *plugin) {
        return plugin->name;
}

PluginScope plugin_get_scope(const Plugin *plugin) {
        return plugin->scope;
}

const char *plugin_get_root(const Plugin *plugin) {
        return plugin->root;
}

const char *plugin_get_root_display(const Plugin *plugin) {
        return plugin->root_display;
}

const char *plugin_get_workspace(const Plugin *plugin) {
        return plugin->workspace;
}

const char *plugin_get_data_name(const Plugin *plugin) {
        return plugin->data_name;
}

const char *plugin_get_display_name(const Plugin *plugin) {
        return plugin->bundle->manifest->display_name ? plugin->bundle->manifest->display_name : plugin->name;
}

const char *plugin_get_version(const Plugin *plugin) {
        return plugin->bundle->manifest->version;
}

const char *plugin_get_description(const Plugin *plugin) {
        return plugin->bundle->manifest->description;
}

bool plugin_is_enabled(const Plugin *plugin) {
        return plugin->record->enabled;
}

bool plugin_is_staged(const Plugin *plugin) {
        return plugin->staged;
}

bool plugin_is_applicable(const Plugin *plugin) {
        return plugin->applicable;
}

bool plugin_is_shadowed(const Plugin *plugin) {
        return plugin->shadowed_by;
}

bool plugin_is_installed(const Plugin *plugin) {
        return plugin->installed;
}

uint64_t plugin_get_generation(const Plugin *plugin) {
        return plugin->record->generation;
}

const char *plugin_get_content_hash(const Plugin *plugin) {
        return plugin->stale ? NULL : plugin->bundle->content_hash;
}

const char *plugin_get_capability_hash(const Plugin *plugin) {
        return plugin->stale ? NULL : plugin->bundle->capability_hash;
}

const Diagnostics *plugin_get_diagnostics(const Plugin *plugin) {
        return plugin->diagnostics;
}

const char *plugin_get_inactive_reason(const Plugin *plugin) {
        return plugin->reason;
}

StagedCopy *plugin_get_staged(const Plugin *plugin) {
        return plugin->staged;
}

TrustStatus plugin_get_trust(const Plugin *plugin) {
        const TrustReceipt *trust = plugin->record->trust;
        const char *content = plugin_get_content_hash(plugin);

        if (!trust)
                return TRUST_NOT_REVIEWED;
        if (!content) /* can't be read as a bundle any more */
                return TRUST_CONTENT_CHANGED;
        if (strcmp(trust->capability_hash, plugin_get_capability_hash(plugin)) != 0)
                return TRUST_CAPABILITIES_CHANGED;
        return strcmp(trust->content_hash, content) == 0 ? TRUST_TRUSTED : TRUST_CONTENT_CHANGED;
}

Compatibility plugin_get_compatibility(const Plugin *plugin) {
        size_t declared = 0;
        size_t supported = inventory_count_supported(&plugin->bundle->inventory, plugin->extension_host, &declared);

        if (supported == 0)
                return COMPATIBILITY_UNSUPPORTED;
        return supported == declared ? COMPATIBILITY_FULL : COMPATIBILITY_PARTIAL;
}

PluginLabel plugin_get_label(const Plugin *plugin) {
        if (plugin->state_invalid || plugin->shadowed_by || diagnostics_has_error(plugin->diagnostics))
                return PLUGIN_INACTIVE;
        if (!plugin->applicable)
                return PLUGIN_INAPPLICABLE;
        if (plugin_get_compatibility(plugin) == COMPATIBILITY_UNSUPPORTED)
                return PLUGIN_UNSUPPORTED;
        if (!plugin_is_enabled(plugin))
                return PLUGIN_DISABLED;
        if (plugin_get_trust(plugin) != TRUST_TRUSTED)
                return PLUGIN_ENABLED_UNTRUSTED;
        return plugin_is_staged(plugin) ? PLUGIN_ACTIVE : PLUGIN_UNSTAGED;
}

static void fill_file(const Plugin *plugin, const BundleNode *node, PluginFile *ret) {
        const TrustErased *erased = g_hash_table_lookup(plugin->erased, node->path);

        *ret = (PluginFile) {
                .path = node->path,
                .sha256 = node->sha256,
                .size = node->size,
                .executable = node->executable,
                .erased_path = erased ? erased->erased_path : NULL,
                .erased_sha256 = erased ? erased->erased_sha256 : NULL,
        };
}

/* What was reviewed where there is a sealed copy, else what is there. */
static const BundleTree *inventory_tree(const Plugin *plugin) {
        return plugin->staged ? staged_copy_get_tree(plugin->staged) : plugin->bundle->tree;
}

int plugin_foreach_file(const Plugin *plugin, int (*on_file)(const PluginFile *file, void *userdata), void *userdata) {
        const BundleTree *tree = inventory_tree(plugin);

        for (size_t i = 0; tree && i < tree->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(tree->nodes, i);
                PluginFile file;
                int r;

                if (node->directory || node->ours)
                        continue;
                fill_file(plugin, node, &file);
                r = on_file(&file, userdata);
                if (r != 0)
                        return r;
        }
        return 0;
}

bool plugin_find_file(const Plugin *plugin, const char *path, PluginFile *ret) {
        const BundleTree *tree = inventory_tree(plugin);
        const BundleNode *node = tree ? bundle_tree_find(tree, path) : NULL;

        if (!node || node->directory || node->ours)
                return false;

        fill_file(plugin, node, ret);
        return true;
}

size_t plugin_count_native(const Plugin *plugin) {
        return bundle_count_native(plugin->bundle);
}

bool plugin_get_native(const Plugin *plugin, size_t index, PluginFile *ret) {
        if (index >= bundle_count_native(plugin->bundle))
                return false;
        return plugin_find_file(plugin, plugin->bundle->manifest->components[COMPONENT_NATIVE][index], ret);
}

bool plugin_declares_skill(const Plugin *plugin, const char *path) {
        return inventory_is_skill(plugin->bundle->manifest, path);
}

char **plugin_get_skill_folders(const Plugin *plugin) {
        return plugin->bundle->manifest->components[COMPONENT_SKILLS];
}
