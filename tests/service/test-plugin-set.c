/* SPDX-License-Identifier: MIT */
/* Bundles from install to uninstall, on real folders (contract 2). */
#include "common/limits.h"
#include "world.h"

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

/* For all: also for one that has nothing the feature is about. */
static void test_feature_flip(void) {
        static const char *const names[] = { "sample", "other", "without-code" };
        World world;
        Plugin *plugin;
        g_autofree char *placed = NULL;

        world_init(&world);
        world_activate(&world, "sample");
        world_activate(&world, "other");
        placed = world_placed(&world, "without-code");
        fixture_write(placed, "plugin.json",
                        "{\"$schema\":\"https://agent-plugins.org/schemas/plugin.json\",\"name\":\"without-code\"}", -1);
        fixture_write(placed, "skills/a/SKILL.md", "---\nname: a\ndescription: b\n---\n", -1);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        plugin = world_find(&world, "without-code");
        world_trust(&world, plugin);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);

        for (unsigned on = 0; on < 2; on++) {
                plugin_set_set_extension_host(world.set, on);
                g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
                for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                        plugin = world_find(&world, names[i]);
                        g_test_message("%s, %s", names[i], on ? "on" : "off");
                        g_assert_cmpint(plugin_get_label(plugin) == PLUGIN_ACTIVE, ==, on);
                        g_assert_cmpint(plugin_get_trust(plugin), ==, on ? TRUST_TRUSTED : TRUST_CAPABILITIES_CHANGED);
                        if (!on)
                                assert_refused(plugin_set_verify(world.set, plugin, 2, &error), ERROR_CAPABILITIES_CHANGED);
                        else
                                g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), ==, 0);
                }
        }
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
        g_autofree char *copy = NULL, *file = NULL, *after = NULL;
        struct stat status;

        world_init(&world);
        plugin = world_activate(&world, "sample");
        copy = g_strdup(staged_copy_get_path(plugin_get_staged(plugin)));
        file = g_build_filename(copy, "native/main.mjs", NULL);
        /* In place, the same size, and the mode of before: nothing but bytes is different. */
        g_assert_cmpint(stat(file, &status), ==, 0);
        g_assert_cmpint(g_chmod(file, 0600), ==, 0);
        fixture_write(copy, "native/main.mjs", "export function apply() {;\n", -1);
        g_assert_cmpint(g_chmod(file, (int) (status.st_mode & 07777)), ==, 0);
        assert_refused(plugin_set_verify(world.set, plugin, 2, &error), ERROR_NOT_ACTIVE);
        assert_label(plugin, PLUGIN_UNSTAGED);

        /* Trusting the same bytes again makes a new copy. */
        world_trust(&world, plugin);
        after = fixture_read(staged_copy_get_path(plugin_get_staged(plugin)), "native/main.mjs");
        g_assert_cmpstr(after, ==, "export function apply() {}\n");
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
        assert_refused(plugin_set_install(world.set, source, NULL, &plugin, &error), ERROR_NO_BUNDLE);
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

static void test_reload_grants_nothing(void) {
        World world;
        Plugin *plugin;
        g_autofree char *placed = NULL;

        world_init(&world);
        plugin = world_install(&world, "sample");
        for (unsigned i = 0; i < 3; i++)
                g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_NOT_REVIEWED);
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 0);
        g_assert_cmpstr(world.events->str, ==, "+sample "); /* and says nothing of what is the same */

        /* Neither to bytes that took the place of what was trusted. */
        world_trust(&world, plugin);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);
        placed = world_placed(&world, "sample");
        fixture_write(placed, "native/main.mjs", "evil()\n", -1);
        for (unsigned i = 0; i < 3; i++) {
                g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
                g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_CONTENT_CHANGED);
                assert_label(plugin, PLUGIN_ENABLED_UNTRUSTED);
        }
        g_assert_cmpuint(plugin_get_generation(plugin), ==, 2);
        world_done(&world);
}

static void test_history(void) {
        World world;
        Plugin *plugin;
        g_autofree char *text = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Jval record;

        world_init(&world);
        plugin = world_install(&world, "sample");
        for (unsigned i = 0; i < RECEIPTS_MAX + 2; i++)
                world_trust(&world, plugin);
        g_assert_cmpuint(plugin_get_generation(plugin), ==, RECEIPTS_MAX + 2);
        text = fixture_read(world.home, "plugins/state.json");
        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
        record = jval_member(jval_member(jdoc_root(doc), "plugins"), plugin_get_id(plugin));
        g_assert_cmpuint(jval_length(jval_member(record, "review_history")), ==, 32);
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
        g_test_add_func("/service/plugin-set/T14-history", test_history);
        g_test_add_func("/service/plugin-set/T17-reload-grants-nothing", test_reload_grants_nothing);
        g_test_add_func("/service/plugin-set/held-copy", test_held_copy);
        g_test_add_func("/service/plugin-set/files", test_files);
        g_test_add_func("/service/plugin-set/TR-01-replaced-module", test_replaced_module);
        g_test_add_func("/service/plugin-set/install-refusals", test_install_refusals);
        g_test_add_func("/service/plugin-set/review", test_review);
        return g_test_run();
}
