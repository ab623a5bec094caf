/* SPDX-License-Identifier: MIT */
/* Whose name counts, what evil names do, and what a bundle that was only dropped there does: nothing. */
#include "world.h"

static void own(const char *folder, const char *name, const char *keys) {
        fixture_write_format(folder, "plugin.json",
                        "{\"$schema\":\"https://agent-plugins.org/schemas/plugin.json\",\"name\":\"%s\","
                        "\"extensions\":{\"net.codewhale\":{%s}}}",
                        name, keys);
}

static void test_precedence(void) {
        World world;
        PluginSetOptions options = { .extension_host = true };
        CodewhaleHome *home = NULL;
        g_autofree char *builtin = NULL, *user = NULL, *workspace = NULL, *one = NULL, *other = NULL, *second = NULL;
        Plugin *plugin;

        world_init(&world);
        builtin = g_build_filename(world.folder, "builtin", NULL);
        user = world_placed(&world, "same");
        workspace = g_build_filename(world.folder, "ws", NULL);
        second = g_build_filename(world.folder, "ws2", NULL);
        one = g_build_filename(workspace, ".codewhale/plugins/same", NULL);
        other = g_build_filename(second, ".codewhale/plugins/own", NULL);
        g_autofree char *own_too = g_build_filename(workspace, ".codewhale/plugins/own", NULL);
        g_autofree char *built = g_build_filename(builtin, "same", NULL);
        fixture_bundle(built, "same");
        fixture_bundle(user, "same");
        fixture_bundle(one, "same");
        fixture_bundle(own_too, "own");
        fixture_bundle(other, "own");

        plugin_set_free(world.set);
        g_assert_cmpint(codewhale_home_new(world.home, &home, NULL), ==, 0);
        options.builtin_directory = builtin;
        world.set = plugin_set_new(home, &options);
        codewhale_home_unref(home);
        g_assert_cmpint(plugin_set_add_workspace(world.set, workspace), ==, 1);
        g_assert_cmpint(plugin_set_add_workspace(world.set, workspace), ==, 0);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);

        /* builtin, user, workspace: the first keeps the name. */
        g_assert_cmpuint(plugin_set_count(world.set), ==, 4);
        for (size_t i = 0; i < 4; i++) {
                plugin = plugin_set_get(world.set, i);
                g_test_message("%s", plugin_get_id(plugin));
                g_assert_cmpint(plugin_is_shadowed(plugin), ==, i != 0 && strcmp(plugin_get_name(plugin), "same") == 0);
                g_assert_cmpint(diagnostics_find(plugin_get_diagnostics(plugin), DIAGNOSTIC_NAME_CONFLICT) != NULL, ==,
                                plugin_is_shadowed(plugin));
        }
        g_assert_cmpint(plugin_get_scope(world_find(&world, "same")), ==, PLUGIN_BUILTIN);
        plugin = plugin_set_get(world.set, 1);
        g_assert_cmpint(plugin_get_scope(plugin), ==, PLUGIN_USER);
        assert_label(plugin, PLUGIN_INACTIVE);
        world_trust(&world, plugin);
        assert_refused(plugin_set_enable(world.set, plugin, &error), ERROR_NOT_ACTIVE);
        g_assert_cmpstr(plugin_get_workspace(world_find(&world, "own")), ==, workspace);

        /* Two workspaces don't compete, but a bare name no longer says which. */
        g_assert_cmpint(plugin_set_add_workspace(world.set, second), ==, 1);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        assert_refused(plugin_set_find(world.set, "own", &plugin, &error), ERROR_AMBIGUOUS_PLUGIN);
        plugin_set_remove_workspace(world.set, workspace);
        plugin_set_remove_workspace(world.set, workspace);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_assert_cmpstr(plugin_get_workspace(world_find(&world, "own")), ==, second);
        assert_refused(plugin_set_find(world.set, "nobody", &plugin, &error), ERROR_NO_SUCH_PLUGIN);
        world_done(&world);
}

static void test_user_over_workspace(void) {
        World world;
        Plugin *first, *second;
        g_autofree char *user = NULL, *workspace = NULL, *theirs = NULL;

        world_init(&world);
        user = world_placed(&world, "same");
        workspace = g_build_filename(world.folder, "ws", NULL);
        theirs = g_build_filename(workspace, ".codewhale/plugins/same", NULL);
        fixture_bundle(user, "same");
        fixture_bundle(theirs, "same");
        g_assert_cmpint(plugin_set_add_workspace(world.set, workspace), ==, 1);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_assert_cmpuint(plugin_set_count(world.set), ==, 2);
        first = plugin_set_get(world.set, 0);
        second = plugin_set_get(world.set, 1);
        g_assert_cmpint(plugin_get_scope(first), ==, PLUGIN_USER);
        g_assert_cmpint(plugin_get_scope(second), ==, PLUGIN_WORKSPACE);
        g_assert_true(world_find(&world, "same") == first);
        g_assert_false(plugin_is_shadowed(first));
        g_assert_true(plugin_is_shadowed(second));
        g_assert_null(diagnostics_find(plugin_get_diagnostics(first), DIAGNOSTIC_NAME_CONFLICT));
        g_assert_nonnull(diagnostics_find(plugin_get_diagnostics(second), DIAGNOSTIC_NAME_CONFLICT));
        world_trust(&world, second);
        assert_refused(plugin_set_enable(world.set, second, &error), ERROR_NOT_ACTIVE);
        world_done(&world);
}

