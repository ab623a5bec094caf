/* SPDX-License-Identifier: MIT */
/* A look at all bundles while what is to be looked at changes (contract 3.13). */
#include "service/plugin-reload.h"
#include "world.h"

static char *make_workspace(const World *world, const char *name, const char *plugin) {
        g_autofree char *bundle = g_build_filename(world->home, name, ".codewhale", "plugins", plugin, NULL);

        fixture_bundle(bundle, plugin);
        return g_build_filename(world->home, name, NULL);
}

static void run(PluginReload *reload) {
        while (plugin_reload_step(reload) > 0)
                ;
}

static void test_discarded(void) {
        World world;
        g_autofree char *one = NULL, *two = NULL;
        PluginReload *reload;

        world_init(&world);
        one = make_workspace(&world, "one", "first");
        two = make_workspace(&world, "two", "second");
        g_assert_cmpint(plugin_set_add_workspace(world.set, one), ==, 1);
        g_string_truncate(world.events, 0);

        reload = plugin_reload_new(world.set);
        g_assert_cmpint(plugin_reload_step(reload), >, 0);
        plugin_set_remove_workspace(world.set, one);
        g_assert_cmpint(plugin_set_add_workspace(world.set, two), ==, 1);
        run(reload);
        plugin_reload_free(reload);

        /* The first one was seen, and is nowhere: nobody wants it any more. */
        g_assert_cmpstr(world.events->str, ==, "+second ");
        g_assert_cmpuint(plugin_set_count(world.set), ==, 1);
        world_done(&world);
}

/* Somebody who comes and goes without an end keeps nobody from having a result. */
static void test_restless(void) {
        World world;
        g_autofree char *one = NULL;
        PluginReload *reload;
        unsigned steps = 0;

        world_init(&world);
        one = make_workspace(&world, "one", "first");
        reload = plugin_reload_new(world.set);
        while (plugin_reload_step(reload) > 0) {
                if (++steps % 2)
                        (void) plugin_set_add_workspace(world.set, one);
                else
                        plugin_set_remove_workspace(world.set, one);
                g_assert_cmpuint(steps, <, 10000);
        }
        plugin_reload_free(reload);
        world_done(&world);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        g_test_add_func("/service/plugin-reload/A21-discarded-when-a-workspace-changed", test_discarded);
        g_test_add_func("/service/plugin-reload/A21-ends-all-the-same", test_restless);
        return g_test_run();
}
