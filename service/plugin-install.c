/* SPDX-License-Identifier: MIT */
/* The transitions of contract 2.5 that change the folder of bundles; and the two that only show: review and preview. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/safe-file.h"
#include "service/discovery.h"
#include "service/installer.h"
#include "service/marker.h"
#include "service/plugin-private.h"
#include "service/remote-source.h"
#include "service/review.h"

char *plugin_set_write_review(PluginSet *set, Plugin *plugin, ReviewFlags flags) {
        _cleanup_close_ int root = safe_open_directory(plugin->root);
        ReviewSubject subject = {
                .plugin = plugin,
                .bundle = plugin->bundle,
                .root = plugin->root,
                .root_fd = root,
                .home = set->home,
                .extension_host = set->extension_host,
        };

        return review_write(&subject, flags);
}

int plugin_set_review(PluginSet *set, Plugin *plugin, ReviewFlags flags, char **ret_json, sd_bus_error *reterr) {
        PluginChange change;

        /* A state file that can't be trusted only takes the differences away. */
        (void) plugin_set_sync_state(set, NULL);
        change = plugin_change_begin(plugin);
        plugin_set_load_bundle(set, plugin, true);
        plugin_change_end(set, &change);
        if (plugin->stale)
                return errors_set(reterr, ERROR_INVALID_BUNDLE, "%s can't be loaded any more; reload and see.",
                                plugin->root_display);

        *ret_json = plugin_set_write_review(set, plugin, flags);
        return 0;
}

/* In a worker: how much of the source was read, for the daemon to tell. */
static void note_progress(uint64_t done, uint64_t total, void *userdata) {
        PluginProgress *progress = userdata;

        progress->stage = PLUGIN_STAGE_READING;
        progress->done = done;
        progress->total = total;
}

static void begin_writing(PluginSet *set) {
        if (!set->progress)
                return;
        set->progress->done = set->progress->total = 0;
        set->progress->stage = PLUGIN_STAGE_WRITING;
}

static int open_source(
                PluginSet *set, const char *text, const char *fetched, InstallSource **ret, sd_bus_error *reterr) {
        const InstallSourceOptions options = {
                .scratch = codewhale_home_get_path(set->home, HOME_ROOT),
                .extension_host = set->extension_host,
                .fetched = fetched,
                .progress = set->progress ? note_progress : NULL,
                .userdata = set->progress,
        };
        int r = install_source_open(text, &options, ret, reterr);

        if (r >= 0)
                begin_writing(set);
        return r;
}

int plugin_set_preview(PluginSet *set, const char *source, char **ret_json, sd_bus_error *reterr) {
        return plugin_set_preview_fetched(set, source, NULL, ret_json, reterr);
}

int plugin_set_preview_fetched(
                PluginSet *set, const char *source, const char *fetched, char **ret_json, sd_bus_error *reterr) {
        ReviewSubject subject = { .home = set->home, .extension_host = set->extension_host };
        g_autoptr(InstallSource) opened = NULL;
        g_autofree char *shown = NULL;
        int r;

        r = open_source(set, source, fetched, &opened, reterr);
        if (r < 0)
                return r;

        subject.bundle = opened->bundle;
        shown = opened->unpacked ? remote_source_show(opened->text) : g_strdup(opened->root);
        subject.root = shown;
        subject.root_fd = opened->root_fd;
        *ret_json = review_write(&subject, REVIEW_FILES);
        return 0;
}

static int check_name_free(const PluginSet *set, const char *name, sd_bus_error *reterr) {
        for (size_t i = 0; i < set->plugins->len; i++) {
                const Plugin *plugin = g_ptr_array_index(set->plugins, i);

                if (plugin->scope != PLUGIN_WORKSPACE && strcmp(plugin->name, name) == 0)
                        return errors_set(reterr, ERROR_ALREADY_INSTALLED, "The name %s belongs to %s.", name, plugin->id);
        }
        return 0;
}

