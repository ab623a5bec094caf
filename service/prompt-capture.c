/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/jwriter.h"
#include "service/selection-view.h"
#include "service/service.h"

/* The prompt block for a session's next turn (contract 4.3): sections of the plugins that it chose and that still are what a
 * person reviewed. */

static void release_plugin(void *plugin) {
        plugin_unref(plugin);
}

typedef struct Capture {
        const Selection *selection;
        GHashTable *plugins; /* id -> Plugin that the session sees and whose bytes were looked at just now */
} Capture;

/* Looking at the bytes may end a plugin, which takes its sections away: so it comes before the snapshot is taken. */
static void capture_verify(Service *service, const Selection *selection, Capture *ret) {
        const SectionRegistry *sections = registry_get_sections(service->registry);
        g_autoptr(GPtrArray) plugins = g_ptr_array_new_with_free_func(release_plugin);

        for (size_t i = 0; i < plugin_set_count(service->plugins); i++) {
                Plugin *plugin = plugin_set_get(service->plugins, i);

                if (selection_has(selection, plugin, NULL) && section_registry_has_owner(sections, plugin_get_id(plugin)))
                        g_ptr_array_add(plugins, plugin_ref(plugin));
        }

        *ret = (Capture) { .selection = selection,
                           .plugins = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, release_plugin) };
        for (size_t i = 0; i < plugins->len; i++) {
                Plugin *plugin = g_ptr_array_index(plugins, i);

                if (plugin_set_verify(service->plugins, plugin, plugin_get_generation(plugin), NULL) >= 0)
                        g_hash_table_insert(ret->plugins, (char *) plugin_get_id(plugin), plugin_ref(plugin));
        }
}

static bool capture_selects(const Section *section, void *userdata) {
        const Capture *capture = userdata;
        const Plugin *plugin = g_hash_table_lookup(capture->plugins, section->owner);

        return plugin && selection_has(capture->selection, plugin, section->entry);
}

static char *snapshot_to_json(const PromptSnapshot *snapshot) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "revision", snapshot->revision);
        jwriter_member_boolean(&writer, "withdrawn", snapshot->withdrawn > 0 && snapshot->sections == 0);
        jwriter_member_uint(&writer, "omitted", snapshot->omitted);
        jwriter_key(&writer, "sections");
        jwriter_begin_array(&writer);
        for (size_t i = 0; i < snapshot->names->len; i++)
                jwriter_string(&writer, g_ptr_array_index(snapshot->names, i));
        jwriter_end_array(&writer);
        jwriter_key(&writer, "text");
        jwriter_string_n(&writer, snapshot->text, snapshot->text_size);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

char *service_snapshot_prompt(Service *service, Session *session, const char *model, const char *cwd) {
        PromptSnapshot *snapshot;
        Capture capture;

        capture_verify(service, session->selection, &capture);
        const SnapshotRequest request = {
                .select = capture_selects,
                .userdata = &capture,
                .model = model ?: session->model,
                .cwd = cwd ?: session->workspace,
                .previous = session->snapshot,
        };

        snapshot = prompt_snapshot_take(registry_get_sections(service->registry), &request);
        g_hash_table_unref(capture.plugins);
        prompt_snapshot_free(session->snapshot);
        session->snapshot = snapshot;
        return snapshot_to_json(snapshot);
}
