/* SPDX-License-Identifier: MIT */
/* Bundles from install to uninstall, on real folders (contract 2). */
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

static Plugin *world_install(World *world, const char *name) {
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

static char *world_placed(const World *world, const char *name) {
        return g_build_filename(world->home, "plugins", name, NULL);
}

static Plugin *world_find(World *world, const char *name) {
        Plugin *plugin = NULL;

        g_assert_cmpint(plugin_set_find(world->set, name, &plugin, NULL), ==, 0);
        return plugin;
}

static char *token_of(const Plugin *plugin) {
        return g_strdup_printf("%s.%s", plugin_get_content_hash(plugin), plugin_get_capability_hash(plugin));
}

static void world_trust(World *world, Plugin *plugin) {
        g_autofree char *token = token_of(plugin);

        g_assert_cmpint(plugin_set_trust(world->set, plugin, token, "token", NULL), ==, 0);
}

static Plugin *world_activate(World *world, const char *name) {
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

static void test_life(void) {
        World world;
        Plugin *plugin;
        g_autofree char *token = NULL;

        world_init(&world);
        plugin = world_install(&world, "sample");
        g_assert_cmpstr(world.events->str, ==, "+sample ");
        assert_label(plugin, PLUGIN_DISABLED);
        g_assert_true(plugin_is_installed(plugin));

        token = token_of(plugin);
        world_trust(&world, plugin);
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 1);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);
        assert_label(plugin, PLUGIN_ACTIVE);
        g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), ==, 0);

        /* All of it is on the disk. */
        world_start(&world);
        plugin = world_find(&world, "sample");
        assert_label(plugin, PLUGIN_ACTIVE);
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 2);
        g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), ==, 0);

        g_assert_cmpint(plugin_set_disable(world.set, plugin, NULL), ==, 0);
        assert_label(plugin, PLUGIN_DISABLED);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_TRUSTED);
        g_assert_cmpint(plugin_set_revoke(world.set, plugin, NULL), ==, 0);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_NOT_REVIEWED);
        g_assert_cmpint(plugin_set_uninstall(world.set, plugin, NULL), ==, 0);
        g_assert_cmpuint(plugin_set_count(world.set), ==, 0);
        g_assert_cmpstr(world.events->str, ==, "~sample:disabled ~sample:disabled -sample ");
        world_done(&world);
}

static void test_install_only(void) {
        World world;
        Plugin *plugin;

        world_init(&world);
        plugin = world_install(&world, "sample");
        g_assert_false(plugin_is_enabled(plugin));
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_NOT_REVIEWED);
        g_assert_false(fixture_exists(world.home, "plugins/state.json"));
        assert_refused(plugin_set_verify(world.set, plugin, 0, &error), ERROR_NOT_TRUSTED);
        world_start(&world);
        g_assert_cmpint(plugin_get_trust(world_find(&world, "sample")), ==, TRUST_NOT_REVIEWED);
        world_done(&world);
}

static void test_trust_only(void) {
        World world;
        Plugin *plugin;

        world_init(&world);
        plugin = world_install(&world, "sample");
        assert_refused(plugin_set_enable(world.set, plugin, &error), ERROR_NOT_TRUSTED);
        g_assert_false(plugin_is_enabled(plugin));
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 0);
        world_trust(&world, plugin);
        g_assert_false(plugin_is_enabled(plugin));
        assert_label(plugin, PLUGIN_DISABLED);
        world_done(&world);
}

