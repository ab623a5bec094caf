/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "service/marker.h"
#include "service/remote-source.h"
#include "service/plugin-private.h"
#include "service/review-changes.h"
#include "service/review.h"

static void write_optional(JWriter *writer, const char *key, const char *text) {
        g_autofree char *safe = text ? sanitize_line(text, DIAGNOSTIC_BYTES_MAX * 2, NULL) : NULL;

        if (safe)
                jwriter_member_string(writer, key, safe);
}

static void write_list(JWriter *writer, const char *key, char **items) {
        jwriter_key(writer, key);
        jwriter_begin_array(writer);
        for (size_t i = 0; items && items[i]; i++) {
                g_autofree char *safe = sanitize_line(items[i], DIAGNOSTIC_BYTES_MAX, NULL);

                jwriter_string(writer, safe);
        }
        jwriter_end_array(writer);
}

static void write_identity(JWriter *writer, const Manifest *manifest) {
        jwriter_key(writer, "identity");
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "name", manifest->name);
        write_optional(writer, "display_name", manifest->display_name);
        write_optional(writer, "version", manifest->version);
        write_optional(writer, "description", manifest->description);
        if (manifest->author_name) {
                jwriter_key(writer, "author");
                jwriter_begin_object(writer);
                write_optional(writer, "name", manifest->author_name);
                write_optional(writer, "email", manifest->author_email);
                write_optional(writer, "url", manifest->author_url);
                jwriter_end_object(writer);
        }
        write_optional(writer, "homepage", manifest->homepage);
        write_optional(writer, "repository", manifest->repository);
        write_optional(writer, "license", manifest->license);
        write_list(writer, "keywords", manifest->keywords);
        jwriter_end_object(writer);
}

static void write_source(JWriter *writer, const ReviewSubject *subject) {
        g_autofree char *installed_from = subject->root_fd >= 0 ? marker_read_source(subject->root_fd) : NULL;
        g_autofree char *shown = installed_from ? remote_source_show(installed_from) : NULL;

        jwriter_key(writer, "source");
        jwriter_begin_object(writer);
        write_optional(writer, "root", subject->root);
        jwriter_member_string(writer, "manifest", manifest_format_file(subject->bundle->manifest->format));
        write_optional(writer, "installed_from", shown);
        jwriter_end_object(writer);
}

static void write_node(JWriter *writer, const BundleNode *node) {
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "path", node->path);
        jwriter_member_uint(writer, "size", node->size);
        jwriter_member_string(writer, "sha256", node->sha256);
        jwriter_member_boolean(writer, "executable", node->executable);
        jwriter_end_object(writer);
}

static void write_files(JWriter *writer, const Bundle *bundle, ReviewFlags flags) {
        if (!bundle->tree)
                return;

        jwriter_key(writer, "files");
        jwriter_begin_object(writer);
        jwriter_member_uint(writer, "count", bundle->tree->n_files);
        jwriter_member_uint(writer, "bytes", bundle->tree->n_bytes);
        if (flags & REVIEW_FILES) {
                jwriter_key(writer, "list");
                jwriter_begin_array(writer);
                for (size_t i = 0; i < bundle->tree->nodes->len; i++) {
                        const BundleNode *node = g_ptr_array_index(bundle->tree->nodes, i);

                        if (!node->directory)
                                write_node(writer, node);
                }
                jwriter_end_array(writer);
        }
        jwriter_end_object(writer);
}

