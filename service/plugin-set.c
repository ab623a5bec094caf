/* SPDX-License-Identifier: MIT */
/* The collection: discovery into it, finding in it, keeping its facts true. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/safe-file.h"
#include "service/discovery.h"
#include "service/plugin-private.h"
#include "service/plugin-reload.h"
#include "service/plugin-set.h"

void plugin_set_unref_plugin(void *plugin) {
        plugin_unref(plugin);
}

static void unref_copy(void *copy) {
        staged_copy_unref(copy);
}

PluginSet *plugin_set_new(CodewhaleHome *home, const PluginSetOptions *options) {
        PluginSet *set = g_new0(PluginSet, 1);

        set->home = codewhale_home_ref(home);
        set->extension_host = options->extension_host;
        set->builtin_directory = g_strdup(options->builtin_directory);
        set->search_path = g_strdup(options->search_path ? options->search_path : g_getenv("PATH"));
        set->workspaces = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        set->state = trust_state_new(codewhale_home_get_path(home, HOME_PLUGINS));
        set->plugins = g_ptr_array_new_with_free_func(plugin_set_unref_plugin);
        set->copies = g_ptr_array_new_with_free_func(unref_copy);
        set->discovered = diagnostics_new();
        set->diagnostics = diagnostics_new();
        g_queue_init(&set->jobs);
        return set;
}

PluginSet *plugin_set_free(PluginSet *set) {
        if (!set)
                return NULL;

        assert(g_queue_is_empty(&set->jobs)); /* whoever started one frees it first */
        g_ptr_array_unref(set->plugins);
        g_ptr_array_unref(set->copies);
        lease_table_free(set->leases);
        g_hash_table_unref(set->workspaces);
        trust_state_free(set->state);
        diagnostics_free(set->discovered);
        diagnostics_free(set->diagnostics);
        g_free(set->builtin_directory);
        g_free(set->search_path);
        g_free(set->state_problem);
        codewhale_home_unref(set->home);
        g_free(set);
        return NULL;
}

int plugin_set_use_leases(PluginSet *set, sd_event *event) {
        assert(!set->leases);

        return lease_table_new(event, &set->leases);
}

void plugin_set_set_events(PluginSet *set, const PluginSetEvents *events, void *userdata) {
        set->events = events ? *events : (PluginSetEvents) {};
        set->userdata = userdata;
}

void plugin_set_set_extension_host(PluginSet *set, bool enabled) {
        set->extension_host = enabled;
}

bool plugin_set_get_extension_host(const PluginSet *set) {
        return set->extension_host;
}

int plugin_set_add_workspace(PluginSet *set, const char *workspace) {
        g_autofree char *clean = NULL;
        unsigned count;

        if (!workspace || !g_path_is_absolute(workspace))
                return -EINVAL;

        clean = g_canonicalize_filename(workspace, "/");
        count = GPOINTER_TO_UINT(g_hash_table_lookup(set->workspaces, clean));
        g_hash_table_insert(set->workspaces, g_steal_pointer(&clean), GUINT_TO_POINTER(count + 1));
        set->attachments += count == 0;
        return count == 0;
}

void plugin_set_remove_workspace(PluginSet *set, const char *workspace) {
        g_autofree char *clean = g_canonicalize_filename(workspace, "/");
        unsigned count = GPOINTER_TO_UINT(g_hash_table_lookup(set->workspaces, clean));

        if (count > 1)
                g_hash_table_insert(set->workspaces, g_steal_pointer(&clean), GUINT_TO_POINTER(count - 1));
        else if (g_hash_table_remove(set->workspaces, clean))
                set->attachments++;
}

const Diagnostics *plugin_set_get_diagnostics(const PluginSet *set) {
        return set->diagnostics;
}

size_t plugin_set_count(const PluginSet *set) {
        return set->plugins->len;
}

Plugin *plugin_set_get(const PluginSet *set, size_t index) {
        return index < set->plugins->len ? g_ptr_array_index(set->plugins, index) : NULL;
}

static Plugin *find_by_id(const PluginSet *set, const char *id) {
        for (size_t i = 0; i < set->plugins->len; i++) {
                Plugin *plugin = g_ptr_array_index(set->plugins, i);

                if (strcmp(plugin->id, id) == 0)
                        return plugin;
        }
        return NULL;
}