static void test_tokens(void) {
        static const char *const malformed[] = { "", ".", "abc", "x.y",
                "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" };
        World world;
        Plugin *plugin, *other;
        g_autofree char *token = NULL, *others = NULL, *placed = NULL, *upper = NULL, *longer = NULL, *swapped = NULL;

        world_init(&world);
        plugin = world_install(&world, "sample");
        token = token_of(plugin);
        world_install(&world, "other");
        plugin = world_find(&world, "sample");
        other = world_find(&world, "other");
        others = token_of(other);

        for (size_t i = 0; i < G_N_ELEMENTS(malformed); i++)
                assert_refused(plugin_set_trust(world.set, plugin, malformed[i], "token", &error), ERROR_INVALID_TOKEN);
        upper = g_ascii_strup(token, -1);
        assert_refused(plugin_set_trust(world.set, plugin, upper, "token", &error), ERROR_INVALID_TOKEN);
        longer = g_strconcat(token, "0", NULL);
        assert_refused(plugin_set_trust(world.set, plugin, longer, "token", &error), ERROR_INVALID_TOKEN);

        assert_refused(plugin_set_trust(world.set, plugin, others, "token", &error), ERROR_CONTENT_CHANGED);
        swapped = g_strdup(token);
        swapped[70] = swapped[70] == '0' ? '1' : '0';
        assert_refused(plugin_set_trust(world.set, plugin, swapped, "token", &error), ERROR_CAPABILITIES_CHANGED);

        placed = world_placed(&world, "sample");
        fixture_write(placed, "native/main.mjs", "changed\n", -1);
        assert_refused(plugin_set_trust(world.set, plugin, token, "token", &error), ERROR_CONTENT_CHANGED);
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 0);
        g_assert_false(fixture_exists(world.home, "plugins/state.json"));
        world_done(&world);
}

static void test_feature_flip(void) {
        World world;
        Plugin *plugin;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        plugin_set_set_extension_host(world.set, false);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_CAPABILITIES_CHANGED);
        assert_refused(plugin_set_verify(world.set, plugin, 2, &error), ERROR_CAPABILITIES_CHANGED);
        plugin_set_set_extension_host(world.set, true);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        assert_label(plugin, PLUGIN_ACTIVE);
        world_done(&world);
}

static void test_bits(void) {
        World world;
        Plugin *plugin;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        world_trust(&world, plugin); /* again */
        g_assert_false(plugin_is_enabled(plugin));
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 3);

        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 5);

        g_assert_cmpint(plugin_set_disable(world.set, plugin, NULL), ==, 0);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_TRUSTED);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);

        g_assert_cmpint(plugin_set_revoke(world.set, plugin, NULL), ==, 0);
        g_assert_true(plugin_is_enabled(plugin));
        assert_label(plugin, PLUGIN_ENABLED_UNTRUSTED);
        assert_refused(plugin_set_verify(world.set, plugin, plugin_get_generation(plugin), &error), ERROR_NOT_TRUSTED);
        world_done(&world);
}

static void test_edit_source(void) {
        World world;
        Plugin *plugin;
        g_autofree char *placed = NULL;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        placed = world_placed(&world, "sample");
        fixture_write(placed, "native/main.mjs", "export function apply() {;\n", -1); /* the same size */
        g_string_truncate(world.events, 0);
        assert_refused(plugin_set_verify(world.set, plugin, 2, &error), ERROR_CONTENT_CHANGED);
        g_assert_cmpstr(world.events->str, ==, "~sample:enabled-untrusted ");
        g_assert_nonnull(strstr(plugin_get_inactive_reason(plugin), "content changed"));

        fixture_write(placed, "native/main.mjs", "export function apply() {}\n", -1);
        g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), ==, 0);
        assert_label(plugin, PLUGIN_ACTIVE);
        world_done(&world);
}

static void test_replaced_module(void) {
        World world;
        Plugin *plugin;
        g_autofree char *placed = NULL, *from = NULL, *to = NULL;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        placed = world_placed(&world, "sample");
        fixture_write(world.folder, "other.mjs", "export function apply() { evil() }\n", -1);
        from = g_build_filename(world.folder, "other.mjs", NULL);
        to = g_build_filename(placed, "native/main.mjs", NULL);
        g_assert_cmpint(g_rename(from, to), ==, 0);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        assert_label(plugin, PLUGIN_ENABLED_UNTRUSTED);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_CONTENT_CHANGED);
        g_assert_nonnull(strstr(plugin_get_inactive_reason(plugin), "content changed"));
        world_done(&world);
}

