/* SPDX-License-Identifier: MIT */
#include "common/limits.h"
#include "common/sanitize.h"
#include "service/plugin-private.h"
#include "service/plugin.h"

static void write_optional(JWriter *writer, const char *key, const char *text) {
        if (text)
                jwriter_member_string(writer, key, text);
}

static void write_facts(const Plugin *plugin, JWriter *writer) {
        jwriter_member_string(writer, "state", plugin_label_to_string(plugin_get_label(plugin)));
        write_optional(writer, "reason", plugin_get_inactive_reason(plugin));
        jwriter_member_string(writer, "trust", trust_status_to_string(plugin_get_trust(plugin)));
        jwriter_member_boolean(writer, "enabled", plugin_is_enabled(plugin));
        jwriter_member_boolean(writer, "staged", plugin_is_staged(plugin));
        jwriter_member_boolean(writer, "applicable", plugin_is_applicable(plugin));
        jwriter_member_boolean(writer, "shadowed", plugin_is_shadowed(plugin));
        jwriter_member_boolean(writer, "installed", plugin_is_installed(plugin));
        jwriter_member_string(writer, "compatibility", compatibility_to_string(plugin_get_compatibility(plugin)));
        jwriter_member_uint(writer, "generation", plugin_get_generation(plugin));
        write_optional(writer, "content_hash", plugin_get_content_hash(plugin));
        write_optional(writer, "capability_hash", plugin_get_capability_hash(plugin));
}

void plugin_describe(const Plugin *plugin, JWriter *writer) {
        const Bundle *bundle = plugin->bundle;

        jwriter_begin_object(writer);
        jwriter_member_string(writer, "id", plugin_get_id(plugin));
        jwriter_member_string(writer, "name", plugin_get_name(plugin));
        jwriter_member_string(writer, "display_name", plugin_get_display_name(plugin));
        write_optional(writer, "version", plugin_get_version(plugin));
        write_optional(writer, "description", plugin_get_description(plugin));
        jwriter_member_string(writer, "scope", plugin_scope_to_string(plugin_get_scope(plugin)));
        if (plugin_get_workspace(plugin)) {
                g_autofree char *workspace = sanitize_line(plugin_get_workspace(plugin), DIAGNOSTIC_BYTES_MAX, NULL);

                jwriter_member_string(writer, "workspace", workspace);
        }
        jwriter_member_string(writer, "root", plugin_get_root_display(plugin));
        jwriter_member_string(writer, "manifest", manifest_format_file(bundle->manifest->format));
        write_facts(plugin, writer);
        jwriter_key(writer, "inventory");
        inventory_write(&bundle->inventory, writer);
        jwriter_key(writer, "diagnostics");
        diagnostics_write(plugin_get_diagnostics(plugin), writer);
        jwriter_end_object(writer);
}
