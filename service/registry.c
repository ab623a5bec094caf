/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "service/registry-state.h"

static const struct {
        const char *word;   /* kind on the wire */
        const char *plural;
        unsigned owner_max, host_max;
} kinds[_REGISTRATION_KIND_MAX] = {
        [REGISTRATION_TOOL] = { "tool", "tools", TOOLS_PER_OWNER_MAX, TOOLS_MAX },
        [REGISTRATION_COMMAND] = { "command", "commands", COMMANDS_PER_OWNER_MAX, COMMANDS_MAX },
        [REGISTRATION_HOOK] = { "hook", "listeners", HOOKS_PER_OWNER_MAX, HOOKS_MAX },
};

const char *registry_word(RegistrationKind kind) {
        return kinds[kind].word;
}

static void release_plugin(void *plugin) {
        plugin_unref(plugin);
}

static void release_registration(void *registration) {
        registration_unref(registration);
}

static uint64_t next_handle(void *userdata) {
        return ++((Registry *) userdata)->last_handle;
}

static void on_skills_changed(void *userdata) {
        const Registry *registry = userdata;

        if (registry->events)
                registry->events->skills_changed(registry->userdata);
}

Registry *registry_new(sd_event *event) {
        Registry *registry = g_new0(Registry, 1);

        registry->live = g_ptr_array_new_with_free_func(release_registration);
        registry->sections = section_registry_new();
        registry->skills = skill_registry_new(event, next_handle, on_skills_changed, registry);
        registry->taken.tools = native_names_new();
        registry->section_handles = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
        registry->listed_sections = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        registry->confirmed_sections = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        for (int kind = 0; kind < _REGISTRATION_KIND_MAX; kind++) {
                registry->names[kind] = g_hash_table_new_full(
                                g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
                registry->former[kind] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, release_plugin);
        }
        return registry;
}

Registry *registry_free(Registry *registry) {
        if (!registry)
                return NULL;

        for (int kind = 0; kind < _REGISTRATION_KIND_MAX; kind++) {
                g_hash_table_unref(registry->names[kind]);
                g_hash_table_unref(registry->former[kind]);
        }
        g_ptr_array_unref(registry->live);
        g_hash_table_unref(registry->section_handles);
        g_hash_table_unref(registry->listed_sections);
        g_hash_table_unref(registry->confirmed_sections);
        section_registry_free(registry->sections);
        skill_registry_free(registry->skills);
        native_names_free(registry->taken.tools);
        native_names_free(registry->taken.commands);
        g_free(registry);
        return NULL;
}

void registry_set_events(Registry *registry, const RegistryEvents *events, void *userdata) {
        registry->events = events;
        registry->userdata = userdata;
}

static int know_names(NativeNames *known, const char *const *names) {
        int r = 0;

        for (size_t i = 0; names && names[i] && r >= 0; i++)
                r = native_names_add(known, names[i]);
        return r;
}

int registry_know_tools(Registry *registry, const char *const *names) {
        return know_names(registry->taken.tools, names);
}

int registry_know_commands(Registry *registry, const char *const *names) {
        if (!registry->taken.commands)
                registry->taken.commands = native_names_new();
        return know_names(registry->taken.commands, names);
}

SkillRegistry *registry_get_skills(Registry *registry) {
        return registry->skills;
}

SectionRegistry *registry_get_sections(Registry *registry) {
        return registry->sections;
}

void registry_changed(Registry *registry, RegistrationKind kind) {
        if (registry->events)
                registry->events->changed(kind, registry->userdata);
}

void registry_prompt_changed(Registry *registry) {
        if (registry->events)
                registry->events->prompt_changed(registry->userdata);
}

static GPtrArray *registry_name_list(Registry *registry, RegistrationKind kind, const char *folded, bool make) {
        GPtrArray *list = g_hash_table_lookup(registry->names[kind], folded);

        if (!list && make) {
                list = g_ptr_array_new();
                g_hash_table_insert(registry->names[kind], g_strdup(folded), list);
        }
        return list;
}

void registry_remove(Registry *registry, Registration *registration) {
        GPtrArray *list = registry_name_list(registry, registration->kind, registration->folded, false);

        registration->withdrawn = true;
        if (list && g_ptr_array_remove(list, registration) && list->len == 0)
                g_hash_table_remove(registry->names[registration->kind], registration->folded);
        g_ptr_array_remove(registry->live, registration);
}

unsigned registry_count(const Registry *registry, RegistrationKind kind, const Owner *owner) {
        unsigned n = 0;

        for (size_t i = 0; i < registry->live->len; i++) {
                const Registration *registration = g_ptr_array_index(registry->live, i);

                if (registration->kind == kind && (!owner || registration->owner == owner))
                        n++;
        }
        return n;
}