int plugin_set_place(
                PluginSet *set, const char *source, const char *fetched, const char *expected_hash, char **ret_name,
                char **ret_hash, sd_bus_error *reterr) {
        g_autoptr(InstallSource) opened = NULL;
        _cleanup_close_ int plugins = -EBADF;
        int r;

        r = open_source(set, source, fetched, &opened, reterr);
        if (r < 0)
                return r;
        r = check_name_free(set, opened->bundle->manifest->name, reterr);
        if (r < 0)
                return r;
        plugins = codewhale_home_make(set->home, HOME_PLUGINS);
        if (plugins < 0)
                return errors_set(reterr, ERROR_IO, "%s can't be used: %s.",
                                codewhale_home_get_path(set->home, HOME_PLUGINS), codewhale_home_explain(plugins));

        r = installer_place(plugins, opened, expected_hash, reterr);
        if (r < 0)
                return r;

        *ret_name = g_strdup(opened->bundle->manifest->name);
        *ret_hash = g_strdup(opened->bundle->content_hash);
        return 0;
}

int plugin_set_find_placed(PluginSet *set, const char *name, const char *hash, Plugin **ret, sd_bus_error *reterr) {
        for (size_t i = 0; i < set->plugins->len; i++) {
                Plugin *plugin = g_ptr_array_index(set->plugins, i);

                if (plugin->scope != PLUGIN_USER || strcmp(plugin->name, name) != 0 || !plugin->installed)
                        continue;
                if (g_strcmp0(plugin_get_content_hash(plugin), hash) != 0)
                        return errors_set(reterr, ERROR_CONTENT_CHANGED, "The bundle changed right after it was installed.");
                *ret = plugin;
                return 0;
        }
        return errors_set(reterr, ERROR_IO, "The bundle was installed but is not found.");
}

int plugin_set_install(PluginSet *set, const char *source, const char *expected_hash, Plugin **ret, sd_bus_error *reterr) {
        g_autofree char *name = NULL, *hash = NULL;
        int r;

        r = plugin_set_place(set, source, NULL, expected_hash, &name, &hash, reterr);
        if (r >= 0)
                r = plugin_set_reload(set, reterr); /* finds it the same way as everything else is found */
        return r < 0 ? r : plugin_set_find_placed(set, name, hash, ret, reterr);
}

int plugin_find_remote(const Plugin *plugin, char **ret_source, sd_bus_error *reterr) {
        _cleanup_close_ int root = safe_open_directory(plugin->root);
        g_autofree char *source = root >= 0 ? marker_read_source(root) : NULL;

        if (plugin->scope != PLUGIN_USER || !source)
                return errors_set(reterr, ERROR_NOT_INSTALLED_BY_US, "%s was not put there by an install.", plugin->name);
        if (g_str_has_prefix(source, "path:"))
                return errors_set(reterr, ERROR_NOT_SUPPORTED,
                                "%s came from a local path, which is not asked again: disable, uninstall and install it.",
                                plugin->name);

        *ret_source = g_steal_pointer(&source);
        return 0;
}

static int replace(
                PluginSet *set, const Plugin *plugin, InstallSource *source, const char *expected_hash,
                sd_bus_error *reterr) {
        g_autofree char *folder = g_path_get_basename(plugin->root);
        _cleanup_close_ int plugins = codewhale_home_open(set->home, HOME_PLUGINS);

        if (plugins < 0)
                return errors_set(reterr, ERROR_IO, "%s can't be opened: %s.",
                                codewhale_home_get_path(set->home, HOME_PLUGINS), codewhale_home_explain(plugins));
        if (strcmp(source->bundle->manifest->name, plugin->name) != 0)
                return errors_set(reterr, ERROR_INVALID_BUNDLE, "The newer bundle calls itself %s, not %s.",
                                source->bundle->manifest->name, plugin->name);
        return installer_replace(plugins, folder, source, expected_hash, reterr);
}