static void test_when(void) {
        World world;
        Plugin *plugin;
        g_autofree char *placed = NULL;

        world_init(&world);
        placed = world_placed(&world, "elsewhere");
        fixture_write(placed, "a.mjs", "x", -1);
        own(placed, "elsewhere", "\"native\":{\"path\":\"a.mjs\"},\"when\":{\"os\":[\"windows\"]}");
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        plugin = world_find(&world, "elsewhere");
        assert_label(plugin, PLUGIN_INAPPLICABLE);
        world_trust(&world, plugin);
        assert_refused(plugin_set_enable(world.set, plugin, &error), ERROR_NOT_ACTIVE);
        g_assert_false(plugin_is_enabled(plugin));

        own(placed, "elsewhere", "\"native\":{\"path\":\"a.mjs\"},\"when\":{\"binaries\":[\"sh\",\"no-such-program-here\"]}");
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        assert_label(plugin, PLUGIN_INAPPLICABLE);
        world_trust(&world, plugin);
        assert_refused(plugin_set_enable(world.set, plugin, &error), ERROR_NOT_ACTIVE);
        g_assert_false(plugin_is_enabled(plugin));

        /* It was the condition and nothing else. */
        own(placed, "elsewhere", "\"native\":{\"path\":\"a.mjs\"},\"when\":{\"binaries\":[\"sh\"],\"os\":[\"linux\"]}");
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        world_trust(&world, plugin);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);
        assert_label(plugin, PLUGIN_ACTIVE);
        world_done(&world);
}

static void test_unsupported(void) {
        World world;
        Plugin *plugin;
        g_autofree char *placed = NULL;

        world_init(&world);
        placed = world_placed(&world, "empty");
        own(placed, "empty", "\"lsp\":{\"path\":\"plugin.json\"}");
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        plugin = world_find(&world, "empty");
        assert_label(plugin, PLUGIN_UNSUPPORTED);
        world_trust(&world, plugin);
        assert_refused(plugin_set_enable(world.set, plugin, &error), ERROR_NOT_ACTIVE);
        world_done(&world);
}

static void test_host_marker(void) {
        static const char *const names[] = { "host:x", "host:", "a:host" };
        World world;
        g_autofree char *placed = NULL;

        world_init(&world);
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_free(placed);
                placed = world_placed(&world, names[i]);
                fixture_bundle(placed, names[i]);
        }
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_assert_cmpuint(plugin_set_count(world.set), ==, 0);
        g_assert_cmpuint(diagnostics_count(plugin_set_get_diagnostics(world.set)), ==, 3);

        /* A folder of such a name is only a folder: the id takes the manifest's name. */
        fixture_bundle(placed, "fine");
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_assert_cmpuint(plugin_set_count(world.set), ==, 1);
        g_assert_null(strchr(plugin_get_id(plugin_set_get(world.set, 0)), ':'));
        world_done(&world);
}

static void test_evil_names(void) {
        static const char *const names[] = { "..", ".", "a/b", "-rf", "con", "\xc3\x9cn\xc3\xaf",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
        World world;
        g_autofree char *source = NULL, *keep = NULL;

        world_init(&world);
        source = g_build_filename(world.author, "evil", NULL);
        world_install(&world, "keep");
        keep = world_placed(&world, "keep");
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                Plugin *plugin = NULL;

                g_test_message("%s", names[i]);
                fixture_bundle(source, names[i]);
                assert_refused(plugin_set_install(world.set, source, NULL, &plugin, &error), ERROR_INVALID_MANIFEST);
                g_assert_cmpuint(fixture_count(world.home, "plugins"), ==, 1);
                g_assert_cmpuint(fixture_count(world.home, "."), ==, 1);
                g_assert_true(fixture_exists(keep, "plugin.json"));
        }
        world_done(&world);
}

