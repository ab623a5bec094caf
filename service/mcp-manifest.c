/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/sanitize.h"
#include "service/mcp-manifest.h"
#include "service/mcp-rule.h"
#include "service/text-rule.h"

#define NAMESPACE "net.codewhale"

static const char *const transport_table[_MCP_TRANSPORT_MAX] = {
        [MCP_STDIO]           = "stdio",
        [MCP_STREAMABLE_HTTP] = "streamable-http",
        [MCP_SSE]             = "sse",
};

const char *mcp_transport_to_string(McpTransport transport) {
        assert(transport >= 0 && transport < _MCP_TRANSPORT_MAX);

        return transport_table[transport];
}

static void binding_free(void *data) {
        McpBinding *binding = data;

        g_free(binding->name);
        g_free(binding->variable);
        g_free(binding);
}

static void server_free(void *data) {
        McpServer *server = data;

        if (!server)
                return;

        g_free(server->id);
        g_free(server->command);
        g_strfreev(server->args);
        g_ptr_array_unref(server->env);
        g_free(server->cwd);
        g_free(server->url);
        g_free(server->host);
        g_ptr_array_unref(server->env_headers);
        g_free(server->bearer_token_env_var);
        g_strfreev(server->enabled_tools);
        g_strfreev(server->disabled_tools);
        g_strfreev(server->scopes);
        g_free(server);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(McpServer, server_free)

McpManifest *mcp_manifest_free(McpManifest *manifest) {
        if (!manifest)
                return NULL;

        g_ptr_array_unref(manifest->servers);
        g_free(manifest);
        return NULL;
}

static void add_binding(GPtrArray *bindings, const char *name, const char *variable) {
        McpBinding *binding = g_new0(McpBinding, 1);

        binding->name = g_strdup(name);
        binding->variable = g_strdup(variable);
        g_ptr_array_add(bindings, binding);
}

static bool is_reserved(const char *name) {
        return g_strcmp0(name, "PLUGIN_ROOT") == 0 || g_strcmp0(name, "PLUGIN_DATA") == 0;
}

/* "${NAME}" and nothing else; a new string, or NULL. */
static char *reference_name(const char *text) {
        g_autofree char *name = NULL;
        size_t length = text ? strlen(text) : 0;

        if (length < 4 || !g_str_has_prefix(text, "${") || text[length - 1] != '}')
                return NULL;
        name = g_strndup(text + 2, length - 3);
        return text_rule_check_variable(name) || is_reserved(name) ? NULL : g_steal_pointer(&name);
}

static void read_env(ManifestReader *reader, const char *where, Jval value, McpServer *server) {
        JIter iter = jval_iterate(value);
        Jval key, item;

        if (jval_is(value, J_ABSENT))
                return;
        if (!jval_is(value, J_OBJECT) || jval_length(value) > 64) {
                manifest_reader_problem(reader, where, "must be an object of at most 64 variables");
                return;
        }
        while (jiter_next(&iter, &key, &item)) {
                const char *name = jval_text(key);
                g_autofree char *variable = reference_name(jval_text(item));

                if (!name || text_rule_check_variable(name) || is_reserved(name))
                        manifest_reader_problem(reader, where,
                                        "must have names of environment variables as keys, PLUGIN_ROOT and PLUGIN_DATA excepted");
                else if (!variable)
                        manifest_reader_problem(reader, where, "must have values of the form ${NAME} and nothing else");
                else
                        add_binding(server->env, name, variable);
        }
}

static void read_env_headers(ManifestReader *reader, const char *where, Jval value, McpServer *server) {
        JIter iter = jval_iterate(value);
        Jval key, item;

        if (jval_is(value, J_ABSENT))
                return;
        if (!jval_is(value, J_OBJECT) || jval_length(value) > 64) {
                manifest_reader_problem(reader, where, "must be an object of at most 64 headers");
                return;
        }
        while (jiter_next(&iter, &key, &item)) {
                const char *name = jval_text(key), *variable = jval_text(item);

                if (!name || mcp_rule_check_header(name))
                        manifest_reader_problem(reader, where, "must have names of HTTP headers as keys");
                else if (!variable || text_rule_check_variable(variable))
                        manifest_reader_problem(reader, where, "must have names of environment variables as values");
                else
                        add_binding(server->env_headers, name, variable);
        }
}

static void read_args(ManifestReader *reader, const char *where, Jval value, McpServer *server) {
        g_auto(GStrv) args = manifest_reader_texts(reader, where, value, 64, 4096);

        for (size_t i = 0; args && args[i]; i++) {
                const char *problem = mcp_rule_check_argument(args[i]);

                if (problem)
                        manifest_reader_problem(reader, where, "[%zu] %s", i, problem);
        }
        if (args) {
                g_strfreev(server->args);
                server->args = g_steal_pointer(&args);
        }
}

static void read_stdio(ManifestReader *reader, const char *where, Jval value, McpServer *server) {
        static const char *const forbidden[] = { "url", "headers", NULL };
        g_autofree char *command_place = manifest_reader_where(where, "command");
        g_autofree char *args_place = manifest_reader_where(where, "args");
        g_autofree char *env_place = manifest_reader_where(where, "env");
        g_autofree char *cwd_place = manifest_reader_where(where, "cwd");
        const char *problem;

        for (size_t i = 0; forbidden[i]; i++)
                if (!jval_is(jval_member(value, forbidden[i]), J_ABSENT))
                        manifest_reader_problem(reader, where, "is a stdio server and must not have \"%s\"", forbidden[i]);

        server->command = manifest_reader_text(reader, command_place, jval_member(value, "command"), 512);
        problem = server->command ? mcp_rule_check_command(server->command, &server->contained) : NULL;
        if (problem)
                manifest_reader_problem(reader, command_place, "%s", problem);
        else if (server->command && g_str_has_prefix(server->command, "./"))
                memmove(server->command, server->command + 2, strlen(server->command + 2) + 1);

        read_args(reader, args_place, jval_member(value, "args"), server);
        read_env(reader, env_place, jval_member(value, "env"), server);

        server->cwd = manifest_reader_optional_text(reader, where, value, "cwd", 1024);
        problem = server->cwd ? text_rule_check_path(server->cwd) : NULL;
        if (problem)
                manifest_reader_problem(reader, cwd_place, "%s", problem);
}

static void read_remote(ManifestReader *reader, const char *where, Jval value, McpServer *server) {
        static const char *const forbidden[] = { "command", "args", "env", "cwd", NULL };
        g_autofree char *place = manifest_reader_where(where, "url");
        Jval headers = jval_member(value, "headers");
        const char *problem;

        for (size_t i = 0; forbidden[i]; i++)
                if (!jval_is(jval_member(value, forbidden[i]), J_ABSENT))
                        manifest_reader_problem(reader, where, "is a remote server and must not have \"%s\"", forbidden[i]);

        server->url = manifest_reader_text(reader, place, jval_member(value, "url"), 2048);
        problem = server->url ? mcp_rule_check_url(server->url, &server->host) : NULL;
        if (problem)
                manifest_reader_problem(reader, place, "%s", problem);

        if (!jval_is(headers, J_ABSENT) && !(jval_is(headers, J_OBJECT) && jval_length(headers) == 0))
                manifest_reader_problem(reader, where,
                                "must not have literal headers; use env_headers in extensions.%s", NAMESPACE);
}

static unsigned read_timeout(ManifestReader *reader, const char *where, Jval object, const char *key) {
        Jval value = jval_member(object, key);
        int64_t seconds = 0;

        if (jval_is(value, J_ABSENT))
                return 0;
        if (jval_int64(value, &seconds) < 0 || seconds < 1 || seconds > 3600) {
                g_autofree char *place = manifest_reader_where(where, key);

                manifest_reader_problem(reader, place, "must be whole seconds from 1 to 3600");
                return 0;
        }
        return (unsigned) seconds;
}

static char **read_tools(ManifestReader *reader, const char *where, Jval object, const char *key, size_t items_max) {
        g_autofree char *place = manifest_reader_where(where, key);

        return manifest_reader_texts(reader, place, jval_member(object, key), items_max, 256);
}

static void read_switches(ManifestReader *reader, const char *where, Jval own, McpServer *server) {
        bool disabled = manifest_reader_boolean(reader, where, own, "disabled", false);

        server->enabled = manifest_reader_boolean(reader, where, own, "enabled", true) && !disabled;
        server->required = manifest_reader_boolean(reader, where, own, "required", false);
        if (server->required && disabled)
                manifest_reader_problem(reader, where, "must not combine \"required\" with \"disabled\"");

        server->enabled_tools = read_tools(reader, where, own, "enabled_tools", 256);
        server->disabled_tools = read_tools(reader, where, own, "disabled_tools", 256);
        server->scopes = read_tools(reader, where, own, "scopes", 64);
        for (size_t i = 0; server->enabled_tools && server->enabled_tools[i]; i++)
                if (server->disabled_tools &&
                                g_strv_contains((const char *const *) server->disabled_tools, server->enabled_tools[i]))
                        manifest_reader_problem(reader, where, "must not both enable and disable a tool");
}

/* What stands under extensions["net.codewhale"] of one server */
static void read_own(ManifestReader *reader, const char *where, Jval own, McpServer *server) {
        static const char *const keys[] = { "env_headers", "bearer_token_env_var", "connect_timeout", "execute_timeout",
                "read_timeout", "enabled", "disabled", "required", "enabled_tools", "disabled_tools", "scopes", NULL };
        g_autofree char *headers_place = manifest_reader_where(where, "env_headers");

        if (!manifest_reader_object(reader, where, own, keys))
                return;

        read_env_headers(reader, headers_place, jval_member(own, "env_headers"), server);
        server->bearer_token_env_var = manifest_reader_optional_text(reader, where, own, "bearer_token_env_var", 128);
        if (server->bearer_token_env_var && text_rule_check_variable(server->bearer_token_env_var))
                manifest_reader_problem(reader, where, "bearer_token_env_var must be the name of an environment variable");
        if (server->transport == MCP_STDIO && (server->env_headers->len > 0 || server->bearer_token_env_var))
                manifest_reader_problem(reader, where, "must not set headers of a stdio server");

        server->connect_timeout = read_timeout(reader, where, own, "connect_timeout");
        server->execute_timeout = read_timeout(reader, where, own, "execute_timeout");
        server->read_timeout = read_timeout(reader, where, own, "read_timeout");
        read_switches(reader, where, own, server);
}

static void read_extensions(ManifestReader *reader, const char *where, Jval value, McpServer *server) {
        g_autofree char *place = manifest_reader_where(where, "extensions");
        g_autofree char *own_place = manifest_reader_where(place, NAMESPACE);

        if (jval_is(value, J_ABSENT))
                return;
        if (!jval_is(value, J_OBJECT)) {
                manifest_reader_problem(reader, place, "must be an object");
                return;
        }
        if (!jval_is(jval_member(value, NAMESPACE), J_ABSENT))
                read_own(reader, own_place, jval_member(value, NAMESPACE), server);
}

/* The transport that `type` names, or the one that `command` or `url` implies. */
static McpTransport read_transport(ManifestReader *reader, const char *where, Jval value) {
        bool command = !jval_is(jval_member(value, "command"), J_ABSENT);
        bool url = !jval_is(jval_member(value, "url"), J_ABSENT);
        Jval type = jval_member(value, "type");

        if (command == url) {
                manifest_reader_problem(reader, where, "must have either \"command\" or \"url\"");
                return _MCP_TRANSPORT_INVALID;
        }
        if (jval_is(type, J_ABSENT))
                return command ? MCP_STDIO : MCP_STREAMABLE_HTTP;
        for (McpTransport transport = 0; transport < _MCP_TRANSPORT_MAX; transport++)
                if (jval_equals_text(type, transport_table[transport])) {
                        if ((transport == MCP_STDIO) != command)
                                manifest_reader_problem(reader, where, "has a type that does not go with its keys");
                        return transport;
                }

        manifest_reader_problem(reader, where, "type must be \"stdio\", \"streamable-http\" or \"sse\"");
        return _MCP_TRANSPORT_INVALID;
}

static McpServer *read_server(ManifestReader *reader, const char *where, const char *id, Jval value) {
        static const char *const keys[] = { "type", "command", "args", "env", "cwd", "url", "headers", "extensions", NULL };
        g_autoptr(McpServer) server = g_new0(McpServer, 1);

        server->id = g_strdup(id);
        server->args = g_new0(char *, 1);
        server->env = g_ptr_array_new_with_free_func(binding_free);
        server->env_headers = g_ptr_array_new_with_free_func(binding_free);
        server->enabled = true;

        if (!manifest_reader_object(reader, where, value, keys))
                return NULL;
        server->transport = read_transport(reader, where, value);
        if (server->transport < 0)
                return NULL;

        if (server->transport == MCP_STDIO)
                read_stdio(reader, where, value, server);
        else
                read_remote(reader, where, value, server);
        read_extensions(reader, where, jval_member(value, "extensions"), server);
        return g_steal_pointer(&server);
}

McpManifest *mcp_manifest_read(ManifestReader *reader, const char *where, Jval servers) {
        g_autoptr(McpManifest) manifest = g_new0(McpManifest, 1);
        JIter iter = jval_iterate(servers);
        Jval key, item;

        manifest->servers = g_ptr_array_new_with_free_func(server_free);
        if (!jval_is(servers, J_OBJECT)) {
                manifest_reader_problem(reader, where, "must be an object");
                return NULL;
        }
        if (jval_length(servers) > MCP_SERVERS_MAX) {
                manifest_reader_problem(reader, where, "has more than %u servers", MCP_SERVERS_MAX);
                return NULL;
        }
        while (jiter_next(&iter, &key, &item)) {
                const char *id = jval_text(key);
                const char *problem = id ? mcp_rule_check_id(id) : "must not hold NUL";
                g_autofree char *place = NULL;
                McpServer *server;

                if (problem) {
                        manifest_reader_problem(reader, where, "has a server whose id is refused: it %s", problem);
                        continue;
                }
                place = manifest_reader_where(where, id);
                server = read_server(reader, place, id, item);
                if (server)
                        g_ptr_array_add(manifest->servers, server);
        }
        return g_steal_pointer(&manifest);
}

int mcp_manifest_parse(ManifestReader *reader, const char *text, size_t size, McpManifest **ret) {
        static const char *const keys[] = { "$schema", "mcpServers", NULL };
        g_autoptr(McpManifest) manifest = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Jval root;

        if (!manifest_reader_parse(reader, text, size, &doc))
                return -EBADMSG;

        root = jdoc_root(doc);
        if (manifest_reader_object(reader, "the file", root, keys)) {
                g_free(manifest_reader_optional_text(reader, NULL, root, "$schema", 2048));
                manifest = mcp_manifest_read(reader, "mcpServers", jval_member(root, "mcpServers"));
        }
        if (reader->failed)
                return -EBADMSG;

        *ret = g_steal_pointer(&manifest);
        return 0;
}

size_t mcp_manifest_count(const McpManifest *manifest, bool stdio) {
        size_t count = 0;

        for (size_t i = 0; manifest && i < manifest->servers->len; i++) {
                const McpServer *server = g_ptr_array_index(manifest->servers, i);

                count += (server->transport == MCP_STDIO) == stdio;
        }
        return count;
}

char *mcp_server_public_name(const McpServer *server, const char *plugin_name) {
        return g_strdup_printf("plugin-%zu-%s-%s", strlen(plugin_name), plugin_name, server->id);
}

char *mcp_server_display(const McpServer *server) {
        g_autofree char *args = NULL, *line = NULL;

        if (server->transport != MCP_STDIO)
                return sanitize_line(server->url, 2048, NULL);

        args = g_strjoinv(" ", server->args);
        line = g_strdup_printf("%s%s%s", server->command, *args != '\0' ? " " : "", args);
        return sanitize_line(line, 2048, NULL);
}
