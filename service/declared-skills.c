/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "service/declared-skills.h"

#define COMPONENT "skills"

struct DeclaredSkills {
        Registry *registry;
        GHashTable *plugins; /* Plugin -> Declared */
        DeclaredSkillsRefused refused;
        void *userdata;
};

/* Those of one plugin that is active. It stays where it is until its proposal was answered, which withdrawing does. */
typedef struct Declared {
        DeclaredSkills *skills;
        Owner *owner;
        bool ending;
        char *problem;
} Declared;

static SkillRegistry *skill_registry(const DeclaredSkills *skills) {
        return registry_get_skills(skills->registry);
}

static void release_declared(void *pointer) {
        Declared *declared = pointer;

        declared->ending = true;
        owner_set_state(declared->owner, OWNER_REVOKED, NULL);
        skill_registry_withdraw(skill_registry(declared->skills), declared->owner, NULL);
        owner_unref(declared->owner);
        g_free(declared->problem);
        g_free(declared);
}

DeclaredSkills *declared_skills_new(Registry *registry, DeclaredSkillsRefused refused, void *userdata) {
        DeclaredSkills *skills = g_new(DeclaredSkills, 1);

        *skills = (DeclaredSkills) {
                .registry = registry,
                .plugins = g_hash_table_new_full(NULL, NULL, NULL, release_declared),
                .refused = refused,
                .userdata = userdata,
        };
        return skills;
}

DeclaredSkills *declared_skills_free(DeclaredSkills *skills) {
        if (!skills)
                return NULL;

        g_hash_table_unref(skills->plugins);
        g_free(skills);
        return NULL;
}

static void on_answer(uint64_t handle, const char *refusal, void *userdata) {
        Declared *declared = userdata;
        DeclaredSkills *skills = declared->skills;

        (void) handle;
        if (!refusal || declared->ending)
                return;
        declared->problem = g_strdup(refusal);
        skills->refused(owner_get_plugin(declared->owner), declared->problem, skills->userdata);
}

static bool wants(const Plugin *plugin) {
        return plugin_get_label(plugin) == PLUGIN_ACTIVE && plugin_get_skill_folders(plugin);
}

static bool is_of_now(const Declared *declared, const Plugin *plugin) {
        return owner_get_state_generation(declared->owner) == plugin_get_generation(plugin) &&
                        g_strcmp0(owner_get_content_hash(declared->owner), plugin_get_content_hash(plugin)) == 0;
}

void declared_skills_sync(DeclaredSkills *skills, Plugin *plugin) {
        Declared *declared = g_hash_table_lookup(skills->plugins, plugin);
        bool wanted = wants(plugin);

        if (declared && wanted && is_of_now(declared, plugin))
                return;
        g_hash_table_remove(skills->plugins, plugin);
        if (!wanted)
                return;

        declared = g_new0(Declared, 1);
        declared->skills = skills;
        if (owner_new_declared(plugin, COMPONENT, &declared->owner) < 0) {
                g_free(declared);
                skills->refused(plugin, "the kernel gives no random bytes", skills->userdata);
                return;
        }
        g_hash_table_insert(skills->plugins, plugin, declared);
        skill_registry_declare(skill_registry(skills), declared->owner, on_answer, declared);
}

void declared_skills_remove(DeclaredSkills *skills, Plugin *plugin) {
        g_hash_table_remove(skills->plugins, plugin);
}

const char *declared_skills_get_problem(const DeclaredSkills *skills, const Plugin *plugin) {
        const Declared *declared = g_hash_table_lookup(skills->plugins, plugin);

        return declared ? declared->problem : NULL;
}