static void write_capabilities(JWriter *writer, const Inventory *inventory, bool extension_host) {
        jwriter_key(writer, "capabilities");
        jwriter_begin_array(writer);
        for (Capability capability = 0; capability < _CAPABILITY_MAX; capability++) {
                if (!inventory_has(inventory, capability))
                        continue;
                jwriter_begin_object(writer);
                jwriter_member_string(writer, "name", capability_to_string(capability));
                jwriter_member_string(writer, "words", capability_in_words(capability));
                jwriter_member_boolean(writer, "active", capability_is_supported(capability, extension_host));
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

static void write_entries(JWriter *writer, const Bundle *bundle) {
        jwriter_key(writer, "entries");
        jwriter_begin_array(writer);
        for (size_t i = 0; i < bundle_count_native(bundle); i++) {
                const BundleNode *node = bundle_get_native(bundle, i);

                if (node && !node->directory)
                        write_node(writer, node);
        }
        jwriter_end_array(writer);
}

static void write_variables(JWriter *writer, const McpServer *server) {
        jwriter_key(writer, "variables");
        jwriter_begin_array(writer);
        for (size_t i = 0; i < server->env->len; i++)
                jwriter_string(writer, ((const McpBinding *) g_ptr_array_index(server->env, i))->variable);
        for (size_t i = 0; i < server->env_headers->len; i++)
                jwriter_string(writer, ((const McpBinding *) g_ptr_array_index(server->env_headers, i))->variable);
        if (server->bearer_token_env_var)
                jwriter_string(writer, server->bearer_token_env_var);
        jwriter_end_array(writer);
}

static void write_mcp(JWriter *writer, const Manifest *manifest) {
        jwriter_key(writer, "mcp_servers");
        jwriter_begin_array(writer);
        for (size_t i = 0; manifest->mcp && i < manifest->mcp->servers->len; i++) {
                const McpServer *server = g_ptr_array_index(manifest->mcp->servers, i);
                g_autofree char *name = mcp_server_public_name(server, manifest->name);
                g_autofree char *endpoint = mcp_server_display(server);

                jwriter_begin_object(writer);
                jwriter_member_string(writer, "id", server->id);
                jwriter_member_string(writer, "public_name", name);
                jwriter_member_string(writer, "transport", mcp_transport_to_string(server->transport));
                jwriter_member_string(writer, "endpoint", endpoint);
                write_variables(writer, server);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

static void write_when(JWriter *writer, const ReviewSubject *subject) {
        const Manifest *manifest = subject->bundle->manifest;

        jwriter_key(writer, "when");
        jwriter_begin_object(writer);
        write_list(writer, "os", manifest->when_os);
        write_list(writer, "binaries", manifest->when_binaries);
        if (subject->plugin) {
                jwriter_member_boolean(writer, "applies", subject->plugin->applicable);
                write_optional(writer, "reason", subject->plugin->inapplicable);
        }
        jwriter_end_object(writer);
}

static void write_inactive(JWriter *writer, const ReviewSubject *subject) {
        jwriter_key(writer, "inactive");
        jwriter_begin_array(writer);
        for (Capability capability = 0; capability < _CAPABILITY_MAX; capability++) {
                if (!inventory_has(&subject->bundle->inventory, capability) ||
                                capability_is_supported(capability, subject->extension_host))
                        continue;
                jwriter_begin_object(writer);
                jwriter_member_string(writer, "what", capability_to_string(capability));
                jwriter_member_string(writer, "why",
                                capability == CAPABILITY_NATIVE
                                                ? "The extension host is switched off ([features] extension_host)."
                                                : "This service lists it and does nothing with it.");
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

static void write_token(JWriter *writer, const ReviewSubject *subject, const Diagnostics *diagnostics) {
        const Diagnostic *error = diagnostics_first_error(diagnostics);
        const Bundle *bundle = subject->bundle;

        if (bundle->content_hash) {
                jwriter_member_string(writer, "content_hash", bundle->content_hash);
                jwriter_member_string(writer, "capability_hash", bundle->capability_hash);
        }
        if (error) {
                g_autofree char *text = g_strdup_printf("%s: %s", diagnostic_code_to_string(error->code), error->message);

                jwriter_member_string(writer, "refused", text);
        } else if (bundle->content_hash) {
                g_autofree char *token = g_strdup_printf("%s.%s", bundle->content_hash, bundle->capability_hash);

                jwriter_member_string(writer, "token", token);
        }
}

char *review_write(const ReviewSubject *subject, ReviewFlags flags) {
        const Diagnostics *diagnostics =
                        subject->plugin ? plugin_get_diagnostics(subject->plugin) : subject->bundle->diagnostics;
        const Bundle *bundle = subject->bundle;
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        if (subject->plugin) {
                jwriter_key(&writer, "plugin");
                plugin_describe(subject->plugin, &writer);
        }
        write_identity(&writer, bundle->manifest);
        write_source(&writer, subject);
        write_files(&writer, bundle, flags);
        jwriter_key(&writer, "inventory");
        inventory_write(&bundle->inventory, &writer);
        write_capabilities(&writer, &bundle->inventory, subject->extension_host);
        write_entries(&writer, bundle);
        write_mcp(&writer, bundle->manifest);
        write_when(&writer, subject);
        write_inactive(&writer, subject);
        jwriter_key(&writer, "diagnostics");
        diagnostics_write(diagnostics, &writer);
        jwriter_key(&writer, "changes");
        review_changes_write(&writer, subject, flags);
        write_token(&writer, subject, diagnostics);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}