static void test_edit_staged(void) {
        World world;
        Plugin *plugin;
        g_autofree char *file = NULL;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        file = g_build_filename(staged_copy_get_path(plugin_get_staged(plugin)), "native/main.mjs", NULL);
        g_assert_cmpint(g_chmod(file, 0600), ==, 0);
        g_assert_true(g_file_set_contents(file, "export function apply() {;\n", -1, NULL) ||
                        errno == EACCES);
        assert_refused(plugin_set_verify(world.set, plugin, 2, &error), ERROR_NOT_ACTIVE);
        assert_label(plugin, PLUGIN_UNSTAGED);

        /* Trusting the same bytes again makes a new copy. */
        world_trust(&world, plugin);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);
        g_assert_cmpint(plugin_set_verify(world.set, plugin, 4, NULL), ==, 0);
        world_done(&world);
}

static void test_uninstall(void) {
        World world;
        Plugin *plugin;
        g_autofree char *placed = NULL, *data = NULL;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        data = g_build_filename("extensions/data", plugin_get_data_name(plugin), "kept", NULL);
        fixture_write(world.home, data, "42", -1);
        assert_refused(plugin_set_uninstall(world.set, plugin, &error), ERROR_STILL_ENABLED);
        g_assert_cmpint(plugin_set_disable(world.set, plugin, NULL), ==, 0);

        placed = world_placed(&world, "copied-by-hand");
        fixture_bundle(placed, "copied-by-hand");
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        assert_refused(plugin_set_uninstall(world.set, world_find(&world, "copied-by-hand"), &error), ERROR_NOT_INSTALLED_BY_US);
        g_assert_true(fixture_exists(placed, "plugin.json"));

        g_assert_cmpint(plugin_set_uninstall(world.set, world_find(&world, "sample"), NULL), ==, 0);
        g_assert_false(fixture_exists(world.home, "plugins/sample"));
        g_assert_true(fixture_exists(world.home, data));
        g_assert_cmpuint(fixture_count(world.home, "extensions/staged"), ==, 0);

        /* Installed again it is as new. */
        plugin = world_install(&world, "sample");
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_NOT_REVIEWED);
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 0);
        world_done(&world);
}

static void test_install_refusals(void) {
        World world;
        g_autofree char *source = NULL;
        Plugin *plugin = NULL;

        world_init(&world);
        source = g_build_filename(world.author, "sample", NULL);

        assert_refused(plugin_set_install(world.set, "sample", NULL, &plugin, &error), ERROR_NOT_SUPPORTED);
        assert_refused(plugin_set_install(world.set, "github:a/b", NULL, &plugin, &error), ERROR_NOT_SUPPORTED);
        assert_refused(plugin_set_install(world.set, source, NULL, &plugin, &error), ERROR_INVALID_ARGUMENTS);
        fixture_make_directory(world.author, "sample");
        assert_refused(plugin_set_install(world.set, source, NULL, &plugin, &error), ERROR_INVALID_BUNDLE);
        fixture_write(source, "plugin.json", "{", -1);
        assert_refused(plugin_set_install(world.set, source, NULL, &plugin, &error), ERROR_INVALID_MANIFEST);

        fixture_bundle(source, "sample");
        assert_refused(plugin_set_install(world.set, source,
                                       "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", &plugin, &error),
                        ERROR_CONTENT_CHANGED);
        g_assert_cmpuint(fixture_count(world.home, "plugins"), ==, 0);

        g_assert_cmpint(plugin_set_install(world.set, source, NULL, &plugin, NULL), ==, 0);
        assert_refused(plugin_set_install(world.set, source, NULL, &plugin, &error), ERROR_ALREADY_INSTALLED);
        g_assert_cmpuint(fixture_count(world.home, "plugins"), ==, 1);
        world_done(&world);
}

