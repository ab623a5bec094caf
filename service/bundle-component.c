/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/limits.h"
#include "service/bundle-component.h"

static bool is_declared(char **paths, const char *path) {
        return paths && g_strv_contains((const char *const *) paths, path);
}

/* Folders are named like the kind of component. */
static void add_default(Manifest *manifest, const BundleTree *tree, ComponentKind kind) {
        const char *folder = component_kind_to_string(kind);
        const BundleNode *node = bundle_tree_find(tree, folder);
        char **paths = manifest->components[kind];
        size_t count = paths ? g_strv_length(paths) : 0;

        if (!node || !node->directory || is_declared(paths, folder) || count >= COMPONENT_PATHS_MAX)
                return;
        /* There declared paths come on top of the folder, here they stand instead of it. */
        if (count > 0 && manifest->format != MANIFEST_CLAUDE)
                return;

        manifest->components[kind] = g_renew(char *, paths, count + 2);
        manifest->components[kind][count] = g_strdup(folder);
        manifest->components[kind][count + 1] = NULL;
}

static void add_defaults(Manifest *manifest, const BundleTree *tree) {
        add_default(manifest, tree, COMPONENT_SKILLS);
        if (manifest->format != MANIFEST_CLAUDE)
                return;
        add_default(manifest, tree, COMPONENT_COMMANDS);
        add_default(manifest, tree, COMPONENT_AGENTS);
}

static bool has_native_suffix(const char *path) {
        return g_str_has_suffix(path, ".mjs") || g_str_has_suffix(path, ".js") || g_str_has_suffix(path, ".mts");
}

static void check_native(const BundleNode *node, bool extension_host, Diagnostics *diagnostics) {
        /* With the feature off entries are only listed, so any path will do. */
        if (!extension_host)
                return;
        if (node->directory)
                diagnostics_add(diagnostics, DIAGNOSTIC_NATIVE_ENTRY_INVALID, node->path,
                                "A native entry must be a file, not a directory.");
        else if (!has_native_suffix(node->path))
                diagnostics_add(diagnostics, DIAGNOSTIC_NATIVE_ENTRY_INVALID, node->path,
                                "A native entry must end in .mjs, .js or .mts.");
}

static void check_path(
                const BundleTree *tree, ComponentKind kind, const char *path, bool extension_host,
                Diagnostics *diagnostics) {
        const BundleNode *node = bundle_tree_find(tree, path);

        if (!node)
                diagnostics_add(diagnostics,
                                kind == COMPONENT_NATIVE ? DIAGNOSTIC_NATIVE_ENTRY_MISSING : DIAGNOSTIC_COMPONENT_MISSING,
                                path, "The manifest declares it under %s, but it is not in the bundle.",
                                component_kind_to_string(kind));
        else if (kind == COMPONENT_NATIVE)
                check_native(node, extension_host, diagnostics);
        else if (kind == COMPONENT_SKILLS && !node->directory)
                diagnostics_add(diagnostics, DIAGNOSTIC_COMPONENT_MISSING, path,
                                "A skills component must be a directory.");
}

static void check_mcp_paths(const McpManifest *mcp, const BundleTree *tree, Diagnostics *diagnostics) {
        for (size_t i = 0; i < mcp->servers->len; i++) {
                const McpServer *server = g_ptr_array_index(mcp->servers, i);
                const BundleNode *node = server->contained ? bundle_tree_find(tree, server->command) : NULL;
                const BundleNode *cwd = server->cwd ? bundle_tree_find(tree, server->cwd) : NULL;

                if (server->contained && (!node || node->directory))
                        diagnostics_add(diagnostics, DIAGNOSTIC_MCP_INVALID, NULL,
                                        "The command of MCP server %s is no file in the bundle.", server->id);
                if (server->cwd && (!cwd || !cwd->directory))
                        diagnostics_add(diagnostics, DIAGNOSTIC_MCP_INVALID, NULL,
                                        "The cwd of MCP server %s is no directory in the bundle.", server->id);
        }
}

/* The declared hosts are exactly those of the remote servers: a person reads the short list, so it must be true. */
static void check_hosts(const Manifest *manifest, Diagnostics *diagnostics) {
        g_autoptr(GHashTable) used = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable) declared = g_hash_table_new(g_str_hash, g_str_equal);
        GHashTableIter iter;
        void *host;

        for (size_t i = 0; manifest->mcp && i < manifest->mcp->servers->len; i++) {
                const McpServer *server = g_ptr_array_index(manifest->mcp->servers, i);

                if (server->host)
                        g_hash_table_add(used, server->host);
        }
        for (size_t i = 0; manifest->network_hosts && manifest->network_hosts[i]; i++)
                g_hash_table_add(declared, manifest->network_hosts[i]);

        g_hash_table_iter_init(&iter, used);
        while (g_hash_table_iter_next(&iter, &host, NULL))
                if (!g_hash_table_contains(declared, host))
                        diagnostics_add(diagnostics, DIAGNOSTIC_MCP_INVALID, NULL,
                                        "An MCP server uses the host %s, which network_hosts does not name.",
                                        (const char *) host);
        g_hash_table_iter_init(&iter, declared);
        while (g_hash_table_iter_next(&iter, &host, NULL))
                if (!g_hash_table_contains(used, host))
                        diagnostics_add(diagnostics, DIAGNOSTIC_MCP_INVALID, NULL,
                                        "network_hosts names the host %s, which no MCP server uses.", (const char *) host);
}

static void warn_inactive(const Manifest *manifest, ComponentKind kind, bool extension_host, Diagnostics *diagnostics) {
        if (!manifest->components[kind])
                return;
        if (kind == COMPONENT_LSP)
                diagnostics_add(diagnostics, DIAGNOSTIC_COMPONENT_INACTIVE, NULL,
                                "Language servers are listed but not used by this build.");
        /* A guard that never runs must not be taken for one that does (pains B8). */
        if (kind == COMPONENT_HOOKS)
                diagnostics_add(diagnostics, DIAGNOSTIC_COMPONENT_INACTIVE, NULL,
                                "Hooks that are programs are listed but never run; what is to look at calls listens to "
                                "tools/pre-execute in a native entry.");
        if (kind == COMPONENT_NATIVE && !extension_host)
                diagnostics_add(diagnostics, DIAGNOSTIC_COMPONENT_INACTIVE, NULL,
                                "Native entries are listed but do not run, since the extension host is switched off.");
}

void bundle_component_check(Manifest *manifest, const BundleTree *tree, bool extension_host, Diagnostics *diagnostics) {
        add_defaults(manifest, tree);

        for (ComponentKind kind = 0; kind < _COMPONENT_KIND_MAX; kind++) {
                char **paths = manifest->components[kind];

                for (size_t i = 0; paths && paths[i]; i++)
                        check_path(tree, kind, paths[i], extension_host, diagnostics);
                warn_inactive(manifest, kind, extension_host, diagnostics);
        }
        if (manifest->mcp)
                check_mcp_paths(manifest->mcp, tree, diagnostics);
        check_hosts(manifest, diagnostics);
}
