/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "service/registry-state.h"

/* What is known of a plugin before it runs (design 5.3): listed from a record, and compared with what its next activation
 * registers. What is the same keeps its handle, so that a call which waits for the host is still meant for it. */

static bool is_skill_root(Jval item) {
        return jval_equals_text(jval_member(item, "kind"), "skill_root");
}

static int list_skills(Registry *registry, Owner *owner, Jval item, char **ret_refusal) {
        OwnerEntry *entry;
        const char *path;
        size_t size;
        int r;

        r = registry_find_proposer(owner, item, &entry, ret_refusal);
        if (r < 0)
                return r;
        path = jval_string(jval_member(jval_member(item, "spec"), "name"), &size);
        return skill_registry_list(registry->skills, owner, entry, path, size, ret_refusal);
}

int registry_list(Registry *registry, Owner *owner, Jval item, char **ret_refusal) {
        uint64_t handle;
        int r;

        if (is_skill_root(item))
                return list_skills(registry, owner, item, ret_refusal);
        registry->listing = true;
        r = registry_register(registry, owner, item, &handle, ret_refusal);
        registry->listing = false;
        return r;
}

uint64_t registry_confirm(Registry *registry, const Registration *fresh) {
        if (owner_get_state(fresh->owner) != OWNER_LISTED)
                return 0;

        for (size_t i = 0; i < registry->live->len; i++) {
                Registration *listed = g_ptr_array_index(registry->live, i);

                if (listed->owner != fresh->owner || !listed->listed || listed->confirmed || !registration_is_same(listed, fresh))
                        continue;
                listed->confirmed = true;
                return listed->handle;
        }
        return 0;
}

/* ---- prompt sections ---- */

static const Section *find_section(const Registry *registry, const uint64_t *handle) {
        const uint64_t *section = g_hash_table_lookup(registry->section_handles, handle);

        return section ? section_registry_find(registry->sections, *section) : NULL;
}

static bool section_is_of(const Section *section, const Owner *owner) {
        return section && section->generation == owner_get_generation(owner) && strcmp(section->owner, owner_get_plugin_id(owner)) == 0;
}

static void remove_section(Registry *registry, uint64_t handle) {
        const Section *section = find_section(registry, &handle);

        if (section)
                (void) section_registry_remove(registry->sections, section->handle);
        g_hash_table_remove(registry->section_handles, &handle);
        g_hash_table_remove(registry->listed_sections, &handle);
        registry_prompt_changed(registry);
}

uint64_t registry_confirm_section(
                Registry *registry, const Owner *owner, const OwnerEntry *entry, const char *id, const char *text, size_t size,
                bool interpolate) {
        GHashTableIter iter;
        void *key;

        g_hash_table_iter_init(&iter, registry->listed_sections);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
                uint64_t handle = *(uint64_t *) key;
                const Section *section = find_section(registry, &handle);

                if (!section_is_of(section, owner) || strcmp(section->entry, entry->path) != 0 || strcmp(section->id, id) != 0)
                        continue;
                if (section->interpolate == interpolate && section->text_size == size && memcmp(section->text, text, size) == 0) {
                        g_hash_table_iter_remove(&iter);
                        g_hash_table_add(registry->confirmed_sections, g_memdup2(&handle, sizeof handle));
                        return handle;
                }
                remove_section(registry, handle);
                return 0;
        }
        return 0;
}

/* The handles of an owner's sections, in their order. */
static GArray *section_handles(const Registry *registry, const Owner *owner) {
        GArray *handles = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        GHashTableIter iter;
        void *key;

        g_hash_table_iter_init(&iter, registry->section_handles);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                if (section_is_of(find_section(registry, key), owner)) {
                        size_t at = 0;

                        while (at < handles->len && g_array_index(handles, uint64_t, at) < *(uint64_t *) key)
                                at++;
                        g_array_insert_vals(handles, (unsigned) at, key, 1);
                }
        return handles;
}

static unsigned settle_sections(Registry *registry, const Owner *owner, unsigned *ret_added) {
        g_autoptr(GArray) handles = section_handles(registry, owner);
        unsigned confirmed = 0, added = 0;

        for (size_t i = 0; i < handles->len; i++) {
                uint64_t handle = g_array_index(handles, uint64_t, i);

                if (g_hash_table_contains(registry->listed_sections, &handle))
                        remove_section(registry, handle);
                else if (g_hash_table_remove(registry->confirmed_sections, &handle))
                        confirmed++;
                else
                        added++;
        }
        *ret_added = added;
        return confirmed;
}

