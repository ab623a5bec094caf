/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "service/inventory.h"

#define CAPABILITY_DOMAIN "codewhale-extensions-capabilities-v1"
#define SKILL_FILE        "SKILL.md"

static const struct {
        const char *name;
        const char *words;
} capability_table[_CAPABILITY_MAX] = {
        [CAPABILITY_SKILLS]             = { "skills", "gives agents instructions that they may read and follow" },
        [CAPABILITY_MCP_STDIO]          = { "mcp-stdio", "defines MCP servers that are programs on this machine" },
        [CAPABILITY_MCP_REMOTE]         = { "mcp-remote", "defines MCP servers that are reached over the network" },
        [CAPABILITY_COMMANDS]           = { "commands", "adds commands that are texts for an agent" },
        [CAPABILITY_AGENTS]             = { "agents", "adds profiles of agents" },
        [CAPABILITY_HOOKS]              = { "hooks", "declares hooks that are programs, which this service never runs" },
        [CAPABILITY_LSP]                = { "lsp", "declares language servers" },
        [CAPABILITY_NATIVE]             = { "native", "runs code of its own in a sandbox of its own" },
        [CAPABILITY_FILESYSTEM_ROOTS]   = { "filesystem-roots", "asks for folders outside the bundle" },
        [CAPABILITY_LIFECYCLE_MUTATION] = { "lifecycle-mutation", "asks to change how agents live and end" },
};

const char *capability_to_string(Capability capability) {
        assert(capability >= 0 && capability < _CAPABILITY_MAX);

        return capability_table[capability].name;
}

const char *capability_in_words(Capability capability) {
        assert(capability >= 0 && capability < _CAPABILITY_MAX);

        return capability_table[capability].words;
}

bool capability_is_supported(Capability capability, bool extension_host) {
        switch (capability) {
        case CAPABILITY_LSP:
        case CAPABILITY_FILESYSTEM_ROOTS:
        case CAPABILITY_LIFECYCLE_MUTATION:
                return false;
        case CAPABILITY_NATIVE:
                return extension_host;
        default:
                return true;
        }
}

unsigned capability_policy_version(bool extension_host) {
        return extension_host ? 4 : 3;
}

bool inventory_has(const Inventory *inventory, Capability capability) {
        return (inventory->declared & (1u << capability)) != 0;
}

/* Whether @path is below the folder @base by exactly @levels names; 0: any number. */
static bool is_below(const char *path, const char *base, size_t levels) {
        size_t length = strlen(base), slashes = 0;

        if (strncmp(path, base, length) != 0 || path[length] != '/')
                return false;
        for (const char *at = path + length; *at != '\0'; at++)
                slashes += *at == '/';
        return levels == 0 || slashes == levels;
}

static bool is_skill(const char *path, const char *base) {
        const char *name = strrchr(path, '/');

        return name && strcmp(name + 1, SKILL_FILE) == 0 && (is_below(path, base, 1) || is_below(path, base, 2));
}

bool inventory_is_skill(const Manifest *manifest, const char *path) {
        char **folders = manifest->components[COMPONENT_SKILLS];

        for (size_t i = 0; folders && folders[i]; i++)
                if (is_skill(path, folders[i]))
                        return true;
        return false;
}

static bool counts_as(const char *path, const char *base, ComponentKind kind) {
        switch (kind) {
        case COMPONENT_SKILLS:
                return is_skill(path, base);
        case COMPONENT_COMMANDS:
                return is_below(path, base, 0) && g_str_has_suffix(path, ".md");
        default:
                return is_below(path, base, 0) && (g_str_has_suffix(path, ".toml") || g_str_has_suffix(path, ".md"));
        }
}

static size_t count_path(const BundleTree *tree, const char *path, ComponentKind kind) {
        const BundleNode *node = bundle_tree_find(tree, path);
        size_t count = 0;

        if (!node || !node->directory || kind == COMPONENT_NATIVE || kind == COMPONENT_LSP)
                return 1;
        for (size_t i = 0; i < tree->nodes->len; i++) {
                const BundleNode *file = g_ptr_array_index(tree->nodes, i);

                count += !file->directory && counts_as(file->path, path, kind);
        }
        return count;
}

static Capability capability_of(ComponentKind kind) {
        static const Capability table[_COMPONENT_KIND_MAX] = {
                [COMPONENT_SKILLS] = CAPABILITY_SKILLS, [COMPONENT_COMMANDS] = CAPABILITY_COMMANDS,
                [COMPONENT_AGENTS] = CAPABILITY_AGENTS, [COMPONENT_HOOKS] = CAPABILITY_HOOKS,
                [COMPONENT_LSP] = CAPABILITY_LSP,       [COMPONENT_NATIVE] = CAPABILITY_NATIVE,
        };

        return table[kind];
}