int plugin_set_find(const PluginSet *set, const char *id_or_name, Plugin **ret, sd_bus_error *reterr) {
        Plugin *found = find_by_id(set, id_or_name);

        for (size_t i = 0; i < set->plugins->len && !strchr(id_or_name, '/'); i++) {
                Plugin *plugin = g_ptr_array_index(set->plugins, i);

                if (plugin->shadowed_by || strcmp(plugin->name, id_or_name) != 0)
                        continue;
                if (found)
                        return errors_set(reterr, ERROR_AMBIGUOUS_PLUGIN,
                                        "Two workspaces have a plugin '%s'; name it by its id: %s or %s.", id_or_name,
                                        found->id, plugin->id);
                found = plugin;
        }
        if (!found)
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "There is no plugin '%s'.", id_or_name);

        *ret = found;
        return 0;
}

static char *describe(const Plugin *plugin) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        plugin_describe(plugin, &writer);
        return jwriter_steal(&writer, NULL);
}

PluginChange plugin_change_begin(Plugin *plugin) {
        return (PluginChange) { .plugin = plugin_ref(plugin), .before = describe(plugin) };
}

void plugin_change_end(PluginSet *set, PluginChange *change) {
        g_autoptr(Plugin) plugin = g_steal_pointer(&change->plugin);
        g_autofree char *before = g_steal_pointer(&change->before), *after = NULL;

        plugin_update(plugin);
        if (set->watch)
                plugin_watch_follow(set->watch, plugin);
        after = describe(plugin);
        if (strcmp(before, after) != 0 && set->events.changed)
                set->events.changed(set, plugin, set->userdata);
}

/* Whether our installer put it there: it left its marker. */
static bool has_marker(const Plugin *plugin) {
        g_autofree char *path = g_build_filename(plugin->root, BUNDLE_MARKER_NAME, NULL);
        struct stat status;

        return plugin->scope == PLUGIN_USER && lstat(path, &status) == 0 && S_ISREG(status.st_mode);
}

void plugin_set_take_bundle(PluginSet *set, Plugin *plugin, Bundle *bundle) {
        plugin_take_bundle(plugin, bundle, set->extension_host);
        plugin->installed = has_marker(plugin);
        g_clear_pointer(&plugin->inapplicable, g_free);
        plugin->applicable = manifest_applies(bundle->manifest, set->search_path, &plugin->inapplicable);
}

void plugin_set_take_load(PluginSet *set, Plugin *plugin, BundleLoad *load, int r) {
        g_autoptr(BundleLoad) taken = load;
        g_autoptr(Bundle) bundle = r >= 0 ? bundle_load_steal(taken) : NULL;

        plugin->stale = true;
        if (!bundle || strcmp(bundle->manifest->name, plugin->name) != 0)
                return;

        plugin_set_take_bundle(set, plugin, g_steal_pointer(&bundle));
}

BundleLoad *plugin_set_begin_load(PluginSet *set, Plugin *plugin, bool fresh, int *ret_root) {
        BundleOptions options = {
                .extension_host = set->extension_host,
                .previous = fresh ? NULL : plugin->bundle->tree,
        };
        int root = safe_open_directory(plugin->root);

        if (root < 0)
                return NULL;

        *ret_root = root;
        return bundle_load_new(root, &options);
}

void plugin_set_load_bundle(PluginSet *set, Plugin *plugin, bool fresh) {
        _cleanup_close_ int root = -EBADF;
        BundleLoad *load = plugin_set_begin_load(set, plugin, fresh, &root);

        plugin_set_take_load(set, plugin, load, load ? bundle_load_run(load) : -ENOENT);
}

void plugin_set_keep_copy(PluginSet *set, StagedCopy *copy) {
        g_autofree char *path = g_strdup(staged_copy_get_path(copy));

        /* A newer look at the same copy takes the place of the older. */
        for (size_t i = set->copies->len; i > 0; i--)
                if (strcmp(staged_copy_get_path(g_ptr_array_index(set->copies, i - 1)), path) == 0 &&
                                !staged_copy_is_held(g_ptr_array_index(set->copies, i - 1)))
                        g_ptr_array_remove_index(set->copies, (guint) (i - 1));
        g_ptr_array_add(set->copies, staged_copy_ref(copy));
}

StagedCopy *plugin_set_find_copy(PluginSet *set, const char *plugin_id, const TrustReceipt *receipt) {
        g_autofree char *folder = staged_copy_folder(plugin_id);
        g_autofree char *end = g_build_filename("/", folder, receipt->content_hash, NULL);

        for (size_t i = set->copies->len; i > 0; i--) {
                StagedCopy *copy = g_ptr_array_index(set->copies, i - 1);

                if (g_str_has_suffix(staged_copy_get_path(copy), end) && staged_copy_matches(copy, receipt))
                        return copy;
        }
        return NULL;
}