static void test_broken_state(void) {
        World world;
        Plugin *plugin;
        g_autofree char *after = NULL;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        fixture_write(world.home, "plugins/state.json", "{broken", -1);
        assert_refused(plugin_set_verify(world.set, plugin, 2, &error), ERROR_STATE_INVALID);
        assert_label(plugin, PLUGIN_INACTIVE);
        g_assert_nonnull(diagnostics_find(plugin_set_get_diagnostics(world.set), DIAGNOSTIC_STATE_INVALID));
        assert_refused(plugin_set_disable(world.set, plugin, &error), ERROR_STATE_INVALID);
        world_start(&world);
        plugin = world_find(&world, "sample");
        g_assert_false(plugin_is_enabled(plugin));
        assert_refused(plugin_set_enable(world.set, plugin, &error), ERROR_STATE_INVALID);
        after = fixture_read(world.home, "plugins/state.json");
        g_assert_cmpstr(after, ==, "{broken");
        world_done(&world);
}

static void test_review(void) {
        World world;
        Plugin *plugin;
        g_autofree char *first = NULL, *second = NULL, *placed = NULL, *token = NULL;
        g_autoptr(Jdoc) doc = NULL, changed = NULL;
        Jval files;

        world_init(&world);
        plugin = world_install(&world, "sample");
        g_assert_cmpint(plugin_set_review(world.set, plugin, 0, &first, NULL), ==, 0);
        g_assert_cmpint(jdoc_parse(first, strlen(first), NULL, &doc, NULL), ==, 0);
        token = token_of(plugin);
        g_assert_true(jval_equals_text(jval_member(jdoc_root(doc), "token"), token));
        g_assert_true(jval_is(jval_member(jdoc_root(doc), "changes"), J_NULL));

        world_trust(&world, plugin);
        placed = world_placed(&world, "sample");
        fixture_write(placed, "native/main.mjs", "export function apply() {}\nevil();\n", -1);
        fixture_write(placed, "added.txt", "new\n", -1);
        g_assert_cmpint(plugin_set_review(world.set, plugin, REVIEW_DIFF_LINES, &second, NULL), ==, 0);
        g_assert_cmpint(jdoc_parse(second, strlen(second), NULL, &changed, NULL), ==, 0);
        files = jval_member(jval_member(jdoc_root(changed), "changes"), "files");
        g_assert_cmpuint(jval_length(files), ==, 2);
        g_assert_true(jval_equals_text(jval_member(jval_element(files, 0), "change"), "added"));
        g_assert_true(jval_equals_text(jval_member(jval_element(files, 1), "diff"),
                        "@@ -1,1 +1,2 @@\n export function apply() {}\n+evil();\n"));
        world_done(&world);
}

/* Two services over one home: each sees what the other did by its next act, and neither undoes it. */
static void test_two_services(void) {
        PluginSetOptions options = { .extension_host = true };
        World world;
        Plugin *plugin, *same = NULL, *second;
        PluginSet *other;
        CodewhaleHome *home = NULL;

        world_init(&world);
        world_activate(&world, "sample");
        world_install(&world, "second");
        plugin = world_find(&world, "sample");
        second = world_find(&world, "second");
        g_assert_cmpint(codewhale_home_new(world.home, &home, NULL), ==, 0);
        other = plugin_set_new(home, &options);
        codewhale_home_unref(home);
        g_assert_cmpint(plugin_set_reload(other, NULL), ==, 0);
        g_assert_cmpint(plugin_set_find(other, "sample", &same, NULL), ==, 0);

        for (unsigned i = 0; i < 4; i++) {
                g_assert_cmpint(plugin_set_disable(other, same, NULL), ==, 0);
                assert_refused(plugin_set_verify(world.set, plugin, plugin_get_generation(same) - 1, &error), ERROR_NOT_ACTIVE);
                g_assert_cmpuint(plugin_get_generation(plugin), ==, plugin_get_generation(same));
                g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);
                g_assert_cmpint(plugin_set_verify(other, same, plugin_get_generation(plugin), NULL), ==, 0);
        }

        /* A change of another plugin reads the file too; what it saw is not lost. */
        g_assert_cmpint(plugin_set_revoke(other, same, NULL), ==, 0);
        world_trust(&world, second);
        assert_refused(plugin_set_verify(world.set, plugin, plugin_get_generation(same), &error), ERROR_NOT_TRUSTED);
        plugin_set_free(other);
        world_done(&world);
}

