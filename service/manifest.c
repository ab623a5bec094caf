/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/limits.h"
#include "common/toml.h"
#include "service/manifest-format.h"
#include "service/manifest.h"

static const char *const format_table[_MANIFEST_FORMAT_MAX] = {
        [MANIFEST_PLUGIN_JSON] = "plugin.json",
        [MANIFEST_KIMI]        = "kimi.plugin.json",
        [MANIFEST_TOML]        = "plugin.toml",
        [MANIFEST_CLAUDE]      = ".claude-plugin/plugin.json",
};

static const char *const kind_table[_COMPONENT_KIND_MAX] = {
        [COMPONENT_SKILLS] = "skills", [COMPONENT_COMMANDS] = "commands", [COMPONENT_AGENTS] = "agents",
        [COMPONENT_HOOKS] = "hooks",   [COMPONENT_LSP] = "lsp",           [COMPONENT_NATIVE] = "native",
};

const char *manifest_format_file(ManifestFormat format) {
        assert(format >= 0 && format < _MANIFEST_FORMAT_MAX);

        return format_table[format];
}

const char *component_kind_to_string(ComponentKind kind) {
        assert(kind >= 0 && kind < _COMPONENT_KIND_MAX);

        return kind_table[kind];
}

Manifest *manifest_free(Manifest *manifest) {
        if (!manifest)
                return NULL;

        g_free(manifest->name);
        g_free(manifest->version);
        g_free(manifest->description);
        g_free(manifest->homepage);
        g_free(manifest->repository);
        g_free(manifest->license);
        g_free(manifest->display_name);
        g_free(manifest->author_name);
        g_free(manifest->author_email);
        g_free(manifest->author_url);
        g_strfreev(manifest->keywords);
        for (ComponentKind kind = 0; kind < _COMPONENT_KIND_MAX; kind++)
                g_strfreev(manifest->components[kind]);
        g_strfreev(manifest->when_os);
        g_strfreev(manifest->when_binaries);
        g_strfreev(manifest->filesystem_roots);
        g_strfreev(manifest->network_hosts);
        mcp_manifest_free(manifest->mcp);
        g_free(manifest);
        return NULL;
}

static void (*const readers[_MANIFEST_FORMAT_MAX])(ManifestReader *reader, Jval root, Manifest *manifest) = {
        [MANIFEST_PLUGIN_JSON] = manifest_read_plugin_json,
        [MANIFEST_KIMI]        = manifest_read_kimi,
        [MANIFEST_TOML]        = manifest_read_toml,
        [MANIFEST_CLAUDE]      = manifest_read_claude,
};

/* The document, from JSON or by way of it. @ret_json keeps the text that the document borrows. */
static bool parse_document(
                ManifestReader *reader, ManifestFormat format, const char *text, size_t size, char **ret_json,
                Jdoc **ret_doc) {
        TomlError error = {};

        if (format != MANIFEST_TOML)
                return manifest_reader_parse(reader, text, size, ret_doc);
        if (toml_to_json(text, size, ret_json, &error) >= 0)
                return manifest_reader_parse(reader, *ret_json, strlen(*ret_json), ret_doc);

        manifest_reader_problem(reader, NULL, "line %zu, column %zu: %s", error.line, error.column, error.description);
        return false;
}

int manifest_parse(ManifestFormat format, const char *text, size_t size, Diagnostics *diagnostics, Manifest **ret) {
        g_autoptr(Manifest) manifest = g_new0(Manifest, 1);
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        ManifestReader reader = {
                .diagnostics = diagnostics,
                .code = DIAGNOSTIC_MANIFEST_INVALID,
                .file = manifest_format_file(format),
        };

        if (size > MANIFEST_BYTES_MAX) {
                manifest_reader_problem(&reader, NULL, "is larger than %zu bytes", MANIFEST_BYTES_MAX);
                return -EBADMSG;
        }
        if (!parse_document(&reader, format, text, size, &json, &doc))
                return -EBADMSG;

        manifest->format = format;
        readers[format](&reader, jdoc_root(doc), manifest);
        if (reader.failed)
                return -EBADMSG;

        assert(manifest->name);
        *ret = g_steal_pointer(&manifest);
        return 0;
}

static bool is_on_path(const char *name, const char *search_path) {
        g_auto(GStrv) directories = g_strsplit(search_path ? search_path : "", ":", 256);

        for (size_t i = 0; directories[i]; i++) {
                g_autofree char *path = NULL;
                struct stat status;

                /* An empty or relative entry means the current directory, which says nothing about this machine. */
                if (!g_path_is_absolute(directories[i]))
                        continue;
                path = g_build_filename(directories[i], name, NULL);
                if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0)
                        return true;
        }
        return false;
}

bool manifest_applies(const Manifest *manifest, const char *search_path, char **ret_reason) {
        if (manifest->when_os && *manifest->when_os &&
                        !g_strv_contains((const char *const *) manifest->when_os, "linux")) {
                if (ret_reason)
                        *ret_reason = g_strdup("It is not for linux.");
                return false;
        }
        for (size_t i = 0; manifest->when_binaries && manifest->when_binaries[i]; i++)
                if (!is_on_path(manifest->when_binaries[i], search_path)) {
                        if (ret_reason)
                                *ret_reason = g_strdup_printf(
                                                "It needs the program '%s', which is not installed.",
                                                manifest->when_binaries[i]);
                        return false;
                }
        return true;
}