int plugin_set_put(
                PluginSet *set, Plugin *plugin, const char *fetched, const char *expected_hash, sd_bus_error *reterr) {
        g_autoptr(InstallSource) opened = NULL;
        g_autofree char *source = NULL;
        int r;

        r = plugin_find_remote(plugin, &source, reterr);
        if (r < 0)
                return r;
        if (!fetched)
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "There is nothing here that fetches bundles.");
        r = open_source(set, source, fetched, &opened, reterr);
        return r < 0 ? r : replace(set, plugin, opened, expected_hash, reterr);
}

int plugin_set_update(
                PluginSet *set, Plugin *plugin, const char *archive, const char *expected_hash, sd_bus_error *reterr) {
        int r = plugin_set_put(set, plugin, archive, expected_hash, reterr);

        if (r > 0)
                (void) plugin_set_reload(set, NULL);
        return r;
}

static int remove_record(PluginSet *set, const char *plugin_id, sd_bus_error *reterr) {
        int r;

        do {
                r = plugin_set_refresh_state(set, reterr);
                if (r < 0)
                        return r;
                r = trust_state_remove(set->state, plugin_id, trust_state_get(set->state, plugin_id), reterr);
        } while (r == -ESTALE);
        return r;
}

int plugin_set_check_uninstall(PluginSet *set, Plugin *plugin, sd_bus_error *reterr) {
        int r;

        r = plugin_set_sync_state(set, reterr);
        if (r < 0)
                return r;
        if (!plugin->found)
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "%s is not there any more.", plugin->id);
        if (plugin->record->enabled)
                return errors_set(reterr, ERROR_STILL_ENABLED, "%s is enabled; disable it first.", plugin->name);
        if (plugin->scope != PLUGIN_USER)
                return errors_set(reterr, ERROR_NOT_INSTALLED_BY_US, "%s is no installed bundle but one of the %s.",
                                plugin->name, plugin->scope == PLUGIN_BUILTIN ? "service" : "workspace");
        return 0;
}

int plugin_set_take_away(PluginSet *set, const Plugin *plugin, sd_bus_error *reterr) {
        g_autofree char *folder = g_path_get_basename(plugin->root);
        _cleanup_close_ int plugins = codewhale_home_open(set->home, HOME_PLUGINS);
        int r;

        if (plugins < 0)
                return errors_set(reterr, ERROR_IO, "%s can't be opened: %s.",
                                codewhale_home_get_path(set->home, HOME_PLUGINS), codewhale_home_explain(plugins));
        r = installer_remove(plugins, folder, reterr);
        if (r < 0)
                return r;

        /* From here on it is gone; what fails now, the sweep of the next start makes good. */
        r = remove_record(set, plugin->id, reterr);
        if (r >= 0)
                installer_sweep(plugins, NULL, NULL);
        return r;
}

int plugin_set_uninstall(PluginSet *set, Plugin *plugin, sd_bus_error *reterr) {
        g_autoptr(Plugin) held = plugin_ref(plugin); /* the reload lets it go */
        int r;

        r = plugin_set_check_uninstall(set, held, reterr);
        if (r < 0)
                return r;

        r = plugin_set_take_away(set, held, reterr);
        (void) plugin_set_reload(set, NULL);
        return r;
}

static void forget_gone(const char *folder, const char *name, void *userdata) {
        PluginSet *set = userdata;
        g_autofree char *plugins = realpath(codewhale_home_get_path(set->home, HOME_PLUGINS), NULL);
        g_autofree char *path = plugins ? g_build_filename(plugins, folder, NULL) : NULL;
        g_autofree char *id = NULL;

        if (!path)
                return;
        id = discovery_plugin_id(PLUGIN_USER, path, name);

        (void) remove_record(set, id, NULL);
}

void plugin_set_recover(PluginSet *set) {
        _cleanup_close_ int plugins = codewhale_home_open(set->home, HOME_PLUGINS);

        install_source_sweep(codewhale_home_get_path(set->home, HOME_ROOT));
        if (plugins >= 0 && plugin_set_refresh_state(set, NULL) >= 0)
                installer_sweep(plugins, forget_gone, set);
}