static void test_update(void) {
        World world;
        Plugin *plugin;
        g_autofree char *source = NULL, *placed = NULL, *marker = NULL, *before = NULL, *path = NULL;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        source = g_build_filename(world.author, "sample", NULL);
        placed = world_placed(&world, "sample");
        assert_refused(plugin_set_update(world.set, plugin, source, NULL, &error), ERROR_NOT_SUPPORTED);

        /* As if it had been downloaded */
        fixture_write_format(placed, ".installed-from",
                        "{\"source\":\"https://example.org/sample.tar.gz\",\"content_hash\":\"%s\",\"installed_at\":1}",
                        plugin_get_content_hash(plugin));
        assert_refused(plugin_set_update(world.set, plugin, NULL, NULL, &error), ERROR_NOT_SUPPORTED);
        g_assert_cmpint(plugin_set_update(world.set, plugin, source, NULL, NULL), ==, 0);
        g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), ==, 0);

        before = g_strdup(plugin_get_content_hash(plugin));
        fixture_write(source, "native/main.mjs", "export const newer = true\n", -1);
        assert_refused(plugin_set_update(world.set, plugin, source, before, &error), ERROR_CONTENT_CHANGED);
        g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), ==, 0);
        g_assert_cmpint(plugin_set_update(world.set, plugin, source, NULL, NULL), ==, 1);
        g_assert_cmpstr(plugin_get_content_hash(plugin), !=, before);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_CONTENT_CHANGED);
        assert_refused(plugin_set_verify(world.set, plugin, 2, &error), ERROR_CONTENT_CHANGED);
        marker = fixture_read(placed, ".installed-from");
        g_assert_nonnull(strstr(marker, "\"source\":\"https://example.org/sample.tar.gz\""));
        g_assert_cmpuint(fixture_count(world.home, "plugins"), ==, 3); /* nothing but it, the state and its lock */

        /* Another name is another bundle. */
        fixture_bundle(source, "renamed");
        assert_refused(plugin_set_update(world.set, plugin, source, NULL, &error), ERROR_INVALID_BUNDLE);
        path = g_build_filename(placed, ".installed-from", NULL);
        g_assert_cmpint(g_unlink(path), ==, 0);
        assert_refused(plugin_set_update(world.set, plugin, source, NULL, &error), ERROR_NOT_INSTALLED_BY_US);
        world_done(&world);
}

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
        for (size_t i = 0; i < 3; i++) {
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

static void test_reload_grants_nothing(void) {
        World world;
        Plugin *plugin;

        world_init(&world);
        plugin = world_install(&world, "sample");
        for (unsigned i = 0; i < 3; i++)
                g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_NOT_REVIEWED);
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 0);
        g_assert_cmpstr(world.events->str, ==, "+sample "); /* and says nothing of what is the same */
        world_done(&world);
}