static void declare_if(Inventory *inventory, Capability capability, bool declared) {
        if (declared)
                inventory->declared |= 1u << capability;
}

void inventory_take(const Manifest *manifest, const BundleTree *tree, Inventory *ret) {
        Inventory inventory = {
                .mcp_stdio = mcp_manifest_count(manifest->mcp, true),
                .mcp_remote = mcp_manifest_count(manifest->mcp, false),
                .filesystem_roots = manifest->filesystem_roots,
                .network_hosts = manifest->network_hosts,
                .lifecycle_mutation = manifest->lifecycle_mutation,
        };

        for (ComponentKind kind = 0; kind < _COMPONENT_KIND_MAX; kind++) {
                char **paths = manifest->components[kind];

                for (size_t i = 0; paths && paths[i]; i++)
                        inventory.components[kind] += count_path(tree, paths[i], kind);
                declare_if(&inventory, capability_of(kind), paths && paths[0]);
        }
        declare_if(&inventory, CAPABILITY_MCP_STDIO, inventory.mcp_stdio > 0);
        declare_if(&inventory, CAPABILITY_MCP_REMOTE, inventory.mcp_remote > 0);
        declare_if(&inventory, CAPABILITY_FILESYSTEM_ROOTS, manifest->filesystem_roots && manifest->filesystem_roots[0]);
        declare_if(&inventory, CAPABILITY_LIFECYCLE_MUTATION, manifest->lifecycle_mutation);
        *ret = inventory;
}

char **inventory_names(const Inventory *inventory) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

        for (Capability capability = 0; capability < _CAPABILITY_MAX; capability++)
                if (inventory_has(inventory, capability))
                        g_strv_builder_add(builder, capability_to_string(capability));
        return g_strv_builder_end(builder);
}

size_t inventory_count_supported(const Inventory *inventory, bool extension_host, size_t *ret_declared) {
        size_t supported = 0, declared = 0;

        for (Capability capability = 0; capability < _CAPABILITY_MAX; capability++) {
                if (!inventory_has(inventory, capability))
                        continue;
                declared++;
                supported += capability_is_supported(capability, extension_host);
        }
        *ret_declared = declared;
        return supported;
}

static void write_list(JWriter *writer, const char *key, char **items) {
        jwriter_key(writer, key);
        jwriter_begin_array(writer);
        for (size_t i = 0; items && items[i]; i++)
                jwriter_string(writer, items[i]);
        jwriter_end_array(writer);
}

void inventory_write(const Inventory *inventory, JWriter *writer) {
        jwriter_begin_object(writer);
        for (ComponentKind kind = 0; kind < _COMPONENT_KIND_MAX; kind++)
                jwriter_member_uint(writer, component_kind_to_string(kind), inventory->components[kind]);
        jwriter_member_uint(writer, "mcp_stdio", inventory->mcp_stdio);
        jwriter_member_uint(writer, "mcp_remote", inventory->mcp_remote);
        write_list(writer, "filesystem_roots", inventory->filesystem_roots);
        write_list(writer, "network_hosts", inventory->network_hosts);
        jwriter_member_boolean(writer, "lifecycle_mutation", inventory->lifecycle_mutation);
        jwriter_end_object(writer);
}

char *inventory_hash(const Inventory *inventory, bool extension_host) {
        g_autoptr(Sha256) hash = sha256_new();
        g_autofree char *text = NULL;
        g_auto(JWriter) writer = {};
        size_t size;

        sha256_update_text(hash, CAPABILITY_DOMAIN);
        sha256_update_u64(hash, capability_policy_version(extension_host));
        for (Capability capability = 0; capability < _CAPABILITY_MAX; capability++) {
                sha256_update_text(hash, capability_is_supported(capability, extension_host) ? "supported" : "inactive");
                sha256_update_text(hash, capability_to_string(capability));
        }
        for (Capability capability = 0; capability < _CAPABILITY_MAX; capability++)
                sha256_update_text(hash, inventory_has(inventory, capability) ? "declared" : "-");

        jwriter_init(&writer);
        inventory_write(inventory, &writer);
        text = jwriter_steal(&writer, &size);
        sha256_update_framed(hash, text, size);
        return sha256_finish_hex(hash);
}
