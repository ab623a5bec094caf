/* SPDX-License-Identifier: MIT */
/* plugin.json, Agent Plugins v1.0.0 (contract 1.5). */
#include <string.h>

#include "service/manifest-format.h"

static void read_schema(ManifestReader *reader, Jval root) {
        Jval schema = jval_member(root, "$schema");
        size_t size = 0;

        if (!jval_string(schema, &size) || size == 0)
                manifest_reader_problem(reader, "$schema", "must be a string that is not empty");
        else if (!jval_equals_text(schema, MANIFEST_SCHEMA_URL))
                diagnostics_add(reader->diagnostics, DIAGNOSTIC_MANIFEST_SCHEMA, reader->file,
                                "$schema is not %s; it is read as if it were", MANIFEST_SCHEMA_URL);
}

static void read_own(ManifestReader *reader, const char *where, Jval own, Manifest *manifest) {
        static const char *const keys[] = { "display_name", "skills", "commands", "agents", "hooks", "lsp", "native",
                "capabilities", "when", NULL };
        g_autofree char *capabilities_place = manifest_reader_where(where, "capabilities");
        g_autofree char *when_place = manifest_reader_where(where, "when");

        if (!manifest_reader_object(reader, where, own, keys))
                return;

        manifest->display_name = manifest_reader_optional_text(reader, where, own, "display_name", 128);
        for (ComponentKind kind = 0; kind < _COMPONENT_KIND_MAX; kind++) {
                const char *key = component_kind_to_string(kind);
                g_autofree char *place = manifest_reader_where(where, key);

                manifest_read_component(reader, place, jval_member(own, key), kind, manifest);
        }
        manifest_read_capabilities(reader, capabilities_place, jval_member(own, "capabilities"), manifest);
        manifest_read_when(reader, when_place, jval_member(own, "when"), manifest);
}

void manifest_read_plugin_json(ManifestReader *reader, Jval root, Manifest *manifest) {
        static const char *const keys[] = { "$schema", "name", "version", "description", "author", "homepage",
                "repository", "license", "keywords", "extensions", NULL };
        Jval extensions = jval_member(root, "extensions");

        if (!manifest_reader_object(reader, "the manifest", root, keys))
                return;

        read_schema(reader, root);
        manifest_read_name(reader, NULL, root, false, manifest);
        manifest_read_identity(reader, NULL, root, manifest);
        manifest_read_author(reader, "author", jval_member(root, "author"), manifest);

        if (jval_is(extensions, J_ABSENT))
                return;
        if (!jval_is(extensions, J_OBJECT))
                manifest_reader_problem(reader, "extensions", "must be an object");
        else if (!jval_is(jval_member(extensions, MANIFEST_NAMESPACE), J_ABSENT))
                read_own(reader, "extensions." MANIFEST_NAMESPACE, jval_member(extensions, MANIFEST_NAMESPACE), manifest);
}