static void test_held_copy(void) {
        World world;
        Plugin *plugin;
        g_autoptr(StagedCopy) held = NULL;
        g_autofree char *placed = NULL, *path = NULL, *folder = NULL;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        held = staged_copy_ref(plugin_get_staged(plugin));
        path = g_strdup(staged_copy_get_path(held));
        folder = g_path_get_dirname(path);
        placed = world_placed(&world, "sample");

        /* Three newer builds: the held one stays, of the others the last two. */
        for (unsigned i = 0; i < 3; i++) {
                fixture_write_format(placed, "native/main.mjs", "export const build = %u\n", i);
                g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
                world_trust(&world, plugin);
                g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        }
        g_assert_cmpuint(fixture_count(folder, "."), ==, 3);
        g_assert_true(fixture_exists(path, "native/main.mjs"));
        held = staged_copy_unref(held);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_assert_false(fixture_exists(path, "."));
        g_assert_cmpuint(fixture_count(folder, "."), ==, 2);
        world_done(&world);
}

static int count_file(const PluginFile *file, void *userdata) {
        unsigned *count = userdata;

        g_assert_cmpuint(strlen(file->sha256), ==, 64);
        (*count)++;
        return 0;
}

static void test_files(void) {
        World world;
        Plugin *plugin;
        PluginFile file;
        unsigned count = 0;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        g_assert_cmpint(plugin_foreach_file(plugin, count_file, &count), ==, 0);
        g_assert_cmpuint(count, ==, 2);
        g_assert_cmpuint(plugin_count_native(plugin), ==, 1);
        g_assert_true(plugin_get_native(plugin, 0, &file));
        g_assert_cmpstr(file.path, ==, "native/main.mjs");
        g_assert_false(plugin_get_native(plugin, 1, &file));
        g_assert_false(plugin_find_file(plugin, "native", &file));
        world_done(&world);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);

        g_test_add_func("/service/plugin-set/life", test_life);
        g_test_add_func("/service/plugin-set/T01-install-leaves-untrusted", test_install_only);
        g_test_add_func("/service/plugin-set/T02-trust-does-not-enable", test_trust_only);
        g_test_add_func("/service/plugin-set/T03-wrong-tokens", test_tokens);
        g_test_add_func("/service/plugin-set/T05-feature-flips-capability-hash", test_feature_flip);
        g_test_add_func("/service/plugin-set/T06-bits-and-generation", test_bits);
        g_test_add_func("/service/plugin-set/T08-broken-state-enables-nothing", test_broken_state);
        g_test_add_func("/service/plugin-set/T10-edited-and-restored", test_edit_source);
        g_test_add_func("/service/plugin-set/T11-edited-sealed-copy", test_edit_staged);
        g_test_add_func("/service/plugin-set/T12-uninstall", test_uninstall);
        g_test_add_func("/service/plugin-set/T09-two-services", test_two_services);
        g_test_add_func("/service/plugin-set/T13-update", test_update);
        g_test_add_func("/service/plugin-set/T17-reload-grants-nothing", test_reload_grants_nothing);
        g_test_add_func("/service/plugin-set/M03-precedence", test_precedence);
        g_test_add_func("/service/plugin-set/M11-inapplicable", test_when);
        g_test_add_func("/service/plugin-set/M17-host-marker", test_host_marker);
        g_test_add_func("/service/plugin-set/TR-08-evil-names", test_evil_names);
        g_test_add_func("/service/plugin-set/TR-13-dropped-folder", test_dropped_folder);
        g_test_add_func("/service/plugin-set/DB-03-invalid-utf8", test_invalid_utf8);
        g_test_add_func("/service/plugin-set/DB-16-format-strings", test_format_strings);
        g_test_add_func("/service/plugin-set/unsupported", test_unsupported);
        g_test_add_func("/service/plugin-set/held-copy", test_held_copy);
        g_test_add_func("/service/plugin-set/files", test_files);
        g_test_add_func("/service/plugin-set/TR-01-replaced-module", test_replaced_module);
        g_test_add_func("/service/plugin-set/install-refusals", test_install_refusals);
        g_test_add_func("/service/plugin-set/review", test_review);
        return g_test_run();
}
