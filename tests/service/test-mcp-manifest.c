/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "service/mcp-manifest.h"
#include "service/mcp-rule.h"

typedef struct ServerCase {
        const char *server;  /* the value of one server */
        const char *problem; /* a part of the first message; NULL: fine */
} ServerCase;

static McpManifest *parse(const char *text, char **ret_problem) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new();
        ManifestReader reader = { .diagnostics = diagnostics, .code = DIAGNOSTIC_MCP_INVALID, .file = MCP_FILE_NAME };
        McpManifest *manifest = NULL;
        int r = mcp_manifest_parse(&reader, text, strlen(text), &manifest);

        *ret_problem = NULL;
        if (r < 0) {
                g_assert_cmpint(r, ==, -EBADMSG);
                g_assert_null(manifest);
                *ret_problem = g_strdup(diagnostics_first_error(diagnostics)->message);
        }
        return manifest;
}

static void check_servers(const ServerCase *cases, size_t n_cases) {
        for (size_t i = 0; i < n_cases; i++) {
                g_autofree char *text = g_strdup_printf("{\"mcpServers\":{\"x\":%s}}", cases[i].server);
                g_autofree char *problem = NULL;
                g_autoptr(McpManifest) manifest = parse(text, &problem);

                g_test_message("case %zu: %s: %s", i, cases[i].server, problem ? problem : "fine");
                if (!cases[i].problem) {
                        g_assert_cmpstr(problem, ==, NULL);
                        g_assert_cmpuint(manifest->servers->len, ==, 1);
                } else {
                        g_assert_nonnull(problem);
                        g_assert_nonnull(strstr(problem, cases[i].problem));
                        g_assert_null(strstr(problem, "SECRET"));
                }
        }
}