/* ---- the whole of an owner ---- */

bool registry_can_list(Jval params) {
        Jval kind = jval_member(params, "kind");

        for (int known = 0; known < _REGISTRATION_KIND_MAX; known++)
                if (jval_equals_text(kind, registry_word(known)))
                        return true;
        return jval_equals_text(kind, "prompt_section") || jval_equals_text(kind, "prompt_template") || is_skill_root(params);
}

unsigned registry_settle(Registry *registry, Owner *owner, unsigned *ret_added) {
        unsigned confirmed = 0, added = 0, added_sections, added_skills;

        for (size_t i = registry->live->len; i > 0; i--) {
                Registration *registration = g_ptr_array_index(registry->live, i - 1);

                if (registration->owner != owner)
                        continue;
                confirmed += registration->confirmed;
                added += !registration->listed;
                if (registration->listed && !registration->confirmed) {
                        RegistrationKind kind = registration->kind;

                        registration->gone = "its plugin does not register it any more";
                        registry_remove(registry, registration);
                        registry_changed(registry, kind);
                }
        }
        confirmed += settle_sections(registry, owner, &added_sections);
        confirmed += skill_registry_settle(registry->skills, owner, &added_skills);
        if (ret_added)
                *ret_added = added + added_sections + added_skills;
        return confirmed;
}

static void write_scope(const char *path, const char *sha256, JWriter *writer) {
        jwriter_key(writer, "scope");
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "path", path);
        jwriter_member_string(writer, "sha256", sha256);
        jwriter_end_object(writer);
}

static void write_registration(const Registration *registration, const OwnerEntry *entry, JWriter *writer) {
        jwriter_begin_object(writer);
        write_scope(entry->path, entry->sha256, writer);
        jwriter_member_string(writer, "kind", registry_word(registration->kind));
        jwriter_key(writer, "spec");
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "name", registration->name);
        jwriter_member_string(writer, "description", registration->description);
        if (registration->schema_text)
                jwriter_member_raw(writer, "input_schema", registration->schema_text);
        if (registration->hint)
                jwriter_member_string(writer, "argument_hint", registration->hint);
        jwriter_end_object(writer);
        jwriter_end_object(writer);
}

static void write_section(const Section *section, const Owner *owner, JWriter *writer) {
        const OwnerEntry *entry;

        for (size_t i = 0; (entry = owner_get_entry(owner, i)); i++)
                if (strcmp(entry->path, section->entry) == 0)
                        break;
        if (!entry)
                return;

        jwriter_begin_object(writer);
        write_scope(entry->path, entry->sha256, writer);
        jwriter_member_string(writer, "kind", section->interpolate ? "prompt_template" : "prompt_section");
        jwriter_key(writer, "spec");
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "name", section->id);
        jwriter_key(writer, "description");
        jwriter_string_n(writer, section->text, section->text_size);
        jwriter_end_object(writer);
        jwriter_end_object(writer);
}

static void write_root(const SkillRoot *root, void *userdata) {
        JWriter *writer = userdata;

        jwriter_begin_object(writer);
        write_scope(root->entry->path, root->entry->sha256, writer);
        jwriter_member_string(writer, "kind", "skill_root");
        jwriter_key(writer, "spec");
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "name", root->path);
        jwriter_member_string(writer, "description", "");
        jwriter_end_object(writer);
        jwriter_end_object(writer);
}

void registry_write_owner(const Registry *registry, const Owner *owner, JWriter *writer) {
        g_autoptr(GArray) handles = section_handles(registry, owner);

        jwriter_begin_array(writer);
        for (size_t i = 0; i < registry->live->len; i++) {
                const Registration *registration = g_ptr_array_index(registry->live, i);

                if (registration->owner == owner)
                        write_registration(registration, registration->entry ?: owner_get_entry(owner, 0), writer);
        }
        for (size_t i = 0; i < handles->len; i++)
                write_section(find_section(registry, &g_array_index(handles, uint64_t, i)), owner, writer);
        skill_registry_foreach_root(registry->skills, owner, write_root, writer);
        jwriter_end_array(writer);
}
