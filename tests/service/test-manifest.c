/* SPDX-License-Identifier: MIT */
/* plugin.json and its three relatives: rules one by one, and a corpus of whole manifests. */
#include <errno.h>
#include <string.h>

#include "common/limits.h"
#include "service/manifest.h"

#define HEAD "{\"$schema\":\"" MANIFEST_SCHEMA_URL "\",\"name\":\"x\""

static Manifest *parse(ManifestFormat format, const char *text, gssize size, Diagnostics *diagnostics) {
        Manifest *manifest = NULL;
        int r = manifest_parse(format, text, size < 0 ? strlen(text) : (size_t) size, diagnostics, &manifest);

        g_assert_true(r == 0 || r == -EBADMSG);
        g_assert_true((r == 0) == (manifest != NULL));
        g_assert_true((r == 0) == !diagnostics_has_error(diagnostics));
        return manifest;
}

static bool is_fine(const char *text) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new();
        g_autoptr(Manifest) manifest = parse(MANIFEST_PLUGIN_JSON, text, -1, diagnostics);

        for (size_t i = 0; i < diagnostics_count(diagnostics); i++)
                g_test_message("%s", diagnostics_get(diagnostics, i)->message);
        return manifest;
}

static void test_unknown_keys(void) {
        static const struct {
                const char *text;
                bool fine;
        } cases[] = {
                { HEAD "}", true },
                { HEAD ",\"x\":1}", false },
                { HEAD ",\"Name\":\"x\"}", false },
                { HEAD ",\"extensions\":{}}", true },
                { HEAD ",\"extensions\":{\"net.codewhale\":{}}}", true },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"x\":1}}}", false },
                { HEAD ",\"extensions\":{\"net.codewhale\":[]}}", false },
                { HEAD ",\"extensions\":{\"net.codewhale.other\":{\"x\":1},\"org.x\":7}}", true },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"skills\":{\"path\":\"s\",\"x\":1}}}}", false },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"when\":{\"x\":[]}}}}", false },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"capabilities\":{\"x\":[]}}}}", false },
                { HEAD ",\"author\":{\"name\":\"a\",\"x\":1}}", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu: %s", i, cases[i].text);
                g_assert_cmpint(is_fine(cases[i].text), ==, cases[i].fine);
        }
}

/* Each text field at its limit, one over it, and filled with what no field may hold. %s stands for the value. */
static void test_text_limits(void) {
        static const struct {
                const char *before, *after;
                size_t chars_max;
        } fields[] = {
                { HEAD ",\"description\":\"", "\"}", 1024 },
                { HEAD ",\"homepage\":\"", "\"}", 2048 },
                { HEAD ",\"repository\":\"", "\"}", 2048 },
                { HEAD ",\"license\":\"", "\"}", 128 },
                { HEAD ",\"keywords\":[\"", "\"]}", 128 },
                { HEAD ",\"author\":{\"name\":\"", "\"}}", 256 },
                { HEAD ",\"author\":{\"name\":\"a\",\"email\":\"", "\"}}", 256 },
                { HEAD ",\"author\":{\"name\":\"a\",\"url\":\"", "\"}}", 256 },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"display_name\":\"", "\"}}}", 128 },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"capabilities\":{\"filesystem_roots\":[\"", "\"]}}}}", 512 },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"when\":{\"binaries\":[\"", "\"]}}}}", 128 },
        };
        static const char *const never[] = { "", "  ", "a\\u0000b", "a\\nb", "a\\u0085b", "a\\u202eb", "a\\u2066b" };

        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
                for (size_t more = 0; more < 2; more++) {
                        g_autoptr(GString) value = g_string_new(NULL);
                        g_autofree char *text = NULL;

                        for (size_t n = 0; n < fields[i].chars_max + more; n++)
                                g_string_append(value, "ü"); /* characters, not bytes */
                        text = g_strconcat(fields[i].before, value->str, fields[i].after, NULL);
                        g_test_message("field %zu, %zu over", i, more);
                        g_assert_cmpint(is_fine(text), ==, more == 0);
                }
                for (size_t n = 0; n < G_N_ELEMENTS(never); n++) {
                        g_autofree char *text = g_strconcat(fields[i].before, never[n], fields[i].after, NULL);

                        g_test_message("field %zu, text %zu", i, n);
                        g_assert_false(is_fine(text));
                }
        }
}

