/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/jwriter.h"
#include "service/mcp-adapt.h"

#define CLAUDE_ROOT "${CLAUDE_PLUGIN_ROOT}"

static void splice(JWriter *writer, const char *key, Jval value) {
        size_t size = 0;
        const char *source = jval_source(value, &size);

        jwriter_key(writer, key);
        jwriter_raw(writer, source, size);
}

/* The NAME of "${NAME}" after @prefix, or NULL */
static char *reference(const char *text, const char *prefix) {
        size_t length;

        if (!text || g_ascii_strncasecmp(text, prefix, strlen(prefix)) != 0)
                return NULL;
        text += strlen(prefix);
        length = strlen(text);
        if (length < 4 || !g_str_has_prefix(text, "${") || text[length - 1] != '}' || strcspn(text, ":") != length)
                return NULL;
        return g_strndup(text + 2, length - 3);
}

/* Headers become references to variables; the rules for their names are those of 1.8. */
static void adapt_headers(ManifestReader *reader, const char *where, Jval headers, JWriter *writer) {
        JIter iter = jval_iterate(headers);
        g_autofree char *bearer = NULL;
        Jval key, item;

        jwriter_key(writer, "extensions");
        jwriter_begin_object(writer);
        jwriter_key(writer, "net.codewhale");
        jwriter_begin_object(writer);
        jwriter_key(writer, "env_headers");
        jwriter_begin_object(writer);
        while (jiter_next(&iter, &key, &item)) {
                const char *name = jval_text(key), *value = jval_text(item);
                bool authorization = name && g_ascii_strcasecmp(name, "authorization") == 0;
                g_autofree char *variable = reference(value, authorization ? "Bearer " : "");

                if (!variable)
                        manifest_reader_problem(reader, where,
                                        "has a header whose value is not ${NAME} (or, for Authorization, Bearer ${NAME})");
                else if (authorization && bearer)
                        manifest_reader_problem(reader, where, "has two Authorization headers");
                else if (authorization)
                        bearer = g_steal_pointer(&variable);
                else
                        jwriter_member_string(writer, name ? name : "", variable);
        }
        jwriter_end_object(writer);
        if (bearer)
                jwriter_member_string(writer, "bearer_token_env_var", bearer);
        jwriter_end_object(writer);
        jwriter_end_object(writer);
}

static void adapt_server(ManifestReader *reader, const char *where, Jval server, JWriter *writer) {
        static const char *const keys[] = { "type", "command", "args", "env", "cwd", "url", "headers", NULL };
        JIter iter = jval_iterate(server);
        Jval key, item;

        jwriter_begin_object(writer);
        if (manifest_reader_object(reader, where, server, keys))
                while (jiter_next(&iter, &key, &item)) {
                        const char *name = jval_text(key);

                        if (!name || !g_strv_contains(keys, name))
                                continue;
                        if (strcmp(name, "type") == 0 && jval_equals_text(item, "http"))
                                jwriter_member_string(writer, "type", "streamable-http");
                        else if (strcmp(name, "headers") == 0 && jval_is(item, J_OBJECT))
                                adapt_headers(reader, where, item, writer);
                        else
                                splice(writer, name, item);
                }
        jwriter_end_object(writer);
}

/* The rest of the rules is for the reader of 1.8, so the servers are written in its shape. */
static char *rewrite(ManifestReader *reader, const char *where, Jval servers, size_t *ret_size) {
        JIter iter = jval_iterate(servers);
        g_auto(JWriter) writer = {};
        Jval key, item;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        while (jiter_next(&iter, &key, &item)) {
                const char *id = jval_text(key);
                g_autofree char *place = manifest_reader_where(where, id ? id : "");

                if (!id)
                        continue;
                jwriter_key(&writer, id);
                adapt_server(reader, place, item, &writer);
        }
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, ret_size);
}

McpManifest *mcp_adapt(ManifestReader *reader, const char *where, Jval servers) {
        g_autofree char *text = NULL;
        g_autoptr(Jdoc) doc = NULL;
        const char *source;
        size_t size = 0;

        if (!jval_is(servers, J_OBJECT)) {
                manifest_reader_problem(reader, where, "must be an object of servers");
                return NULL;
        }
        source = jval_source(servers, &size);
        if (g_strstr_len(source, (gssize) size, CLAUDE_ROOT)) {
                manifest_reader_problem(reader, where, "uses " CLAUDE_ROOT ", which is not supported");
                return NULL;
        }
        text = rewrite(reader, where, servers, &size);
        if (!manifest_reader_parse(reader, text, size, &doc))
                return NULL;
        return mcp_manifest_read(reader, where, jdoc_root(doc));
}

int mcp_adapt_parse(ManifestReader *reader, const char *text, size_t size, McpManifest **ret) {
        static const char *const keys[] = { "mcpServers", NULL };
        g_autoptr(McpManifest) manifest = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Jval root, wrapped;

        if (!manifest_reader_parse(reader, text, size, &doc))
                return -EBADMSG;

        root = jdoc_root(doc);
        wrapped = jval_member(root, "mcpServers");
        if (jval_is(wrapped, J_ABSENT))
                manifest = mcp_adapt(reader, "servers", root);
        else if (manifest_reader_object(reader, "the file", root, keys))
                manifest = mcp_adapt(reader, "mcpServers", wrapped);
        if (reader->failed)
                return -EBADMSG;

        *ret = g_steal_pointer(&manifest);
        return 0;
}

char **mcp_adapt_hosts(const McpManifest *manifest) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

        for (size_t i = 0; manifest && i < manifest->servers->len; i++) {
                const McpServer *server = g_ptr_array_index(manifest->servers, i);

                if (server->host && g_hash_table_add(seen, server->host))
                        g_strv_builder_add(builder, server->host);
        }
        return g_hash_table_size(seen) > 0 ? g_strv_builder_end(builder) : NULL;
}
