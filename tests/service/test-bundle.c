/* SPDX-License-Identifier: MIT */
/* One bundle and what it says of itself: manifests, declared paths, entries, servers, skills, inventory. */
#include <glib/gstdio.h>
#include <string.h>

#include "loaded.h"

static void test_preference(void) {
        static const struct {
                const char *files[4]; /* name=content */
                const char *name;     /* of the bundle; NULL: refused */
        } cases[] = {
                { { "plugin.json={\"$schema\":\"x\",\"name\":\"json\"}", "kimi.plugin.json={\"name\":\"kimi\"}",
                    "plugin.toml=[plugin]\nname=\"toml\"", ".claude-plugin/plugin.json={\"name\":\"claude\"}" },
                  "json" },
                { { "kimi.plugin.json={\"name\":\"kimi\"}", "plugin.toml=[plugin]\nname=\"toml\"",
                    ".claude-plugin/plugin.json={\"name\":\"claude\"}" },
                  "kimi" },
                { { "plugin.toml=[plugin]\nname=\"toml\"", ".claude-plugin/plugin.json={\"name\":\"claude\"}" }, "toml" },
                { { ".claude-plugin/plugin.json={\"name\":\"claude\"}" }, "claude" },
                { { "plugin.json={", "kimi.plugin.json={\"name\":\"kimi\"}" }, NULL },
                { { "kimi.plugin.json={}", "plugin.toml=[plugin]\nname=\"toml\"" }, NULL },
                { { "plugin.toml=[", ".claude-plugin/plugin.json={\"name\":\"claude\"}" }, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *folder = fixture_new_folder();
                Loaded loaded;

                for (size_t j = 0; j < 4 && cases[i].files[j]; j++) {
                        g_auto(GStrv) parts = g_strsplit(cases[i].files[j], "=", 2);

                        fixture_write(folder, parts[0], parts[1], -1);
                }
                g_test_message("case %zu", i);
                loaded = load_with(folder, true);
                g_assert_cmpint(loaded.r, ==, cases[i].name ? 0 : -EBADMSG);
                if (cases[i].name)
                        g_assert_cmpstr(loaded.bundle->manifest->name, ==, cases[i].name);
                else
                        g_assert_nonnull(diagnostics_find(loaded.diagnostics, DIAGNOSTIC_MANIFEST_INVALID));
                loaded_done(&loaded);
                fixture_remove(folder);
        }
}

static void test_manifest_file(void) {
        char *folder = fixture_new_folder();
        Loaded loaded = load_with(folder, true);
        g_autofree char *path = g_build_filename(folder, "plugin.json", NULL);

        g_assert_cmpint(loaded.r, ==, -ENOENT);
        loaded_done(&loaded);

        /* None of these is as good as not there: the next name is never looked at. */
        fixture_write(folder, "kimi.plugin.json", "{\"name\":\"kimi\"}", -1);
        fixture_write(folder, "real.json", "{\"$schema\":\"x\",\"name\":\"x\"}", -1);
        link_to("real.json", folder, "plugin.json");
        loaded = load_with(folder, true);
        g_assert_cmpint(loaded.r, ==, -EBADMSG);
        loaded_done(&loaded);
        g_assert_cmpint(g_unlink(path), ==, 0);

        link_to("nowhere", folder, "plugin.json");
        loaded = load_with(folder, true);
        g_assert_cmpint(loaded.r, ==, -EBADMSG);
        loaded_done(&loaded);
        g_assert_cmpint(g_unlink(path), ==, 0);

        fixture_make_directory(folder, "plugin.json");
        loaded = load_with(folder, true);
        g_assert_cmpint(loaded.r, ==, -EBADMSG);
        loaded_done(&loaded);
        g_assert_cmpint(g_rmdir(path), ==, 0);

        g_assert_cmpint(mkfifo(path, 0600), ==, 0); /* must not hang */
        loaded = load_with(folder, true);
        g_assert_cmpint(loaded.r, ==, -EBADMSG);
        loaded_done(&loaded);
        fixture_remove(folder);
}

static void test_declared_paths(void) {
        static const struct {
                const char *keys;
                DiagnosticCode code; /* _DIAGNOSTIC_CODE_MAX: the manifest itself is refused */
        } cases[] = {
                { "\"skills\":{\"path\":\"/etc\"}", _DIAGNOSTIC_CODE_MAX },
                { "\"skills\":{\"path\":\"a/../../x\"}", _DIAGNOSTIC_CODE_MAX },
                { "\"skills\":{\"path\":\"a\\\\b\"}", _DIAGNOSTIC_CODE_MAX },
                { "\"skills\":{\"path\":\"C:/x\"}", _DIAGNOSTIC_CODE_MAX },
                { "\"skills\":{\"path\":\"gone\"}", DIAGNOSTIC_COMPONENT_MISSING },
                { "\"skills\":{\"path\":\"plugin.json\"}", DIAGNOSTIC_COMPONENT_MISSING },
                { "\"commands\":{\"path\":\"gone.md\"}", DIAGNOSTIC_COMPONENT_MISSING },
                { "\"native\":{\"path\":\"gone.mjs\"}", DIAGNOSTIC_NATIVE_ENTRY_MISSING },
                { "\"commands\":{\"path\":\"link/x.md\"}", DIAGNOSTIC_BUNDLE_SYMLINK },
                { "\"commands\":{\"path\":\"link\"}", DIAGNOSTIC_BUNDLE_SYMLINK },
                { "\"commands\":{\"path\":\"away/hostname\"}", DIAGNOSTIC_BUNDLE_SYMLINK },
                { "\"native\":{\"path\":\"away\"}", DIAGNOSTIC_BUNDLE_SYMLINK },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *folder = fixture_new_folder();

                g_test_message("%s", cases[i].keys);
                own(folder, cases[i].keys);
                fixture_write(folder, "real/x.md", "x", -1);
                if (strstr(cases[i].keys, "link"))
                        link_to("real", folder, "link");
                if (strstr(cases[i].keys, "away"))
                        link_to("/etc", folder, "away");
                if (cases[i].code == _DIAGNOSTIC_CODE_MAX) {
                        Loaded loaded = load_with(folder, true);

                        g_assert_cmpint(loaded.r, ==, -EBADMSG);
                        loaded_done(&loaded);
                } else
                        assert_broken(folder, cases[i].code, NULL);
                fixture_remove(folder);
        }
}

static void test_native(void) {
        static const struct {
                const char *path;
                bool fine_when_on;
        } cases[] = {
                { "n/a.mjs", true }, { "n/a.js", true },   { "n/a.mts", true }, { "n/a.ts", false },
                { "n/a.cjs", false }, { "n", false },      { "n/a", false },    { "n/mjs", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *folder = fixture_new_folder();
                g_autofree char *keys = g_strdup_printf("\"native\":{\"path\":\"%s\"}", cases[i].path);

                g_test_message("%s", cases[i].path);
                own(folder, keys);
                fixture_write(folder, strcmp(cases[i].path, "n") == 0 ? "n/x.mjs" : cases[i].path, "x", -1);
                for (unsigned on = 0; on < 2; on++) {
                        Loaded loaded = load_with(folder, on);
                        const Diagnostics *found;

                        g_assert_cmpint(loaded.r, ==, 0);
                        found = loaded.bundle->diagnostics;
                        g_assert_cmpint(diagnostics_has_error(found), ==, on && !cases[i].fine_when_on);
                        g_assert_true(!on || cases[i].fine_when_on || diagnostics_find(found, DIAGNOSTIC_NATIVE_ENTRY_INVALID));
                        g_assert_true(on || diagnostics_find(found, DIAGNOSTIC_COMPONENT_INACTIVE));
                        g_assert_true(inventory_has(&loaded.bundle->inventory, CAPABILITY_NATIVE));
                        loaded_done(&loaded);
                }
                fixture_remove(folder);
        }
}

static void test_hosts(void) {
        static const struct {
                const char *declared;
                bool fine;
        } cases[] = {
                { "\"a.example\",\"b.example\"", true },
                { "\"B.EXAMPLE\",\"a.example\"", true },
                { "\"a.example\"", false },
                { "\"a.example\",\"b.example\",\"c.example\"", false },
                { "", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *folder = fixture_new_folder();
                g_autofree char *keys = g_strdup_printf("\"capabilities\":{\"network_hosts\":[%s]}", cases[i].declared);
                Loaded loaded;

                g_test_message("%s", cases[i].declared);
                own(folder, keys);
                fixture_write(folder, "mcp.json",
                                "{\"mcpServers\":{\"a\":{\"url\":\"https://A.example/x\"},\"b\":{\"url\":\"https://b.example\"},"
                                "\"c\":{\"url\":\"https://a.example/y\"},\"d\":{\"command\":\"sh\"}}}",
                                -1);
                loaded = load_with(folder, true);
                g_assert_cmpint(loaded.r, ==, 0);
                g_assert_cmpint(!diagnostics_find(loaded.bundle->diagnostics, DIAGNOSTIC_MCP_INVALID), ==, cases[i].fine);
                g_assert_cmpuint(loaded.bundle->inventory.mcp_remote, ==, 3);
                g_assert_cmpuint(loaded.bundle->inventory.mcp_stdio, ==, 1);
                loaded_done(&loaded);
                fixture_remove(folder);
        }
}

/* Without servers every host is one too many, and none is none too few. */
static void test_hosts_without_servers(void) {
        for (unsigned named = 0; named < 2; named++) {
                char *folder = fixture_new_folder();
                Loaded loaded;

                own(folder, named ? "\"capabilities\":{\"network_hosts\":[\"a.example\"]}" : "");
                loaded = load_with(folder, true);
                g_assert_cmpint(loaded.r, ==, 0);
                g_assert_cmpint(diagnostics_find(loaded.bundle->diagnostics, DIAGNOSTIC_MCP_INVALID) != NULL, ==, named == 1);
                g_assert_cmpint(diagnostics_has_error(loaded.bundle->diagnostics), ==, named == 1);
                loaded_done(&loaded);
                fixture_remove(folder);
        }
}

static void test_mcp_paths(void) {
        static const struct {
                const char *server;
                bool fine;
        } cases[] = {
                { "{\"command\":\"bin/s\"}", true },      { "{\"command\":\"./s\"}", true },
                { "{\"command\":\"bin/gone\"}", false },  { "{\"command\":\"./bin\"}", false },
                { "{\"command\":\"sh\",\"cwd\":\"bin\"}", true }, { "{\"command\":\"sh\",\"cwd\":\"s\"}", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *folder = fixture_new_folder();
                Loaded loaded;

                own(folder, "");
                fixture_write(folder, "bin/s", "x", -1);
                fixture_write(folder, "s", "x", -1);
                fixture_write_format(folder, "mcp.json", "{\"mcpServers\":{\"a\":%s}}", cases[i].server);
                loaded = load_with(folder, true);
                g_test_message("%s", cases[i].server);
                g_assert_cmpint(!diagnostics_find(loaded.bundle->diagnostics, DIAGNOSTIC_MCP_INVALID), ==, cases[i].fine);
                loaded_done(&loaded);
                fixture_remove(folder);
        }
}

/* A hook that is a program never runs here: whoever counts on one is told. It is in the way of nothing else. */
static void test_hooks_are_told(void) {
        char *folder = fixture_new_folder();
        const Diagnostic *told;
        Loaded loaded;

        own(folder, "\"hooks\":{\"path\":\"guard.toml\"},\"native\":{\"path\":\"n.mjs\"}");
        fixture_write(folder, "guard.toml", "event = \"tool_call_before\"\ncommand = \"exit 2\"\n", -1);
        fixture_write(folder, "n.mjs", "x", -1);
        loaded = load_with(folder, true);
        g_assert_cmpint(loaded.r, ==, 0);
        g_assert_false(diagnostics_has_error(loaded.bundle->diagnostics));
        told = diagnostics_find(loaded.bundle->diagnostics, DIAGNOSTIC_COMPONENT_INACTIVE);
        g_assert_nonnull(told);
        g_assert_nonnull(strstr(told->message, "never run"));
        g_assert_nonnull(strstr(told->message, "tools/pre-execute"));
        g_assert_true(inventory_has(&loaded.bundle->inventory, CAPABILITY_HOOKS));
        g_assert_nonnull(strstr(capability_in_words(CAPABILITY_HOOKS), "never runs"));
        loaded_done(&loaded);
        fixture_remove(folder);
}

static void test_claude_refusals(void) {
        static const struct {
                const char *path, *text;
                bool fine;
        } cases[] = {
                { "commands/a.md", "Say hello.", true },
                { "commands/a.md", "Run ${CLAUDE_PLUGIN_ROOT}/x.sh", false },
                { "skills/a/SKILL.md", "Run ${CLAUDE_PLUGIN_ROOT}/x.sh", false },
                { "agents/a.md", "Say hello.", true },
                { "agents/a.md", "Run ${CLAUDE_PLUGIN_ROOT}/x.sh", false },
                { "hooks/hooks.json", "{}", false },
                { ".lsp.json", "{}", false },
                { ".mcp.json", "{\"a\":{\"command\":\"sh\"}}", true },
                { ".mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"sh\"}}}", true },
                { ".mcp.json", "{\"mcpServers\":{\"a\":{\"type\":\"http\",\"url\":\"https://a.example\"}}}", true },
                { ".mcp.json", "{\"a\":{\"command\":\"${CLAUDE_PLUGIN_ROOT}/s\"}}", false },
                { ".mcp.json", "{\"a\":{\"url\":\"https://a.example\",\"headers\":{\"A\":\"b\"}}}", false },
                { ".mcp.json", "{\"a\":{\"command\":\"sh\",\"timeout\":1}}", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *folder = fixture_new_folder();
                Loaded loaded;

                g_test_message("%s: %s", cases[i].path, cases[i].text);
                fixture_write(folder, ".claude-plugin/plugin.json", "{\"name\":\"x\"}", -1);
                fixture_write(folder, cases[i].path, cases[i].text, -1);
                loaded = load_with(folder, true);
                g_assert_cmpint(loaded.r, ==, 0);
                g_assert_cmpint(!diagnostics_has_error(loaded.bundle->diagnostics), ==, cases[i].fine);
                loaded_done(&loaded);
                fixture_remove(folder);
        }
}

/* What is too large to be searched is not taken for harmless; one byte less is, and is searched to its end. */
static void test_claude_large_texts(void) {
        static const struct {
                size_t size;
                bool last, fine;
        } cases[] = {
                { SKILL_FILE_BYTES_MAX, false, true },
                { SKILL_FILE_BYTES_MAX, true, false },
                { SKILL_FILE_BYTES_MAX + 1, false, false },
                { SKILL_FILE_BYTES_MAX + 1, true, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                static const char word[] = "${CLAUDE_PLUGIN_ROOT}";
                char *folder = fixture_new_folder();
                g_autofree char *text = g_malloc(cases[i].size);
                Loaded loaded;

                memset(text, 'a', cases[i].size);
                if (cases[i].last)
                        memcpy(text + cases[i].size - (sizeof(word) - 1), word, sizeof(word) - 1);
                g_test_message("case %zu", i);
                fixture_write(folder, ".claude-plugin/plugin.json", "{\"name\":\"x\"}", -1);
                fixture_write(folder, "commands/a.md", text, (gssize) cases[i].size);
                loaded = load_with(folder, true);
                g_assert_cmpint(loaded.r, ==, 0);
                g_assert_cmpint(!diagnostics_has_error(loaded.bundle->diagnostics), ==, cases[i].fine);
                loaded_done(&loaded);
                fixture_remove(folder);
        }
}

static void test_skills(void) {
        static const struct {
                const char *text;
                bool fine;
        } cases[] = {
                { "---\nname: a\ndescription: b\n---\nText.\n", true },
                { "---\r\nname: a\r\ndescription: b\r\n---\r\n", true },
                { "---\nname: a\ndescription: b\n---", true },
                { "Text.\n", false },
                { "", false },
                { "---\n", false },
                { "---\nname: a\ndescription: b\n", false },
                { "---\nname: a\n---\n", false },
                { "---\ndescription: a\n---\n", false },
                { "--- \nname: a\ndescription: b\n---\n", false },
                { "---\nname: \xff\ndescription: b\n---\n", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *folder = fixture_new_folder();
                Loaded loaded;

                g_test_message("case %zu", i);
                own(folder, "");
                fixture_write(folder, "skills/a/SKILL.md", cases[i].text, -1);
                fixture_write(folder, "elsewhere/SKILL.md", "no skill of ours", -1);
                loaded = load_with(folder, true);
                g_assert_false(diagnostics_has_error(loaded.bundle->diagnostics));
                g_assert_cmpint(!diagnostics_find(loaded.bundle->diagnostics, DIAGNOSTIC_SKILL_INVALID), ==, cases[i].fine);
                loaded_done(&loaded);
                fixture_remove(folder);
        }
}

static void test_inventory(void) {
        char *folder = fixture_new_folder();
        const Inventory *inventory;
        Loaded loaded;

        fixture_write(folder, ".claude-plugin/plugin.json", "{\"name\":\"x\",\"commands\":\"./more\"}", -1);
        fixture_write(folder, "commands/a.md", "a", -1);
        fixture_write(folder, "commands/deep/b.md", "b", -1);
        fixture_write(folder, "commands/readme.txt", "c", -1);
        fixture_write(folder, "more/c.md", "c", -1);
        fixture_write(folder, "agents/a.md", "a", -1);
        fixture_write(folder, "skills/one/SKILL.md", "x", -1);
        fixture_write(folder, "skills/two/SKILL.md", "x", -1);
        fixture_write(folder, "skills/two/notes/SKILL.md", "x", -1);
        fixture_write(folder, ".mcp.json", "{\"a\":{\"url\":\"https://a.example\"},\"b\":{\"command\":\"sh\"}}", -1);
        loaded = load_with(folder, true);
        g_assert_false(diagnostics_has_error(loaded.bundle->diagnostics));
        inventory = &loaded.bundle->inventory;
        g_assert_cmpuint(inventory->components[COMPONENT_COMMANDS], ==, 3);
        g_assert_cmpuint(inventory->components[COMPONENT_AGENTS], ==, 1);
        g_assert_cmpuint(inventory->components[COMPONENT_SKILLS], ==, 2);
        g_assert_cmpuint(inventory->mcp_remote, ==, 1);
        g_assert_cmpuint(inventory->mcp_stdio, ==, 1);
        g_assert_cmpstr(inventory->network_hosts[0], ==, "a.example");
        loaded_done(&loaded);
        fixture_remove(folder);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/service/bundle/M04-preference", test_preference);
        g_test_add_func("/service/bundle/M04-manifest-that-is-no-file", test_manifest_file);
        g_test_add_func("/service/bundle/M08-declared-paths", test_declared_paths);
        g_test_add_func("/service/bundle/M09-native-entries", test_native);
        g_test_add_func("/service/bundle/M12-network-hosts", test_hosts);
        g_test_add_func("/service/bundle/M12-hosts-without-servers", test_hosts_without_servers);
        g_test_add_func("/service/bundle/M13-mcp-paths", test_mcp_paths);
        g_test_add_func("/service/bundle/M16-claude-refusals", test_claude_refusals);
        g_test_add_func("/bundle/B8-declared-hooks-are-told", test_hooks_are_told);
        g_test_add_func("/service/bundle/M16-claude-large-texts", test_claude_large_texts);
        g_test_add_func("/service/bundle/skills", test_skills);
        g_test_add_func("/service/bundle/inventory", test_inventory);
        return g_test_run();
}