void plugin_set_load_staged(PluginSet *set, Plugin *plugin) {
        const TrustReceipt *trust = plugin->record->trust;
        g_autoptr(StagedCopy) old = g_steal_pointer(&plugin->staged), copy = NULL;
        StagedCopy *known;
        int r;

        plugin->staged_problem = NULL;
        if (!trust)
                return;

        known = old && staged_copy_matches(old, trust) ? old : plugin_set_find_copy(set, plugin->id, trust);
        if (known && staged_copy_is_unchanged(known)) {
                plugin->staged = staged_copy_ref(known);
                return;
        }
        r = staged_copy_load(set->home, plugin->id, trust, known, &copy);
        if (r >= 0) {
                plugin_set_keep_copy(set, copy);
                plugin->staged = g_steal_pointer(&copy);
        } else
                plugin->staged_problem = r == -ENOENT ? "The sealed copy of what was reviewed is not there."
                                                      : "The sealed copy is not what was reviewed.";
}

void plugin_set_take_state(PluginSet *set, Plugin *plugin) {
        plugin->state_invalid = set->state_problem;
        plugin_take_record(plugin, trust_state_get(set->state, plugin->id));
        plugin_set_load_staged(set, plugin);
}

static char *write_diagnostics(const Diagnostics *diagnostics) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        diagnostics_write(diagnostics, &writer);
        return jwriter_steal(&writer, NULL);
}

void plugin_set_update_diagnostics(PluginSet *set) {
        g_autoptr(Diagnostics) old = g_steal_pointer(&set->diagnostics);
        g_autofree char *before = write_diagnostics(old), *after = NULL;

        set->diagnostics = diagnostics_new();
        if (set->state_problem)
                diagnostics_add(set->diagnostics, DIAGNOSTIC_STATE_INVALID, NULL, "%s", set->state_problem);
        diagnostics_append(set->diagnostics, set->discovered);

        after = write_diagnostics(set->diagnostics);
        if (strcmp(before, after) != 0 && set->events.diagnostics_changed)
                set->events.diagnostics_changed(set, set->userdata);
}

int plugin_set_refresh_state(PluginSet *set, sd_bus_error *reterr) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        bool was_invalid = set->state_problem;
        int r = trust_state_refresh(set->state, &error);

        g_clear_pointer(&set->state_problem, g_free);
        if (r < 0) {
                set->state_problem = g_strdup(error.message ? error.message : g_strerror(-r));
                (void) sd_bus_error_copy(reterr, &error);
                return r;
        }
        return r > 0 || was_invalid;
}

int plugin_set_sync_state(PluginSet *set, sd_bus_error *reterr) {
        g_autoptr(GArray) changes = NULL;
        bool was_invalid = set->state_problem;
        int r = plugin_set_refresh_state(set, reterr);

        if (r == 0 || (r < 0 && was_invalid))
                return r;

        plugin_set_update_diagnostics(set);

        changes = g_array_new(FALSE, FALSE, sizeof(PluginChange));
        for (size_t i = 0; i < set->plugins->len; i++) {
                PluginChange change = plugin_change_begin(g_ptr_array_index(set->plugins, i));

                plugin_set_take_state(set, change.plugin);
                plugin_update(change.plugin);
                g_array_append_val(changes, change);
        }
        for (size_t i = 0; i < changes->len; i++)
                plugin_change_end(set, &g_array_index(changes, PluginChange, i));
        return r < 0 ? r : 0;
}

int plugin_set_reload(PluginSet *set, sd_bus_error *reterr) {
        g_autoptr(PluginReload) reload = NULL;

        (void) reterr;
        if (!set->recovered)
                plugin_set_recover(set);
        set->recovered = true;

        reload = plugin_reload_new(set);
        while (plugin_reload_step(reload) > 0)
                continue;
        return 0;
}

/* Two workspaces don't get into each other's way; everything else shares one space of names. */
static bool competes(const Plugin *a, const Plugin *b) {
        return strcmp(a->name, b->name) == 0 &&
                        (a->scope != PLUGIN_WORKSPACE || b->scope != PLUGIN_WORKSPACE ||
                                        g_strcmp0(a->workspace, b->workspace) == 0);
}

void plugin_set_settle_names(GPtrArray *plugins) {
        for (size_t i = 0; i < plugins->len; i++) {
                Plugin *plugin = g_ptr_array_index(plugins, i);

                g_clear_pointer(&plugin->shadowed_by, g_free);
                for (size_t j = 0; j < i && !plugin->shadowed_by; j++) {
                        const Plugin *higher = g_ptr_array_index(plugins, j);

                        if (!higher->shadowed_by && competes(higher, plugin))
                                plugin->shadowed_by = g_strdup(higher->id);
                }
        }
}
