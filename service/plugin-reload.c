/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/discovery.h"
#include "service/plugin-private.h"
#include "service/plugin-reload.h"
#include "service/staging.h"

#define WORKSPACE_FOLDER ".codewhale/plugins"

struct PluginReload {
        PluginSet *set;
        Diagnostics *diagnostics;
        GPtrArray *entries; /* of DiscoveryEntry */
        size_t next;
        int root; /* of the entry that is being loaded */
        BundleLoad *load;
        GPtrArray *found; /* of Found */
        size_t next_copy; /* of @found, whose sealed copy is to be hashed */
        StagedLoad *staged_load;
        bool state_read;
        uint64_t attachments; /* of the set, when this look at them began */
        unsigned n_again;
};

/* A bundle that was loaded but is not in the set yet */
typedef struct Found {
        const DiscoveryEntry *entry;
        Bundle *bundle;
} Found;

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The roots in order of precedence: builtin, user, workspaces. */
static GPtrArray *list_entries(PluginSet *set, Diagnostics *diagnostics) {
        guint n_workspaces = 0;
        g_autofree char **workspaces = (char **) g_hash_table_get_keys_as_array(set->workspaces, &n_workspaces);
        g_autoptr(GArray) roots = g_array_new(FALSE, FALSE, sizeof(DiscoveryRoot));
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
        DiscoveryRoot root;

        qsort(workspaces, n_workspaces, sizeof *workspaces, compare_strings);
        if (set->builtin_directory) {
                root = (DiscoveryRoot) { .scope = PLUGIN_BUILTIN, .path = set->builtin_directory };
                g_array_append_val(roots, root);
        }
        root = (DiscoveryRoot) { .scope = PLUGIN_USER, .path = codewhale_home_get_path(set->home, HOME_PLUGINS) };
        g_array_append_val(roots, root);
        for (guint i = 0; i < n_workspaces; i++) {
                root = (DiscoveryRoot) {
                        .scope = PLUGIN_WORKSPACE,
                        .path = g_build_filename(workspaces[i], WORKSPACE_FOLDER, NULL),
                        .workspace = workspaces[i],
                };
                g_ptr_array_add(paths, (char *) root.path);
                g_array_append_val(roots, root);
        }
        return discovery_list((DiscoveryRoot *) roots->data, roots->len, diagnostics);
}

/* What is wrong with a bundle that can't even be listed is said of its path. */
static void report_bundle(PluginReload *reload, const DiscoveryEntry *entry, const Diagnostics *diagnostics) {
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *item = diagnostics_get(diagnostics, i);
                g_autofree char *path = item->path ? g_build_filename(entry->path, item->path, NULL) : NULL;

                diagnostics_add(reload->diagnostics, item->code, path ? path : entry->path, "%s", item->message);
        }
}

static void found_free(void *data) {
        Found *found = data;

        bundle_free(found->bundle);
        g_free(found);
}

static void begin(PluginReload *reload) {
        reload->attachments = reload->set->attachments;
        reload->diagnostics = diagnostics_new();
        reload->entries = list_entries(reload->set, reload->diagnostics);
        reload->found = g_ptr_array_new_with_free_func(found_free);
        reload->next = reload->next_copy = 0;
}

/* A workspace came or went while this looked: what was found is of a set that nobody wants any more (contract 3.13, A21). */
static bool begin_again(PluginReload *reload) {
        if (reload->attachments == reload->set->attachments || reload->n_again >= RELOADS_AGAIN_MAX)
                return false;

        reload->n_again++;
        g_clear_pointer(&reload->found, g_ptr_array_unref);
        g_clear_pointer(&reload->entries, g_ptr_array_unref);
        reload->diagnostics = diagnostics_free(reload->diagnostics);
        begin(reload);
        return true;
}

PluginReload *plugin_reload_new(PluginSet *set) {
        PluginReload *reload = g_new0(PluginReload, 1);

        reload->set = set;
        reload->root = -EBADF;
        begin(reload);
        return reload;
}

PluginReload *plugin_reload_free(PluginReload *reload) {
        if (!reload)
                return NULL;

        bundle_load_free(reload->load);
        staged_load_free(reload->staged_load);
        close_fd(&reload->root);
        g_ptr_array_unref(reload->found);
        g_ptr_array_unref(reload->entries);
        diagnostics_free(reload->diagnostics);
        g_free(reload);
        return NULL;
}

static void begin_entry(PluginReload *reload, const DiscoveryEntry *entry) {
        BundleOptions options = { .extension_host = reload->set->extension_host };

        reload->root = safe_open_directory(entry->path);
        if (reload->root >= 0)
                reload->load = bundle_load_new(reload->root, &options);
        else
                diagnostics_add(reload->diagnostics, DIAGNOSTIC_BUNDLE_READ_FAILED, entry->path, "%s",
                                g_strerror(-reload->root));
}

static void end_entry(PluginReload *reload, const DiscoveryEntry *entry, int r) {
        if (r < 0 && r != -ENOENT)
                report_bundle(reload, entry, bundle_load_get_diagnostics(reload->load));
        if (r >= 0) {
                Found *found = g_new0(Found, 1);

                found->entry = entry;
                found->bundle = bundle_load_steal(reload->load);
                g_ptr_array_add(reload->found, found);
        }
        reload->load = bundle_load_free(reload->load);
        close_fd(&reload->root);
}

/* What changes in the set, kept until all of it is done */
typedef struct Settle {
        GPtrArray *before; /* plugins */
        GPtrArray *added;
        GArray *changes; /* of PluginChange */
} Settle;

static Plugin *find_before(const Settle *settle, const char *id) {
        for (size_t i = 0; i < settle->before->len; i++) {
                Plugin *plugin = g_ptr_array_index(settle->before, i);

                if (strcmp(plugin->id, id) == 0)
                        return plugin;
        }
        return NULL;
}

