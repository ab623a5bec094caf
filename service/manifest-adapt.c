/* SPDX-License-Identifier: MIT */
/* The manifests of other products (contract 1.10, 9.4): what has a counterpart here is read, all else refuses the bundle. */
#include <string.h>

#include "service/manifest-format.h"
#include "service/mcp-adapt.h"

/* "./skills/" and "skills" are the same place there. */
static char *plain_path(const char *path) {
        g_autofree char *plain = g_strdup(g_str_has_prefix(path, "./") ? path + 2 : path);
        size_t length = strlen(plain);

        if (length > 1 && plain[length - 1] == '/')
                plain[length - 1] = '\0';
        return g_steal_pointer(&plain);
}

static void add_path(ManifestReader *reader, const char *where, Jval value, GStrvBuilder *builder) {
        const char *path = jval_text(value);
        g_autofree char *plain = path ? plain_path(path) : NULL;

        if (plain)
                g_strv_builder_add(builder, plain);
        else
                manifest_reader_problem(reader, where, "must be a path or an array of paths");
}

/* A component there is a path or an array of paths. */
static void read_component(ManifestReader *reader, Jval root, ComponentKind kind, Manifest *manifest) {
        const char *key = component_kind_to_string(kind);
        g_autoptr(GStrvBuilder) builder = NULL;
        Jval value = jval_member(root, key), name, item;
        JIter iter = jval_iterate(value);

        if (jval_is(value, J_ABSENT))
                return;

        builder = g_strv_builder_new();
        if (jval_is(value, J_ARRAY))
                while (jiter_next(&iter, &name, &item))
                        add_path(reader, key, item, builder);
        else
                add_path(reader, key, value, builder);
        manifest_add_paths(reader, key, g_strv_builder_end(builder), kind, manifest);
}

static void read_author(ManifestReader *reader, Jval author, Manifest *manifest) {
        if (jval_is(author, J_STRING))
                manifest->author_name = manifest_reader_text(reader, "author", author, 256);
        else
                manifest_read_author(reader, "author", author, manifest);
}

static void read_servers(ManifestReader *reader, Jval root, Manifest *manifest) {
        Jval servers = jval_member(root, "mcpServers");

        if (jval_is(servers, J_ABSENT))
                return;
        if (!jval_is(servers, J_OBJECT)) {
                manifest_reader_problem(reader, "mcpServers", "must stand in the manifest itself or in .mcp.json");
                return;
        }
        manifest->mcp = mcp_adapt(reader, "mcpServers", servers);
        manifest->network_hosts = mcp_adapt_hosts(manifest->mcp);
}

static void read_common(ManifestReader *reader, Jval root, const char *const *keys, Manifest *manifest) {
        if (!manifest_reader_object(reader, "the manifest", root, keys))
                return;

        manifest_read_name(reader, NULL, root, false, manifest);
        manifest_read_identity(reader, NULL, root, manifest);
        read_author(reader, jval_member(root, "author"), manifest);
        read_component(reader, root, COMPONENT_SKILLS, manifest);
        read_component(reader, root, COMPONENT_COMMANDS, manifest);
        read_component(reader, root, COMPONENT_AGENTS, manifest);
        read_servers(reader, root, manifest);
}

void manifest_read_kimi(ManifestReader *reader, Jval root, Manifest *manifest) {
        static const char *const keys[] = { "$schema", "name", "version", "description", "author", "homepage",
                "repository", "license", "keywords", "skills", "commands", "agents", "mcpServers", NULL };

        read_common(reader, root, keys, manifest);
}

void manifest_read_claude(ManifestReader *reader, Jval root, Manifest *manifest) {
        static const char *const keys[] = { "$schema", "name", "version", "description", "author", "homepage",
                "repository", "license", "keywords", "skills", "commands", "agents", "mcpServers", NULL };

        read_common(reader, root, keys, manifest);
}