static char *repeat(const char *before, const char *item, size_t count, const char *after) {
        g_autoptr(GString) text = g_string_new(before);

        for (size_t i = 0; i < count; i++)
                g_string_append_printf(text, "%s\"%s%zu%s\"", i > 0 ? "," : "", item, i, item[0] == 'n' ? ".mjs" : "");
        g_string_append(text, after);
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static void test_counts(void) {
        static const struct {
                const char *before, *item, *after;
        } lists[] = {
                { HEAD ",\"keywords\":[", "k", "]}" },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"native\":{\"paths\":[", "n/", "]}}}}" },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"skills\":{\"paths\":[", "s", "]}}}}" },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"capabilities\":{\"filesystem_roots\":[", "f", "]}}}}" },
                { HEAD ",\"extensions\":{\"net.codewhale\":{\"capabilities\":{\"network_hosts\":[", "h", "]}}}}" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
                for (size_t more = 0; more < 2; more++) {
                        g_autofree char *text = repeat(lists[i].before, lists[i].item, 64 + more, lists[i].after);

                        g_test_message("list %zu, %zu over", i, more);
                        g_assert_cmpint(is_fine(text), ==, more == 0);
                }
}

/* A host is a name, so it has limits in letters that a text of any kind does not meet. */
static void test_host_length(void) {
        for (size_t more = 0; more < 2; more++) {
                g_autofree char *label = g_strnfill(63, 'a'), *last = g_strnfill(61 + more, 'b');
                g_autofree char *text = g_strdup_printf(
                                HEAD ",\"extensions\":{\"net.codewhale\":{\"capabilities\":{\"network_hosts\":[\"%s.%s.%s.%s\"]}}}}",
                                label, label, label, last);

                g_test_message("%zu over", more);
                g_assert_cmpint(is_fine(text), ==, more == 0);
        }
}

/* Whatever is wrong with a value, the value itself is not told: it may be a secret in the wrong place. */
static void test_toml_tells_no_value(void) {
        static const char *const texts[] = {
                "schema_version = \"SECRET\"\n[plugin]\nname = \"x\"\n",
                "schema_version = 1\n[plugin]\nname = \"SECRET\"\n",
                "schema_version = 1\n[plugin]\nname = SECRET\n",
                "schema_version = 1\n[plugin]\nname = \"x\"\nname = \"SECRET\"\n",
                "schema_version = 1\n[plugin]\nname = \"x\"\nversion = \"SECRET\"\n",
                "schema_version = 1\n[plugin]\nname = \"x\"\nlicense = [\"SECRET\"]\n",
                "schema_version = 1\n[plugin]\nname = \"x\"\n[skills]\npath = \"/SECRET\"\n",
                "schema_version = 1\n[plugin]\nname = \"x\"\n[native]\npath = \"../SECRET\"\n",
                "schema_version = 1\n[plugin]\nname = \"x\"\n[when]\nos = [\"SECRET\"]\n",
                "schema_version = 1\n[plugin]\nname = \"x\"\n[mcp_servers.db]\ncommand = \"/SECRET\"\n",
                "schema_version = 1\n[plugin]\nname = \"x\"\n[mcp_servers.db]\nurl = \"https://u:SECRET@a.example\"\n",
                "schema_version = 1\n[plugin]\nname = \"x\"\n[mcp_servers.db]\nurl = \"https://a.example/?SECRET\"\n",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(Diagnostics) diagnostics = diagnostics_new();
                g_autoptr(Manifest) manifest = parse(MANIFEST_TOML, texts[i], -1, diagnostics);

                g_test_message("%s", texts[i]);
                g_assert_null(manifest);
                for (size_t j = 0; j < diagnostics_count(diagnostics); j++) {
                        g_test_message("  %s", diagnostics_get(diagnostics, j)->message);
                        g_assert_null(strstr(diagnostics_get(diagnostics, j)->message, "SECRET"));
                }
        }
}

static void test_toml_without_version(void) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new();
        g_autoptr(Manifest) manifest = parse(MANIFEST_TOML, "[plugin]\nname = \"x\"\n", -1, diagnostics);

        g_assert_nonnull(manifest);
        g_assert_cmpstr(manifest->version, ==, "0.0.0");
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, 1);
        g_assert_cmpint(diagnostics_get(diagnostics, 0)->code, ==, DIAGNOSTIC_MANIFEST_LEGACY);
}