/* Whether @fresh may stand beside what has its name already; retires the older one of the same owner and entry. */
static int registry_admit_name(Registry *registry, Registration *fresh, char **ret_refusal) {
        GPtrArray *list = registry_name_list(registry, fresh->kind, fresh->folded, false);

        if (fresh->kind == REGISTRATION_HOOK)
                return 0;

        for (size_t i = 0; list && i < list->len; i++) {
                Registration *other = g_ptr_array_index(list, i);

                if (other->owner != fresh->owner) {
                        *ret_refusal = g_strdup_printf("%s '%s' is already registered by %s", kinds[fresh->kind].word,
                                                       fresh->name, owner_get_plugin_id(other->owner));
                        return -EPERM;
                }
                if (other->entry == fresh->entry) {
                        if (other->listed && !other->confirmed)
                                other->gone = "its plugin registers it differently now; look at it again before calling it";
                        registry_remove(registry, other);
                        break;
                }
        }
        return 0;
}

static int registry_admit(Registry *registry, Registration *fresh, char **ret_refusal) {
        RegistrationKind kind = fresh->kind;
        int r;

        r = registry_admit_name(registry, fresh, ret_refusal);
        if (r < 0)
                return r;
        if (registry_count(registry, kind, fresh->owner) >= kinds[kind].owner_max) {
                *ret_refusal = g_strdup_printf("a plugin may register at most %u %s", kinds[kind].owner_max, kinds[kind].plural);
                return -EPERM;
        }
        if (registry_count(registry, kind, NULL) >= kinds[kind].host_max) {
                *ret_refusal = g_strdup_printf("there are %u %s already, which is the most for all plugins together",
                                               kinds[kind].host_max, kinds[kind].plural);
                return -EPERM;
        }

        g_hash_table_remove(registry->former[kind], fresh->folded);
        fresh->handle = ++registry->last_handle;
        g_ptr_array_add(registry->live, registration_ref(fresh));
        g_ptr_array_add(registry_name_list(registry, kind, fresh->folded, true), fresh);
        registry_changed(registry, kind);
        return 0;
}

/* Which entry a message speaks for: the one that its scope names; without scope the only one there is (contract 3.8). */
static int registry_find_entry(Owner *owner, Jval params, OwnerEntry **ret, char **ret_refusal) {
        Jval scope = jval_member(params, "scope");
        OwnerEntry *entry;

        if (jval_is(scope, J_ABSENT)) {
                if (owner_count_entries(owner) > 1) {
                        *ret_refusal = g_strdup("a plugin with several entries must name the one that registers");
                        return -EPERM;
                }
                *ret = owner_get_entry(owner, 0);
                return 0;
        }

        entry = owner_find_entry(owner, jval_text(jval_member(scope, "path")), jval_text(jval_member(scope, "sha256")));
        if (!entry || (entry->state != OWNER_ACTIVATING && entry->state != OWNER_LISTED && entry->state != OWNER_ACTIVE)) {
                *ret_refusal = g_strdup("the entry is not live");
                return -EPERM;
        }
        *ret = entry;
        return 0;
}

static int registry_register_section(
                Registry *registry, Owner *owner, OwnerEntry *entry, Jval params, uint64_t *ret_handle, char **ret_refusal) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Jval spec = jval_member(params, "spec");
        const SectionOwner section_owner = {
                .owner = owner_get_plugin_id(owner),
                .plugin = plugin_get_name(owner_get_plugin(owner)),
                .generation = owner_get_generation(owner),
                .content_hash = owner_get_content_hash(owner),
                .entry = entry->path,
        };
        const char *id = jval_text(jval_member(spec, "name")), *text;
        bool interpolate = jval_equals_text(jval_member(params, "kind"), "prompt_template");
        uint64_t section;
        size_t size;
        int r;

        text = jval_string(jval_member(spec, "description"), &size);
        *ret_handle = registry->listing || !id ? 0 : registry_confirm_section(registry, owner, entry, id, text, size, interpolate);
        if (*ret_handle > 0)
                return 0;
        r = section_registry_add(registry->sections, &section_owner, id ?: "", text, size, interpolate, &section, &error);
        if (r < 0) {
                *ret_refusal = g_strdup(error.message ?: g_strerror(-r));
                return -EPERM;
        }

        if (owner_get_state(owner) == OWNER_ACTIVE && section_registry_admit(registry->sections, section) >= 0)
                registry_prompt_changed(registry);
        *ret_handle = ++registry->last_handle;
        g_hash_table_insert(registry->section_handles, g_memdup2(ret_handle, sizeof *ret_handle),
                            g_memdup2(&section, sizeof section));
        if (registry->listing)
                g_hash_table_add(registry->listed_sections, g_memdup2(ret_handle, sizeof *ret_handle));
        return 0;
}

