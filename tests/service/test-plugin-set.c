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
        g_test_add_func("/service/plugin-set/TR-01-replaced-module", test_replaced_module);
        g_test_add_func("/service/plugin-set/install-refusals", test_install_refusals);
        g_test_add_func("/service/plugin-set/review", test_review);
        return g_test_run();
}