/* "http" is read as streamable HTTP, and a header takes its value from a variable or not at all. */
static void test_claude_servers(void) {
        static const char text[] = "{\"name\":\"x\",\"mcpServers\":{\"a\":{\"type\":\"http\",\"url\":\"https://a.example/mcp\","
                                   "\"headers\":{\"Authorization\":\"Bearer ${TOKEN}\",\"X-Team\":\"${TEAM}\"}}}}";
        g_autoptr(Diagnostics) diagnostics = diagnostics_new();
        g_autoptr(Manifest) manifest = parse(MANIFEST_CLAUDE, text, -1, diagnostics);
        const McpServer *server;
        const McpBinding *header;

        g_assert_nonnull(manifest);
        g_assert_nonnull(manifest->mcp);
        g_assert_cmpuint(manifest->mcp->servers->len, ==, 1);
        server = g_ptr_array_index(manifest->mcp->servers, 0);
        g_assert_cmpint(server->transport, ==, MCP_STREAMABLE_HTTP);
        g_assert_cmpstr(server->bearer_token_env_var, ==, "TOKEN");
        g_assert_cmpuint(server->env_headers->len, ==, 1);
        header = g_ptr_array_index(server->env_headers, 0);
        g_assert_cmpstr(header->name, ==, "X-Team");
        g_assert_cmpstr(header->variable, ==, "TEAM");
}

static void test_native_order(void) {
        static const char text[] = HEAD ",\"extensions\":{\"net.codewhale\":{\"native\":"
                                        "{\"path\":\"z.mjs\",\"paths\":[\"b.mjs\",\"a.mjs\",\"b.mjs\",\"z.mjs\",\"c.mjs\"]}}}}";
        g_autoptr(Diagnostics) diagnostics = diagnostics_new();
        g_autoptr(Manifest) manifest = parse(MANIFEST_PLUGIN_JSON, text, -1, diagnostics);
        g_autofree char *joined = g_strjoinv(" ", manifest->components[COMPONENT_NATIVE]);

        g_assert_cmpstr(joined, ==, "z.mjs b.mjs a.mjs c.mjs");
}

static void test_native_counts(void) {
        static const char before[] = HEAD ",\"extensions\":{\"net.codewhale\":{\"native\":{\"paths\":[";
        g_autofree char *fits = repeat(before, "n/", 64, "]}}}}"), *over = repeat(before, "n/", 65, "]}}}}");

        g_assert_true(is_fine(fits));
        g_assert_false(is_fine(over));
}

static void test_when(void) {
        static const struct {
                const char *when;
                const char *reason; /* NULL: it applies */
        } cases[] = {
                { "{}", NULL },
                { "{\"os\":[]}", NULL },
                { "{\"os\":[\"linux\"]}", NULL },
                { "{\"os\":[\"macos\",\"linux\"]}", NULL },
                { "{\"os\":[\"macos\",\"windows\"]}", "linux" },
                { "{\"binaries\":[\"sh\"]}", NULL },
                { "{\"binaries\":[\"sh\",\"no-such-program-here\"]}", "no-such-program-here" },
                { "{\"os\":[\"linux\"],\"binaries\":[\"no-such-program-here\"]}", "no-such-program-here" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strdup_printf(HEAD ",\"extensions\":{\"net.codewhale\":{\"when\":%s}}}", cases[i].when);
                g_autoptr(Diagnostics) diagnostics = diagnostics_new();
                g_autoptr(Manifest) manifest = parse(MANIFEST_PLUGIN_JSON, text, -1, diagnostics);
                g_autofree char *reason = NULL;

                g_test_message("case %zu: %s", i, cases[i].when);
                g_assert_cmpint(manifest_applies(manifest, "relative:/usr/bin:/bin", &reason), ==, cases[i].reason == NULL);
                if (cases[i].reason)
                        g_assert_nonnull(strstr(reason, cases[i].reason));
        }
}

static void test_size(void) {
        g_autofree char *text = g_malloc(MANIFEST_BYTES_MAX + 1);
        g_autoptr(Diagnostics) fits = diagnostics_new(), over = diagnostics_new();
        g_autoptr(Manifest) manifest = NULL, none = NULL;

        memset(text, ' ', MANIFEST_BYTES_MAX + 1);
        memcpy(text, HEAD "}", strlen(HEAD "}"));
        manifest = parse(MANIFEST_PLUGIN_JSON, text, (gssize) MANIFEST_BYTES_MAX, fits);
        g_assert_nonnull(manifest);
        none = parse(MANIFEST_PLUGIN_JSON, text, (gssize) MANIFEST_BYTES_MAX + 1, over);
        g_assert_null(none);
}

/* Which folder of the corpus is for which format */
static const char *const folders[_MANIFEST_FORMAT_MAX] = {
        [MANIFEST_PLUGIN_JSON] = "plugin-json",
        [MANIFEST_KIMI]        = "kimi",
        [MANIFEST_TOML]        = "toml",
        [MANIFEST_CLAUDE]      = "claude",
};

static Diagnostics *read_corpus_file(const char *name, bool *ret_fine) {
        g_autofree char *path = g_test_build_filename(G_TEST_DIST, "manifests", name, NULL);
        g_autofree char *text = NULL;
        g_autoptr(Manifest) manifest = NULL;
        Diagnostics *diagnostics = diagnostics_new();
        ManifestFormat format = 0;
        gsize size = 0;

        while (!g_str_has_prefix(name, folders[format]))
                format++;
        g_assert_true(g_file_get_contents(path, &text, &size, NULL));
        manifest = parse(format, text, (gssize) size, diagnostics);
        *ret_fine = manifest;
        return diagnostics;
}

/* The line "NAME | ok", "NAME | CODE | PART" must be met by what the parser said. */
static void check_line(const char *line) {
        g_auto(GStrv) fields = g_strsplit(line, " | ", 3);
        g_autoptr(Diagnostics) diagnostics = NULL;
        bool fine = false, met = false;

        g_test_message("%s", line);
        diagnostics = read_corpus_file(fields[0], &fine);
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *item = diagnostics_get(diagnostics, i);

                g_test_message("  %s: %s", diagnostic_code_to_string(item->code), item->message);
                g_assert_null(strstr(item->message, "SECRET"));
                met |= fields[2] && strcmp(diagnostic_code_to_string(item->code), fields[1]) == 0 &&
                                strstr(item->message, fields[2]) != NULL;
        }
        if (strcmp(fields[1], "ok") == 0)
                g_assert_cmpuint(diagnostics_count(diagnostics), ==, 0);
        else
                g_assert_true(met);
        g_assert_cmpint(fine, ==, !diagnostics_has_error(diagnostics));
}