static void test_shape(void) {
        static const struct {
                const char *text, *problem;
        } cases[] = {
                { "{\"mcpServers\":{}}", NULL },
                { "{\"$schema\":\"https://agent-plugins.org/schemas/mcp.json\",\"mcpServers\":{}}", NULL },
                { "{\"$schema\":1,\"mcpServers\":{}}", "$schema must be a string" },
                { "{}", "mcpServers must be an object" },
                { "[]", "must be an object" },
                { "{\"mcpServers\":[]}", "mcpServers must be an object" },
                { "{\"mcpServers\":{},\"servers\":{}}", "not known" },
                { "{\"mcpServers\":{\"-x\":{}}}", "id" },
                { "{\"mcpServers\":{\"x_\":{}}}", "id" },
                { "{\"mcpServers\":{\"a b\":{}}}", "id" },
                { "{\"mcpServers\":{\"\":{}}}", "id" },
                { "{\"mcpServers\":{\"x\":{},\"x\":{}}}", "line 1" },
                { "{\"mcpServers\":{\"x\":1}}", "mcpServers.x must be an object" },
                { "{", "line 1" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *problem = NULL;
                g_autoptr(McpManifest) manifest = parse(cases[i].text, &problem);

                g_test_message("case %zu: %s: %s", i, cases[i].text, problem ? problem : "fine");
                if (cases[i].problem)
                        g_assert_nonnull(strstr(problem, cases[i].problem));
                else
                        g_assert_nonnull(manifest);
        }
}

static void test_transport(void) {
        static const ServerCase cases[] = {
                { "{\"command\":\"node\"}", NULL },
                { "{\"type\":\"stdio\",\"command\":\"node\"}", NULL },
                { "{\"url\":\"https://a.example/mcp\"}", NULL },
                { "{\"type\":\"sse\",\"url\":\"https://a.example/mcp\"}", NULL },
                { "{\"type\":\"streamable-http\",\"url\":\"https://a.example\"}", NULL },
                { "{}", "either" },
                { "{\"command\":\"node\",\"url\":\"https://a.example\"}", "either" },
                { "{\"type\":\"stdio\",\"url\":\"https://a.example\"}", "does not go" },
                { "{\"type\":\"sse\",\"command\":\"node\"}", "does not go" },
                { "{\"type\":\"http\",\"url\":\"https://a.example\"}", "type must be" },
                { "{\"type\":7,\"command\":\"node\"}", "type must be" },
                { "{\"command\":\"node\",\"shell\":true}", "not known" },
                { "{\"command\":\"node\",\"headers\":{}}", "must not have \"headers\"" },
                { "{\"url\":\"https://a.example\",\"args\":[]}", "must not have \"args\"" },
                { "{\"url\":\"https://a.example\",\"env\":{}}", "must not have \"env\"" },
                { "{\"url\":\"https://a.example\",\"cwd\":\"x\"}", "must not have \"cwd\"" },
                { "{\"url\":\"https://a.example\",\"headers\":{}}", NULL },
                { "{\"url\":\"https://a.example\",\"headers\":{\"Authorization\":\"SECRET\"}}", "literal headers" },
                { "{\"url\":\"https://a.example\",\"headers\":[]}", "literal headers" },
        };

        check_servers(cases, G_N_ELEMENTS(cases));
}

static void test_command(void) {
        g_autofree char *fits = g_strnfill(128, 'a'), *longer = g_strnfill(129, 'a');
        g_autofree char *bare = g_strdup_printf("{\"command\":\"%s\"}", fits);
        g_autofree char *bare_longer = g_strdup_printf("{\"command\":\"%s\"}", longer);
        const ServerCase cases[] = {
                { "{\"command\":\"bin/server\"}", NULL },
                { "{\"command\":\"./server\"}", NULL },
                { "{\"command\":\"g++-12.1_x\"}", NULL },
                { bare, NULL },
                { bare_longer, "at most 128" },
                { "{\"command\":\"/bin/sh\"}", "relative" },
                { "{\"command\":\"../sh\"}", "'..'" },
                { "{\"command\":\"a/../../sh\"}", "'..'" },
                { "{\"command\":\"node --eval\"}", "bare name" },
                { "{\"command\":\"$(id)\"}", "bare name" },
                { "{\"command\":\"..\"}", "must name a program" },
                { "{\"command\":\"\"}", "blank" },
                { "{\"command\":1}", "must be a string" },
                { "{\"command\":\"node\",\"cwd\":\"work\"}", NULL },
                { "{\"command\":\"node\",\"cwd\":\"/tmp\"}", "relative" },
                { "{\"command\":\"node\",\"cwd\":\"a/../..\"}", "'..'" },
        };

        check_servers(cases, G_N_ELEMENTS(cases));
}

static void test_arguments(void) {
        static const struct {
                const char *argument;
                const char *problem;
        } cases[] = {
                { "--port=8080", NULL },
                { "server.js", NULL },
                { "a/b", NULL },
                { "--max-tokens=5", NULL },
                { "--tokenizer", NULL },
                { "token", NULL }, /* a word, no option */
                { "${PLUGIN_ROOT}/x", NULL },
                { "/etc/passwd", "absolute" },
                { "--file=/etc/passwd", "absolute" },
                { "C:\\x", "absolute" },
                { "C:/x", "absolute" },
                { "\\\\server", "absolute" },
                { "file:///etc/passwd", "absolute" },
                { "..", "'..'" },
                { "a/../b", "'..'" },
                { "--x=../b", "'..'" },
                { "a\\..\\b", "'..'" },
                { "..a", NULL },
                { "--token", "credential" },
                { "--token=SECRET", "credential" },
                { "--api-key=SECRET", "credential" },
                { "--openai-api-key", "credential" },
                { "--OPENAI_API_KEY=SECRET", "credential" },
                { "OPENAI_API_KEY=SECRET", "credential" },
                { "--apikey", "credential" },
                { "--password=SECRET", "credential" },
                { "--db-passwd", "credential" },
                { "-secret", "credential" },
                { "--client-secret", "credential" },
                { "--authorization=SECRET", "credential" },
                { "--auth-token", "credential" },
                { "--access-key", "credential" },
                { "--private-key", "credential" },
                { "--credential", "credential" },
                { "--credentials", "credential" },
                { "sk-SECRET", "credential" },
                { "--x=sk-SECRET", "credential" },
                { "ghp_SECRET", "credential" },
                { "github_pat_SECRET", "credential" },
                { "xoxb-SECRET", "credential" },
                { "xoxp-SECRET", "credential" },
                { "AKIA123456789012", "credential" },
                { "AKIA12345678901", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const char *problem = mcp_rule_check_argument(cases[i].argument);

                g_test_message("case %s: %s", cases[i].argument, problem ? problem : "fine");
                if (cases[i].problem) {
                        g_assert_nonnull(problem);
                        g_assert_nonnull(strstr(problem, cases[i].problem));
                } else
                        g_assert_cmpstr(problem, ==, NULL);
        }
}

static void test_env(void) {
        static const ServerCase cases[] = {
                { "{\"command\":\"n\",\"env\":{}}", NULL },
                { "{\"command\":\"n\",\"env\":{\"A\":\"${B_1}\"}}", NULL },
                { "{\"command\":\"n\",\"env\":{\"A\":\"SECRET\"}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":{\"A\":\"x${B}\"}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":{\"A\":\"${B}x\"}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":{\"A\":\"${}\"}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":{\"A\":\"${1B}\"}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":{\"A\":\"${B:-SECRET}\"}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":{\"A\":\"$B\"}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":{\"A\":1}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":{\"1A\":\"${B}\"}}", "keys" },
                { "{\"command\":\"n\",\"env\":{\"PLUGIN_ROOT\":\"${B}\"}}", "PLUGIN_ROOT" },
                { "{\"command\":\"n\",\"env\":{\"PLUGIN_DATA\":\"${B}\"}}", "PLUGIN_ROOT" },
                { "{\"command\":\"n\",\"env\":{\"A\":\"${PLUGIN_ROOT}\"}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":{\"A\":\"${PLUGIN_DATA}\"}}", "${NAME}" },
                { "{\"command\":\"n\",\"env\":[]}", "64" },
        };

        check_servers(cases, G_N_ELEMENTS(cases));
}

static void test_url(void) {
        static const ServerCase cases[] = {
                { "{\"url\":\"https://a.example/x/y\"}", NULL },
                { "{\"url\":\"https://A.example:8443\"}", NULL },
                { "{\"url\":\"http://localhost:3000/mcp\"}", NULL },
                { "{\"url\":\"http://127.0.0.1/mcp\"}", NULL },
                { "{\"url\":\"http://127.8.8.8\"}", NULL },
                { "{\"url\":\"http://[::1]:9/mcp\"}", NULL },
                { "{\"url\":\"http://a.example\"}", "https" },
                { "{\"url\":\"http://127.0.0.1.evil.example\"}", "https" },
                { "{\"url\":\"http://localhost.evil.example\"}", "https" },
                { "{\"url\":\"http://[::2]\"}", "https" },
                { "{\"url\":\"https://u:SECRET@a.example\"}", "user" },
                { "{\"url\":\"https://a.example/?q=SECRET\"}", "query" },
                { "{\"url\":\"https://a.example/#SECRET\"}", "fragment" },
                { "{\"url\":\"ftp://a.example\"}", "https" },
                { "{\"url\":\"https:///x\"}", "host" },
                { "{\"url\":\"https://\"}", "host" },
                { "{\"url\":\"a.example\"}", "host" },
                { "{\"url\":\"//a.example\"}", "host" },
                { "{\"url\":\"https://a b.example\"}", "URL" },
                { "{\"url\":\"https://a.example:99999\"}", "URL" },
                { "{\"url\":\"https://a.example:0\"}", "port" },
                { "{\"url\":\"https://ex\xc3\xa4mple.example\"}", "URL" },
                { "{\"url\":\"https://a..example\"}", "host" },
                { "{\"url\":\"https://a.example\\\\@evil.example\"}", "URL" },
        };

        check_servers(cases, G_N_ELEMENTS(cases));
}

#define OWN(text) "{\"url\":\"https://a.example\",\"extensions\":{\"net.codewhale\":" text "}}"

static void test_own_keys(void) {
        static const ServerCase cases[] = {
                { OWN("{}"), NULL },
                { "{\"url\":\"https://a.example\",\"extensions\":{\"org.other\":{\"x\":1}}}", NULL },
                { "{\"url\":\"https://a.example\",\"extensions\":[]}", "must be an object" },
                { OWN("{\"x\":1}"), "not known" },
                { OWN("{\"env_headers\":{\"X-Key\":\"KEY\"}}"), NULL },
                { OWN("{\"env_headers\":{\"X Key\":\"KEY\"}}"), "HTTP header" },
                { OWN("{\"env_headers\":{\"X-Key\":\"${KEY}\"}}"), "environment" },
                { OWN("{\"bearer_token_env_var\":\"KEY\"}"), NULL },
                { OWN("{\"bearer_token_env_var\":\"sk-SECRET\"}"), "environment" },
                { OWN("{\"connect_timeout\":1,\"execute_timeout\":3600,\"read_timeout\":60}"), NULL },
                { OWN("{\"connect_timeout\":0}"), "1 to 3600" },
                { OWN("{\"execute_timeout\":3601}"), "1 to 3600" },
                { OWN("{\"execute_timeout\":1,\"read_timeout\":1}"), NULL },
                { OWN("{\"connect_timeout\":3600,\"read_timeout\":3600}"), NULL },
                { OWN("{\"execute_timeout\":0}"), "1 to 3600" },
                { OWN("{\"read_timeout\":0}"), "1 to 3600" },
                { OWN("{\"connect_timeout\":3601}"), "1 to 3600" },
                { OWN("{\"read_timeout\":3601}"), "1 to 3600" },
                { OWN("{\"read_timeout\":1.5}"), "1 to 3600" },
                { OWN("{\"read_timeout\":\"5\"}"), "1 to 3600" },
                { OWN("{\"enabled\":true,\"required\":true}"), NULL },
                { OWN("{\"disabled\":true}"), NULL },
                { OWN("{\"disabled\":true,\"required\":true}"), "combine" },
                { OWN("{\"enabled\":1}"), "true or false" },
                { OWN("{\"enabled_tools\":[\"a\"],\"disabled_tools\":[\"b\"]}"), NULL },
                { OWN("{\"enabled_tools\":[\"a\"],\"disabled_tools\":[\"a\"]}"), "both" },
                { OWN("{\"scopes\":[\"a\"]}"), NULL },
                { OWN("{\"oauth\":{}}"), "not known" },
                { OWN("{\"oauth_resource\":\"x\"}"), "not known" },
                { "{\"command\":\"n\",\"extensions\":{\"net.codewhale\":{\"env_headers\":{\"X\":\"Y\"}}}}", "stdio" },
        };

        check_servers(cases, G_N_ELEMENTS(cases));
}

/* One more than what is allowed, for each list */
static void test_counts(void) {
        static const struct {
                const char *before, *item, *after;
                unsigned max;
        } cases[] = {
                { "{\"mcpServers\":{", "\"s%u\":{\"command\":\"n\"}", "}}", 64 },
                { "{\"mcpServers\":{\"x\":{\"command\":\"n\",\"args\":[", "\"a%u\"", "]}}}", 64 },
                { "{\"mcpServers\":{\"x\":{\"command\":\"n\",\"env\":{", "\"A%u\":\"${B}\"", "}}}}", 64 },
                { "{\"mcpServers\":{\"x\":{\"url\":\"https://a\",\"extensions\":{\"net.codewhale\":{\"env_headers\":{",
                  "\"A%u\":\"B\"", "}}}}}}", 64 },
                { "{\"mcpServers\":{\"x\":{\"url\":\"https://a\",\"extensions\":{\"net.codewhale\":{\"enabled_tools\":[",
                  "\"t%u\"", "]}}}}}", 256 },
                { "{\"mcpServers\":{\"x\":{\"url\":\"https://a\",\"extensions\":{\"net.codewhale\":{\"disabled_tools\":[",
                  "\"t%u\"", "]}}}}}", 256 },
                { "{\"mcpServers\":{\"x\":{\"url\":\"https://a\",\"extensions\":{\"net.codewhale\":{\"scopes\":[",
                  "\"t%u\"", "]}}}}}", 64 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                for (unsigned more = 0; more < 2; more++) {
                        g_autoptr(GString) text = g_string_new(cases[i].before);
                        g_autofree char *problem = NULL;
                        g_autoptr(McpManifest) manifest = NULL;

                        for (unsigned j = 0; j < cases[i].max + more; j++) {
                                if (j > 0)
                                        g_string_append_c(text, ',');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                                g_string_append_printf(text, cases[i].item, j);
#pragma GCC diagnostic pop
                        }
                        g_string_append(text, cases[i].after);
                        manifest = parse(text->str, &problem);
                        g_test_message("case %zu + %u: %s", i, more, problem ? problem : "fine");
                        g_assert_true((problem != NULL) == (more == 1));
                }
}

/* Each text at its limit and one over it */
static void test_lengths(void) {
        static const struct {
                const char *before, *after;
                size_t max;
        } cases[] = {
                { "{\"mcpServers\":{\"", "\":{\"command\":\"n\"}}}", 64 },
                { "{\"mcpServers\":{\"x\":{\"command\":\"a/", "\"}}}", 510 },
                { "{\"mcpServers\":{\"x\":{\"command\":\"n\",\"args\":[\"", "\"]}}}", 4096 },
                { "{\"mcpServers\":{\"x\":{\"command\":\"n\",\"env\":{\"A\":\"${", "}\"}}}}", 128 },
                { "{\"mcpServers\":{\"x\":{\"command\":\"n\",\"env\":{\"", "\":\"${A}\"}}}}", 128 },
                { "{\"mcpServers\":{\"x\":{\"url\":\"https://a\",\"extensions\":{\"net.codewhale\":{\"enabled_tools\":[\"",
                  "\"]}}}}}", 256 },
                { "{\"mcpServers\":{\"x\":{\"url\":\"https://a\",\"extensions\":{\"net.codewhale\":{\"bearer_token_env_var\":\"",
                  "\"}}}}}", 128 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                for (size_t more = 0; more < 2; more++) {
                        g_autofree char *filler = g_strnfill(cases[i].max + more, 'b'), *problem = NULL;
                        g_autofree char *text = g_strconcat(cases[i].before, filler, cases[i].after, NULL);
                        g_autoptr(McpManifest) manifest = parse(text, &problem);

                        g_test_message("case %zu + %zu: %s", i, more, problem ? problem : "fine");
                        g_assert_true((problem != NULL) == (more == 1));
                        g_assert_true((manifest != NULL) == (more == 0));
                }
}

static void test_names(void) {
        g_autofree char *problem = NULL, *name = NULL, *line = NULL;
        g_autoptr(McpManifest) manifest = parse(
                        "{\"mcpServers\":{\"s-1\":{\"command\":\"n\",\"args\":[\"a\\u200bb\"]}}}", &problem);
        const McpServer *server;

        g_assert_cmpstr(problem, ==, NULL);
        server = g_ptr_array_index(manifest->servers, 0);
        name = mcp_server_public_name(server, "a-b");
        g_assert_cmpstr(name, ==, "plugin-3-a-b-s-1");
        line = mcp_server_display(server);
        g_assert_cmpstr(line, ==, "n a\\u{200b}b");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/service/mcp-manifest/M13-shape", test_shape);
        g_test_add_func("/service/mcp-manifest/M13-transport", test_transport);
        g_test_add_func("/service/mcp-manifest/M13-command", test_command);
        g_test_add_func("/service/mcp-manifest/M13-arguments", test_arguments);
        g_test_add_func("/service/mcp-manifest/M13-env", test_env);
        g_test_add_func("/service/mcp-manifest/M13-url", test_url);
        g_test_add_func("/service/mcp-manifest/M13-own-keys", test_own_keys);
        g_test_add_func("/service/mcp-manifest/M13-counts", test_counts);
        g_test_add_func("/service/mcp-manifest/M13-lengths", test_lengths);
        g_test_add_func("/service/mcp-manifest/names", test_names);
        return g_test_run();
}