int registry_find_proposer(Owner *owner, Jval params, OwnerEntry **ret, char **ret_refusal) {
        size_t size = 0;

        if (!owner_is_live(owner)) {
                *ret_refusal = g_strdup("the plugin is not live");
                return -EPERM;
        }
        /* No kind takes one as long as that, and what refuses it would repeat it. */
        (void) jval_string(jval_member(jval_member(params, "spec"), "name"), &size);
        if (size > REGISTRATION_NAME_BYTES_MAX) {
                *ret_refusal = g_strdup_printf("a name of %zu bytes is too long for any kind of registration", size);
                return -EPERM;
        }
        return registry_find_entry(owner, params, ret, ret_refusal);
}

void registry_propose_skills(Registry *registry, Owner *owner, Jval params, SkillAnswer answer, void *userdata) {
        g_autofree char *refusal = NULL;
        const char *path;
        OwnerEntry *entry;
        size_t size;

        if (registry_find_proposer(owner, params, &entry, &refusal) < 0) {
                answer(0, refusal, userdata);
                return;
        }
        owner_touch(owner);
        path = jval_string(jval_member(jval_member(params, "spec"), "name"), &size);
        skill_registry_propose(registry->skills, owner, entry, path, size, answer, userdata);
}

static int refuse_kind(const char *word, char **ret_refusal) {
        *ret_refusal = g_strdup(
                        strcmp(word, "mcp_server") == 0
                                        ? "this version takes no MCP servers from extensions; declare them in the bundle's mcp.json"
                        : strcmp(word, "shell_hook") == 0
                                        ? "this version runs no shell hooks of extensions; listen with ctx.on('tools/pre-execute')"
                                        : "this service has no place for registrations of that kind");
        return -EPERM;
}

int registry_register(Registry *registry, Owner *owner, Jval params, uint64_t *ret_handle, char **ret_refusal) {
        const char *word = jval_text(jval_member(params, "kind"));
        g_autoptr(Registration) registration = NULL;
        RegistrationKind kind = 0;
        OwnerEntry *entry;
        int r;

        r = registry_find_proposer(owner, params, &entry, ret_refusal);
        if (r < 0)
                return r;
        owner_touch(owner);
        if (g_str_has_prefix(word, "prompt_"))
                return registry_register_section(registry, owner, entry, params, ret_handle, ret_refusal);

        while (kind < _REGISTRATION_KIND_MAX && strcmp(word, kinds[kind].word) != 0)
                kind++;
        if (kind == _REGISTRATION_KIND_MAX)
                return refuse_kind(word, ret_refusal);

        r = registration_new(kind, owner, entry, jval_member(params, "spec"), &registry->taken, registry->listing, &registration,
                             ret_refusal);
        if (r < 0)
                return r;
        registration->listed = registry->listing;
        *ret_handle = registry->listing ? 0 : registry_confirm(registry, registration);
        if (*ret_handle > 0)
                return 0;
        r = registry_admit(registry, registration, ret_refusal);
        if (r < 0)
                return r;

        *ret_handle = registration->handle;
        return 0;
}

static void registry_unregister_section(Registry *registry, Owner *owner, uint64_t handle) {
        uint64_t *section_handle = g_hash_table_lookup(registry->section_handles, &handle);
        const Section *section = section_handle ? section_registry_find(registry->sections, *section_handle) : NULL;

        if (!section || strcmp(section->owner, owner_get_plugin_id(owner)) != 0 ||
                        section->generation != owner_get_generation(owner))
                return;

        owner_touch(owner);
        (void) section_registry_remove(registry->sections, *section_handle);
        g_hash_table_remove(registry->section_handles, &handle);
        g_hash_table_remove(registry->listed_sections, &handle);
        g_hash_table_remove(registry->confirmed_sections, &handle);
        registry_prompt_changed(registry);
}

void registry_unregister(Registry *registry, Owner *owner, uint64_t handle) {
        for (size_t i = 0; i < registry->live->len; i++) {
                Registration *registration = g_ptr_array_index(registry->live, i);
                RegistrationKind kind = registration->kind;

                if (registration->handle != handle)
                        continue;
                if (registration->owner == owner) {
                        owner_touch(owner);
                        registry_remove(registry, registration);
                        registry_changed(registry, kind);
                }
                return;
        }

        if (!skill_registry_unregister(registry->skills, owner, handle))
                registry_unregister_section(registry, owner, handle);
}

