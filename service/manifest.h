/* SPDX-License-Identifier: MIT */
#pragma once

/* What a bundle says about itself: one manifest in one of four formats (contract 1.2), read into one shape. Reading looks at
 * the text alone; whether declared paths exist is for bundle.h. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "service/diagnostic.h"
#include "service/mcp-manifest.h"

#define MANIFEST_SCHEMA_URL "https://agent-plugins.org/schemas/plugin.json"
#define MANIFEST_NAMESPACE  "net.codewhale"

typedef enum ManifestFormat {
        MANIFEST_PLUGIN_JSON, /* in order of preference */
        MANIFEST_KIMI,
        MANIFEST_TOML,
        MANIFEST_CLAUDE,
        _MANIFEST_FORMAT_MAX,
        _MANIFEST_FORMAT_INVALID = -EINVAL,
} ManifestFormat;

/** manifest_format_file() - the manifest's path in the bundle */
const char *manifest_format_file(ManifestFormat format);

typedef enum ComponentKind {
        COMPONENT_SKILLS,
        COMPONENT_COMMANDS,
        COMPONENT_AGENTS,
        COMPONENT_HOOKS,
        COMPONENT_LSP,
        COMPONENT_NATIVE,
        _COMPONENT_KIND_MAX,
        _COMPONENT_KIND_INVALID = -EINVAL,
} ComponentKind;
const char *component_kind_to_string(ComponentKind kind);

typedef struct Manifest {
        ManifestFormat format;
        char *name;
        char *version, *description, *homepage, *repository, *license, *display_name; /* NULL: not said */
        char *author_name, *author_email, *author_url;
        char **keywords;
        char **components[_COMPONENT_KIND_MAX]; /* paths in declaration order, each once; NULL: not declared */
        char **when_os, **when_binaries;
        char **filesystem_roots, **network_hosts; /* hosts in lower case; NULL: not declared */
        bool lifecycle_mutation;
        McpManifest *mcp; /* from the manifest itself or, put there by bundle.h, from mcp.json */
} Manifest;

/**
 * manifest_parse() - read a manifest
 * @text:        at most MANIFEST_BYTES_MAX bytes
 * @diagnostics: gets every problem: code, place and rule, never a value; warnings too
 *
 * Return: 0; -EBADMSG when there was a problem.
 */
int manifest_parse(ManifestFormat format, const char *text, size_t size, Diagnostics *diagnostics, Manifest **ret);

Manifest *manifest_free(Manifest *manifest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Manifest, manifest_free)

/**
 * manifest_applies() - whether its `when` holds on this machine (1.5.2)
 * @search_path: directories, ':' separated, for when.binaries
 * @ret_reason:  NULL, or gets what does not hold, a new string; untouched when all holds
 */
bool manifest_applies(const Manifest *manifest, const char *search_path, char **ret_reason);
