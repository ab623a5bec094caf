/* SPDX-License-Identifier: MIT */
#pragma once

/* A service's bundles over a home of its own, for the tests of PluginSet. */

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jdoc.h"
#include "fixture.h"
#include "service/plugin-set.h"

typedef struct World {
        char *folder;  /* holds everything below */
        char *home;    /* CODEWHALE_HOME */
        char *author;  /* where bundles are written by their author */
        PluginSet *set;
        GString *events;
} World;

static void on_added(PluginSet *set, Plugin *plugin, void *userdata) {
        World *world = userdata;

        (void) set;
        g_string_append_printf(world->events, "+%s ", plugin_get_name(plugin));
}

static void on_changed(PluginSet *set, Plugin *plugin, void *userdata) {
        World *world = userdata;

        (void) set;
        g_string_append_printf(world->events, "~%s:%s ", plugin_get_name(plugin),
                        plugin_label_to_string(plugin_get_label(plugin)));
}

static void on_removed(PluginSet *set, Plugin *plugin, void *userdata) {
        World *world = userdata;

        (void) set;
        g_string_append_printf(world->events, "-%s ", plugin_get_name(plugin));
}

static const PluginSetEvents events = { .added = on_added, .changed = on_changed, .removed = on_removed };

/* A service that starts (again) over what is on the disk. */
static void world_start_with(World *world, bool extension_host) {
        PluginSetOptions options = { .extension_host = extension_host, .search_path = "/usr/bin:/bin" };
        CodewhaleHome *home = NULL;

        plugin_set_free(world->set);
        g_assert_cmpint(codewhale_home_new(world->home, &home, NULL), ==, 0);
        world->set = plugin_set_new(home, &options);
        codewhale_home_unref(home);
        plugin_set_set_events(world->set, &events, world);
        g_assert_cmpint(plugin_set_reload(world->set, NULL), ==, 0);
        g_string_truncate(world->events, 0);
}

static void world_start(World *world) {
        world_start_with(world, true);
}

static void world_init(World *world) {
        *world = (World) { .folder = fixture_new_folder(), .events = g_string_new(NULL) };
        world->home = g_build_filename(world->folder, "home", NULL);
        world->author = g_build_filename(world->folder, "author", NULL);
        world_start(world);
}

static void world_done(World *world) {
        plugin_set_free(world->set);
        g_string_free(world->events, TRUE);
        g_free(world->home);
        g_free(world->author);
        fixture_remove(world->folder);
}

static inline Plugin *world_install(World *world, const char *name) {
        g_autofree char *source = g_build_filename(world->author, name, NULL);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Plugin *plugin = NULL;
        int r;

        fixture_bundle(source, name);
        r = plugin_set_install(world->set, source, NULL, &plugin, &error);
        g_assert_cmpstr(error.message, ==, NULL);
        g_assert_cmpint(r, ==, 0);
        return plugin;
}

static inline char *world_placed(const World *world, const char *name) {
        return g_build_filename(world->home, "plugins", name, NULL);
}

static inline Plugin *world_find(World *world, const char *name) {
        Plugin *plugin = NULL;

        g_assert_cmpint(plugin_set_find(world->set, name, &plugin, NULL), ==, 0);
        return plugin;
}

static inline char *token_of(const Plugin *plugin) {
        return g_strdup_printf("%s.%s", plugin_get_content_hash(plugin), plugin_get_capability_hash(plugin));
}

static void world_trust(World *world, Plugin *plugin) {
        g_autofree char *token = token_of(plugin);

        g_assert_cmpint(plugin_set_trust(world->set, plugin, token, "token", NULL), ==, 0);
}

static inline Plugin *world_activate(World *world, const char *name) {
        Plugin *plugin = world_install(world, name);

        world_trust(world, plugin);
        g_assert_cmpint(plugin_set_enable(world->set, plugin, NULL), ==, 0);
        g_assert_cmpint(plugin_get_label(plugin), ==, PLUGIN_ACTIVE);
        return plugin;
}

#define assert_label(plugin, label) \
        g_assert_cmpstr(plugin_label_to_string(plugin_get_label(plugin)), ==, plugin_label_to_string(label))

#define assert_refused(call, error_name)                          \
        do {                                                      \
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;   \
                int refused = (call);                             \
                                                                  \
                g_assert_cmpint(refused, <, 0);                   \
                g_assert_cmpstr(error.name, ==, error_name);      \
                g_test_message("%s", error.message);              \
        } while (0)