static void check_corpus(const char *folder) {
        g_autofree char *path = g_test_build_filename(G_TEST_DIST, "manifests", "expected.txt", NULL);
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;
        size_t checked = 0;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        lines = g_strsplit(text, "\n", -1);
        for (size_t i = 0; lines[i]; i++)
                if (g_str_has_prefix(lines[i], folder)) {
                        check_line(lines[i]);
                        checked++;
                }
        g_assert_cmpuint(checked, >=, 6);
}

static void test_corpus(const void *folder) {
        check_corpus(folder);
}

/* Each file of the corpus is spoken of in the list. */
static void test_corpus_complete(void) {
        g_autofree char *path = g_test_build_filename(G_TEST_DIST, "manifests", "expected.txt", NULL), *text = NULL;
        size_t count = 0;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        for (ManifestFormat format = 0; format < _MANIFEST_FORMAT_MAX; format++) {
                g_autofree char *folder = g_test_build_filename(G_TEST_DIST, "manifests", folders[format], NULL);
                g_autoptr(GDir) directory = g_dir_open(folder, 0, NULL);
                const char *name;

                while ((name = g_dir_read_name(directory))) {
                        g_autofree char *line = g_strdup_printf("\n%s/%s | ", folders[format], name);

                        g_test_message("%s/%s", folders[format], name);
                        g_assert_nonnull(strstr(text, line));
                        count++;
                }
        }
        g_assert_cmpuint(count, >=, 40);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/service/manifest/M05-unknown-keys", test_unknown_keys);
        g_test_add_func("/service/manifest/M06-text-limits", test_text_limits);
        g_test_add_func("/service/manifest/M06-counts", test_counts);
        g_test_add_func("/service/manifest/M06-host-length", test_host_length);
        g_test_add_func("/service/manifest/M10-native-counts", test_native_counts);
        g_test_add_func("/service/manifest/M10-native-order", test_native_order);
        g_test_add_func("/service/manifest/M11-when", test_when);
        g_test_add_func("/service/manifest/size", test_size);
        g_test_add_data_func("/service/manifest/corpus-plugin-json", "plugin-json/", test_corpus);
        g_test_add_data_func("/service/manifest/corpus-kimi", "kimi/", test_corpus);
        g_test_add_data_func("/service/manifest/M15-corpus-toml", "toml/", test_corpus);
        g_test_add_func("/service/manifest/M15-no-value-is-told", test_toml_tells_no_value);
        g_test_add_func("/service/manifest/M15-without-schema-version", test_toml_without_version);
        g_test_add_func("/service/manifest/M16-claude-servers", test_claude_servers);
        g_test_add_data_func("/service/manifest/M16-corpus-claude", "claude/", test_corpus);
        g_test_add_func("/service/manifest/corpus-complete", test_corpus_complete);
        return g_test_run();
}