static gboolean is_forgotten(gpointer handle, gpointer section_handle, gpointer userdata) {
        Registry *registry = userdata;

        (void) handle;
        return section_registry_find(registry->sections, *(uint64_t *) section_handle) == NULL;
}

static gboolean is_unknown(gpointer handle, gpointer value, gpointer userdata) {
        (void) value;
        return !g_hash_table_contains(((Registry *) userdata)->section_handles, handle);
}

static void registry_forget_sections(Registry *registry) {
        g_hash_table_foreach_remove(registry->section_handles, is_forgotten, registry);
        g_hash_table_foreach_remove(registry->listed_sections, is_unknown, registry);
        g_hash_table_foreach_remove(registry->confirmed_sections, is_unknown, registry);
}

static gboolean is_former_of(gpointer name, gpointer former, gpointer plugin) {
        (void) name;
        return former == plugin;
}

/* Only what was usable: a name that never worked is no name to explain. */
static void registry_remember(Registry *registry, const Registration *registration) {
        GHashTable *former = registry->former[registration->kind];

        if (registration->entry && (registration->entry->state == OWNER_ACTIVE || registration->entry->state == OWNER_LISTED) &&
                        g_hash_table_size(former) < TOOLS_MAX)
                g_hash_table_replace(former, g_strdup(registration->folded),
                                     plugin_ref(owner_get_plugin(registration->owner)));
}

Plugin *registry_find_former(const Registry *registry, RegistrationKind kind, const char *name) {
        g_autofree char *folded = g_ascii_strdown(name, -1);

        return g_hash_table_lookup(registry->former[kind], folded);
}

void registry_withdraw(Registry *registry, Owner *owner, const OwnerEntry *entry) {
        unsigned removed[_REGISTRATION_KIND_MAX] = {};

        for (size_t i = registry->live->len; i > 0; i--) {
                Registration *registration = g_ptr_array_index(registry->live, i - 1);

                if (registration->owner != owner || (entry && registration->entry != entry))
                        continue;
                /* What it had in an earlier activation gives way, so that no plugin can fill the list for all. */
                if (!entry && removed[registration->kind] == 0)
                        g_hash_table_foreach_remove(registry->former[registration->kind], is_former_of,
                                                    owner_get_plugin(owner));
                removed[registration->kind]++;
                registry_remember(registry, registration);
                registry_remove(registry, registration);
        }

        for (int kind = 0; kind < _REGISTRATION_KIND_MAX; kind++)
                if (removed[kind] > 0)
                        registry_changed(registry, kind);
        if (section_registry_remove_owner(registry->sections, owner_get_plugin_id(owner), entry ? entry->path : NULL) > 0) {
                registry_forget_sections(registry);
                registry_prompt_changed(registry);
        }
        skill_registry_withdraw(registry->skills, owner, entry);
}

void registry_announce(Registry *registry, Owner *owner) {
        for (int kind = 0; kind < _REGISTRATION_KIND_MAX; kind++)
                if (registry_count(registry, kind, owner) > 0)
                        registry_changed(registry, kind);
        skill_registry_announce(registry->skills, owner);
        if (section_registry_admit_owner(registry->sections, owner_get_plugin_id(owner)) > 0)
                registry_prompt_changed(registry);
}

static void foreach_folded(
                Registry *registry, RegistrationKind kind, const char *folded,
                void (*each)(Registration *registration, void *userdata), void *userdata) {
        GPtrArray *list = registry_name_list(registry, kind, folded, false);

        for (size_t i = 0; list && i < list->len; i++) {
                Registration *registration = g_ptr_array_index(list, i);

                if (registration_is_usable(registration))
                        each(registration, userdata);
        }
}

void registry_foreach_named(
                Registry *registry, RegistrationKind kind, const char *name,
                void (*each)(Registration *registration, void *userdata), void *userdata) {
        g_autofree char *folded = g_ascii_strdown(name, -1);

        foreach_folded(registry, kind, folded, each, userdata);
}

void registry_foreach_namesake(
                Registry *registry, const Registration *registration,
                void (*each)(Registration *registration, void *userdata), void *userdata) {
        foreach_folded(registry, registration->kind, registration->folded, each, userdata);
}

void registry_foreach(
                Registry *registry, RegistrationKind kind, void (*each)(Registration *registration, void *userdata), void *userdata) {
        for (size_t i = 0; i < registry->live->len; i++) {
                Registration *registration = g_ptr_array_index(registry->live, i);

                if (registration->kind == kind && registration_is_usable(registration))
                        each(registration, userdata);
        }
}