static void settle_found(PluginSet *set, Found *found, Settle *settle) {
        const DiscoveryEntry *entry = found->entry;
        g_autofree char *id = discovery_plugin_id(entry->scope, entry->path, found->bundle->manifest->name);
        Plugin *plugin = find_before(settle, id);
        Bundle *bundle = g_steal_pointer(&found->bundle);

        if (plugin) {
                PluginChange change = plugin_change_begin(plugin);

                g_array_append_val(settle->changes, change);
                plugin_ref(plugin);
        } else {
                plugin = plugin_new(entry->scope, entry->workspace, entry->path, bundle);
                g_ptr_array_add(settle->added, plugin);
        }
        plugin_set_take_bundle(set, plugin, bundle);
        plugin_set_take_state(set, plugin);
        plugin->found = true;
        g_ptr_array_add(set->plugins, plugin);
}

static int compare_plugins(const void *a, const void *b) {
        const Plugin *one = *(Plugin *const *) a, *other = *(Plugin *const *) b;
        int r = (int) one->scope - (int) other->scope;

        if (r == 0)
                r = strcmp(one->name, other->name);
        return r != 0 ? r : strcmp(one->root, other->root);
}

static void announce(PluginSet *set, Settle *settle) {
        for (size_t i = 0; i < settle->before->len; i++) {
                Plugin *plugin = g_ptr_array_index(settle->before, i);

                if (plugin->found)
                        continue;
                if (set->events.removed)
                        set->events.removed(set, plugin, set->userdata);
                if (set->watch)
                        plugin_watch_follow(set->watch, plugin);
                /* Whoever still keeps the plugin does not keep its sealed copy by that. */
                plugin->staged = staged_copy_unref(plugin->staged);
        }
        for (size_t i = 0; i < settle->changes->len; i++)
                plugin_change_end(set, &g_array_index(settle->changes, PluginChange, i));
        for (size_t i = 0; i < settle->added->len; i++) {
                Plugin *plugin = g_ptr_array_index(settle->added, i);

                if (set->watch)
                        plugin_watch_follow(set->watch, plugin);
                if (set->events.added)
                        set->events.added(set, plugin, set->userdata);
        }
}

static GPtrArray *new_plugins(void) {
        return g_ptr_array_new_with_free_func(plugin_set_unref_plugin);
}

static void settle(PluginReload *reload) {
        PluginSet *set = reload->set;
        g_autoptr(GPtrArray) before = g_steal_pointer(&set->plugins), added = g_ptr_array_new();
        g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(PluginChange));
        Settle all = { .before = before, .added = added, .changes = changes };

        set->plugins = new_plugins();
        diagnostics_free(set->discovered);
        set->discovered = g_steal_pointer(&reload->diagnostics);
        for (size_t i = 0; i < before->len; i++)
                ((Plugin *) g_ptr_array_index(before, i))->found = false;

        (void) plugin_set_refresh_state(set, NULL);
        for (size_t i = 0; i < reload->found->len; i++)
                settle_found(set, g_ptr_array_index(reload->found, i), &all);

        g_ptr_array_sort(set->plugins, compare_plugins);
        plugin_set_settle_names(set->plugins);
        for (size_t i = 0; i < set->plugins->len; i++)
                plugin_update(g_ptr_array_index(set->plugins, i));
        plugin_set_update_diagnostics(set);
        announce(set, &all);

        /* Plugins that are gone let go of their sealed copies first. */
        g_clear_pointer(&before, g_ptr_array_unref);
        plugin_set_tidy(set);
}

/* Sealed copies are hashed before the set changes, so that the change itself is quick. */
static int begin_copy(PluginReload *reload, const Found *found) {
        PluginSet *set = reload->set;
        const DiscoveryEntry *entry = found->entry;
        g_autofree char *id = discovery_plugin_id(entry->scope, entry->path, found->bundle->manifest->name);
        const TrustRecord *record = trust_state_get(set->state, id);
        StagedCopy *known;

        if (!record || !record->trust)
                return 0;
        known = plugin_set_find_copy(set, id, record->trust);
        if (known && staged_copy_is_unchanged(known))
                return 0;
        return staged_load_new(set->home, id, record->trust, known, &reload->staged_load) >= 0;
}

static int step_copies(PluginReload *reload) {
        if (!reload->state_read)
                (void) plugin_set_refresh_state(reload->set, NULL);
        reload->state_read = true;

        if (!reload->staged_load) {
                if (reload->next_copy >= reload->found->len) {
                        if (begin_again(reload))
                                return 1;
                        settle(reload);
                        return 0;
                }
                (void) begin_copy(reload, g_ptr_array_index(reload->found, reload->next_copy++));
                return 1;
        }
        switch (staged_load_step(reload->staged_load)) {
        case 1:
                return 1;
        case 0: {
                g_autoptr(StagedCopy) copy = staged_load_steal(reload->staged_load);

                plugin_set_keep_copy(reload->set, copy);
                break;
        }
        default: /* said when the plugin gets its state */
                break;
        }
        reload->staged_load = staged_load_free(reload->staged_load);
        return 1;
}

int plugin_reload_step(PluginReload *reload) {
        const DiscoveryEntry *entry;
        int r;

        if (reload->next >= reload->entries->len)
                return step_copies(reload);

        entry = g_ptr_array_index(reload->entries, reload->next);
        if (!reload->load) {
                begin_entry(reload, entry);
                if (!reload->load)
                        reload->next++;
                return 1;
        }
        r = bundle_load_step(reload->load);
        if (r <= 0) {
                end_entry(reload, entry, r);
                reload->next++;
        }
        return 1;
}
