/* SPDX-License-Identifier: MIT */
#pragma once

/* What the readers of the manifest formats share. For manifest*.c only. */

#include "service/manifest-reader.h"
#include "service/manifest.h"

/* Each reads the whole document into @manifest; problems go to the reader. */
void manifest_read_plugin_json(ManifestReader *reader, Jval root, Manifest *manifest);
void manifest_read_kimi(ManifestReader *reader, Jval root, Manifest *manifest);
void manifest_read_toml(ManifestReader *reader, Jval root, Manifest *manifest);
void manifest_read_claude(ManifestReader *reader, Jval root, Manifest *manifest);

/** manifest_read_name() - the member "name" of @object under the grammar of 1.3 */
void manifest_read_name(ManifestReader *reader, const char *where, Jval object, bool legacy, Manifest *manifest);

/** manifest_read_identity() - the members version, description, homepage, repository, license, keywords of @object */
void manifest_read_identity(ManifestReader *reader, const char *where, Jval object, Manifest *manifest);

/** manifest_read_author() - an object {name, email, url} */
void manifest_read_author(ManifestReader *reader, const char *where, Jval value, Manifest *manifest);

/** manifest_read_component() - {"path", "paths"}; absent is fine */
void manifest_read_component(
                ManifestReader *reader, const char *where, Jval value, ComponentKind kind, Manifest *manifest);

/** manifest_add_paths() - check declared paths and keep each once, in order; takes @paths */
void manifest_add_paths(ManifestReader *reader, const char *where, char **paths, ComponentKind kind, Manifest *manifest);

void manifest_read_capabilities(ManifestReader *reader, const char *where, Jval value, Manifest *manifest);
void manifest_read_when(ManifestReader *reader, const char *where, Jval value, Manifest *manifest);
