/* SPDX-License-Identifier: MIT */
/* plugin.toml, the legacy format (contract 1.9). */
#include <string.h>

#include "service/manifest-format.h"

#define SCHEMA_VERSION_MAX 1

/* A table under its name or the one that it had before; both at once would leave one of them unread. */
static Jval member_or_alias(ManifestReader *reader, Jval root, const char *key, const char *alias) {
        Jval value = jval_member(root, key), other = jval_member(root, alias);

        if (!jval_is(value, J_ABSENT) && !jval_is(other, J_ABSENT))
                manifest_reader_problem(reader, key, "stands there twice, also as \"%s\"", alias);
        return jval_is(value, J_ABSENT) ? other : value;
}

static void read_version(ManifestReader *reader, Jval root, Manifest *manifest) {
        Jval value = jval_member(root, "schema_version");
        int64_t version = 0;

        if (!jval_is(value, J_ABSENT) && (jval_int64(value, &version) < 0 || version < 0 || version > SCHEMA_VERSION_MAX)) {
                manifest_reader_problem(reader, "schema_version", "must be a number up to %d", SCHEMA_VERSION_MAX);
                return;
        }
        if (version == 0) {
                diagnostics_add(reader->diagnostics, DIAGNOSTIC_MANIFEST_LEGACY, reader->file,
                                "There is no schema_version; the manifest is read as version 0.");
                if (!manifest->version)
                        manifest->version = g_strdup("0.0.0");
        }
}

static void read_plugin(ManifestReader *reader, Jval plugin, Manifest *manifest) {
        static const char *const keys[] = { "name", "version", "description", "display_name", "author", "homepage",
                "repository", "license", "keywords", NULL };
        Jval author = jval_member(plugin, "author");

        if (!manifest_reader_object(reader, "plugin", plugin, keys))
                return;

        manifest_read_name(reader, "plugin", plugin, true, manifest);
        manifest_read_identity(reader, "plugin", plugin, manifest);
        manifest->display_name = manifest_reader_optional_text(reader, "plugin", plugin, "display_name", 128);
        if (jval_is(author, J_STRING))
                manifest->author_name = manifest_reader_text(reader, "plugin.author", author, 256);
        else
                manifest_read_author(reader, "plugin.author", author, manifest);
}

void manifest_read_toml(ManifestReader *reader, Jval root, Manifest *manifest) {
        static const char *const keys[] = { "schema_version", "plugin", "skills", "commands", "agents", "profiles", "hooks",
                "lsp", "lsp_servers", "native", "native_extension", "mcp_servers", "capabilities", "when", NULL };
        static const char *const aliases[_COMPONENT_KIND_MAX] = {
                [COMPONENT_AGENTS] = "profiles",
                [COMPONENT_LSP] = "lsp_servers",
                [COMPONENT_NATIVE] = "native_extension",
        };
        Jval servers = jval_member(root, "mcp_servers");

        if (!manifest_reader_object(reader, "the manifest", root, keys))
                return;

        read_plugin(reader, jval_member(root, "plugin"), manifest);
        read_version(reader, root, manifest);
        for (ComponentKind kind = 0; kind < _COMPONENT_KIND_MAX; kind++) {
                const char *key = component_kind_to_string(kind);
                Jval value = aliases[kind] ? member_or_alias(reader, root, key, aliases[kind]) : jval_member(root, key);

                manifest_read_component(reader, key, value, kind, manifest);
        }
        manifest_read_capabilities(reader, "capabilities", jval_member(root, "capabilities"), manifest);
        manifest_read_when(reader, "when", jval_member(root, "when"), manifest);
        if (!jval_is(servers, J_ABSENT))
                manifest->mcp = mcp_manifest_read(reader, "mcp_servers", servers);
}