static void test_dropped_folder(void) {
        World world;
        Plugin *plugin;
        g_autofree char *placed = NULL, *script = NULL;

        world_init(&world);
        placed = world_placed(&world, "dropped");
        fixture_bundle(placed, "dropped");
        fixture_write_format(placed, "native/main.mjs", "require('fs').writeFileSync('%s/ran', '')", world.folder);
        fixture_write_format(placed, "run.sh", "#!/bin/sh\ntouch %s/ran\n", world.folder);
        script = g_build_filename(placed, "run.sh", NULL);
        g_assert_cmpint(g_chmod(script, 0755), ==, 0);
        own(placed, "dropped", "\"native\":{\"path\":\"native/main.mjs\"},\"hooks\":{\"path\":\"run.sh\"}");
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        plugin = world_find(&world, "dropped");
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_NOT_REVIEWED);
        g_assert_false(plugin_is_enabled(plugin));
        g_assert_cmpstr(world.events->str, ==, "+dropped ");
        g_assert_false(fixture_exists(world.folder, "ran"));
        g_assert_false(fixture_exists(world.home, "plugins/state.json"));
        g_assert_false(fixture_exists(world.home, "extensions"));
        world_done(&world);
}

static bool is_displayable(const char *text) {
        for (const char *at = text; *at != '\0'; at++)
                if ((unsigned char) *at < 0x20 || *at == 0x7f)
                        return false;
        return g_utf8_validate(text, -1, NULL);
}

static void test_invalid_utf8(void) {
        World world;
        g_autofree char *placed = NULL, *broken = NULL, *json = NULL;
        const Diagnostic *item;
        Plugin *plugin;

        world_init(&world);
        placed = world_placed(&world, "\xff\xfe\n");
        fixture_bundle(placed, "fine");
        broken = world_placed(&world, "\xff\xfd\x1b[2J");
        fixture_write(broken, "plugin.json", "{", -1);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);

        plugin = world_find(&world, "fine");
        g_assert_true(g_str_has_suffix(plugin_get_root_display(plugin), "/\\xff\\xfe\\x0a"));
        g_assert_cmpint(plugin_set_review(world.set, plugin, REVIEW_FILES, &json, NULL), ==, 0);
        g_assert_true(is_displayable(json));
        g_assert_nonnull(strstr(json, "\\\\xff\\\\xfe\\\\x0a"));

        item = diagnostics_get(plugin_set_get_diagnostics(world.set), 0);
        g_assert_true(is_displayable(item->path));
        g_assert_true(g_str_has_suffix(item->path, "/\\xff\\xfd\\x1b[2J/plugin.json"));

        /* It can be used like any other. */
        world_trust(&world, plugin);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);
        g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), ==, 0);
        world_done(&world);
}

static void test_format_strings(void) {
        World world;
        g_autofree char *placed = NULL, *json = NULL, *gone = NULL;
        Plugin *plugin;

        world_init(&world);
        placed = world_placed(&world, "%s%n%08x");
        fixture_bundle(placed, "fine");
        fixture_write(placed, "%s%n%08x.txt", "x", -1);
        fixture_write(placed, "plugin.json",
                        "{\"$schema\":\"%s%n%08x\",\"name\":\"fine\",\"description\":\"%s%n%08x\","
                        "\"license\":\"%s%n%08x\"}",
                        -1);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        plugin = world_find(&world, "fine");
        g_assert_cmpstr(plugin_get_description(plugin), ==, "%s%n%08x");
        g_assert_true(g_str_has_suffix(plugin_get_root_display(plugin), "/%s%n%08x"));
        g_assert_cmpint(plugin_set_review(world.set, plugin, REVIEW_FILES, &json, NULL), ==, 0);
        g_assert_nonnull(strstr(json, "\"description\":\"%s%n%08x\""));
        g_assert_nonnull(strstr(json, "\"path\":\"%s%n%08x.txt\""));

        assert_refused(plugin_set_find(world.set, "%s%n%08x", &plugin, &error), ERROR_NO_SUCH_PLUGIN);
        gone = g_build_filename(world.folder, "%s%n%08x", NULL);
        assert_refused(plugin_set_install(world.set, gone, NULL, &plugin, &error), ERROR_INVALID_ARGUMENTS);
        fixture_write(placed, "plugin.json", "{\"$schema\":\"x\",\"name\":\"fine\",\"%s%n%08x\":1}", -1);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_assert_nonnull(strstr(diagnostics_get(plugin_set_get_diagnostics(world.set), 0)->message, "\"%s%n%08x\""));
        world_done(&world);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);

        g_test_add_func("/service/plugin-names/M03-precedence", test_precedence);
        g_test_add_func("/service/plugin-names/M03-user-over-workspace", test_user_over_workspace);
        g_test_add_func("/service/plugin-names/M11-inapplicable", test_when);
        g_test_add_func("/service/plugin-names/M17-host-marker", test_host_marker);
        g_test_add_func("/service/plugin-names/TR-08-evil-names", test_evil_names);
        g_test_add_func("/service/plugin-names/TR-13-dropped-folder", test_dropped_folder);
        g_test_add_func("/service/plugin-names/DB-03-invalid-utf8", test_invalid_utf8);
        g_test_add_func("/service/plugin-names/DB-16-format-strings", test_format_strings);
        g_test_add_func("/service/plugin-names/unsupported", test_unsupported);
        return g_test_run();
}
