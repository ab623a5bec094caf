/* SPDX-License-Identifier: MIT */
#include "common/limits.h"
#include "service/registry.h"
#include "world.h"

/* Skills that manifests declare, and how many there may be of all plugins together. One reviewed bundle stands for many: each
 * activation of it counts by itself. */

typedef struct Answer {
        uint64_t handle;
        char *refusal;
} Answer;

static void on_answer(uint64_t handle, const char *refusal, void *userdata) {
        Answer *answer = userdata;

        g_free(answer->refusal);
        *answer = (Answer) { .handle = handle, .refusal = g_strdup(refusal) };
}

static uint64_t number(void *userdata) {
        return ++*(uint64_t *) userdata;
}

/* Skills in the folder @folder of a bundle */
static void write_skills(const char *source, const char *folder, unsigned count, size_t body) {
        g_autofree char *filler = g_strnfill(body, 'x');

        for (unsigned i = 0; i < count; i++) {
                g_autofree char *path = g_strdup_printf("%s/s%u/SKILL.md", folder, i);
                g_autofree char *text = g_strdup_printf("---\nname: %s%u\ndescription: d\n---\n%s\n", folder, i, filler);

                fixture_write(source, path, text, -1);
        }
}

/* The bundle that lies in @source, active */
static Plugin *activate_source(World *world, const char *source, const char *members) {
        g_autofree char *manifest = g_strdup_printf(
                        "{\"$schema\":\"https://agent-plugins.org/schemas/plugin.json\",\"name\":\"skilled\",\"version\":\"1.0.0\"%s}", members);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Plugin *plugin = NULL;

        fixture_write(source, "plugin.json", manifest, -1);
        g_assert_cmpint(plugin_set_install(world->set, source, NULL, &plugin, &error), ==, 0);
        world_trust(world, plugin);
        g_assert_cmpint(plugin_set_enable(world->set, plugin, &error), ==, 0);
        assert_label(plugin, PLUGIN_ACTIVE);
        return plugin;
}

/* A bundle of skills without code, active. */
static Plugin *activate(World *world, unsigned count, size_t body) {
        g_autofree char *source = g_build_filename(world->author, "skilled", NULL);

        write_skills(source, "skills", count, body);
        return activate_source(world, source, "");
}

/* Declares the skills of @plugin @times times, and once more, which is refused with @word; room for one is room again. */
static void fill(Plugin *plugin, unsigned times, const char *word) {
        g_autoptr(GPtrArray) owners = g_ptr_array_new();
        uint64_t last = 0;
        g_autoptr(SkillRegistry) skills = skill_registry_new(NULL, number, NULL, &last);
        Answer answer = {};

        for (unsigned i = 0; i <= times + 1; i++) {
                Owner *owner = NULL;

                g_assert_cmpint(owner_new_declared(plugin, "skills", &owner), ==, 0);
                g_ptr_array_add(owners, owner);
                if (i == times + 1)
                        skill_registry_withdraw(skills, g_ptr_array_index(owners, 0), NULL);
                skill_registry_declare(skills, owner, on_answer, &answer);
                g_assert_cmpint(answer.handle == 0, ==, i == times);
                if (i == times) {
                        g_test_message("%s", answer.refusal);
                        g_assert_nonnull(strstr(answer.refusal, word));
                }
        }
        g_assert_cmpuint(skill_registry_count_roots(skills, NULL), ==, times);
        for (size_t i = 0; i < owners->len; i++) {
                skill_registry_withdraw(skills, g_ptr_array_index(owners, i), NULL);
                owner_unref(g_ptr_array_index(owners, i));
        }
        g_assert_cmpuint(skill_registry_count_roots(skills, NULL), ==, 0);
        g_free(answer.refusal);
}

static void test_skills_of_all(World *world, const void *data) {
        (void) data;
        fill(activate(world, SKILLS_PER_OWNER_MAX, 1), SKILLS_MAX / SKILLS_PER_OWNER_MAX, "at most 1024 skills");
}

static void test_bytes_of_all(World *world, const void *data) {
        enum { BODY = 1040000, FILES = 4 };

        (void) data;
        G_STATIC_ASSERT(BODY * FILES < SKILL_OWNER_BYTES_MAX);
        G_STATIC_ASSERT(BODY * FILES * 8ull < SKILL_BYTES_MAX && BODY * FILES * 9ull > SKILL_BYTES_MAX);
        fill(activate(world, FILES, BODY), 8, "at most 33554432 bytes");
}

static void test_roots_of_all(World *world, const void *data) {
        (void) data;
        fill(activate(world, 1, 1), SKILL_ROOTS_MAX, "64 skill roots");
}

static void test_candidates(World *world, const void *data) {
        Plugin *plugin = activate(world, SKILL_CANDIDATES_MAX + 1, 1);
        uint64_t last = 0;
        g_autoptr(SkillRegistry) skills = skill_registry_new(NULL, number, NULL, &last);
        g_autoptr(Owner) owner = NULL;
        Answer answer = {};

        (void) data;
        g_assert_cmpint(owner_new_declared(plugin, "skills", &owner), ==, 0);
        skill_registry_declare(skills, owner, on_answer, &answer);
        g_assert_nonnull(strstr(answer.refusal, "declares 129 skills"));
        g_assert_cmpuint(skill_registry_count_roots(skills, NULL), ==, 0);
        g_free(answer.refusal);
}

/* What becomes of the skills that its manifest declares, and of the folder @path that its code registers, in this order or the other */
static void take_both(Plugin *plugin, const char *path, bool code_first, Answer *ret_declared, Answer *ret_registered) {
        uint64_t last = 0;
        g_autoptr(SkillRegistry) skills = skill_registry_new(NULL, number, NULL, &last);
        g_autoptr(Owner) code = NULL, manifest = NULL;

        g_assert_cmpint(owner_new(plugin, &code), ==, 0);
        g_assert_cmpint(owner_new_declared(plugin, "skills", &manifest), ==, 0);
        if (!code_first)
                skill_registry_declare(skills, manifest, on_answer, ret_declared);
        skill_registry_propose(skills, code, owner_get_entry(code, 0), path, strlen(path), on_answer, ret_registered);
        if (code_first)
                skill_registry_declare(skills, manifest, on_answer, ret_declared);
        skill_registry_withdraw(skills, code, NULL);
        skill_registry_withdraw(skills, manifest, NULL);
}

static void test_declared_and_registered(World *world, const void *data) {
        enum { DECLARED = 100, MORE = 29 };
        g_autofree char *source = g_build_filename(world->author, "skilled", NULL);
        Plugin *plugin;

        (void) data;
        G_STATIC_ASSERT(DECLARED + MORE == SKILLS_PER_OWNER_MAX + 1);
        write_skills(source, "skills", DECLARED, 1);
        write_skills(source, "crafts", MORE, 1);
        fixture_write(source, "native/main.mjs", "export const apply = () => {}\n", -1);
        plugin = activate_source(world, source, ",\"extensions\":{\"net.codewhale\":{\"native\":{\"path\":\"native/main.mjs\"}}}");

        for (int code_first = 0; code_first <= 1; code_first++) {
                Answer declared = {}, registered = {};
                const Answer *later = code_first ? &declared : &registered;

                take_both(plugin, "crafts", code_first, &declared, &registered);
                g_assert_cmpint(declared.handle != 0, ==, !code_first);
                g_assert_cmpint(registered.handle != 0, ==, code_first);
                g_assert_nonnull(strstr(later->refusal, "at most 128 skills, declared and registered ones together"));
                g_free(declared.refusal);
                g_free(registered.refusal);

                /* A file that is both is one skill. */
                declared = registered = (Answer) {};
                take_both(plugin, "skills", code_first, &declared, &registered);
                g_assert_true(declared.handle != 0 && registered.handle != 0);
        }
}

static void up(World *world, const void *data) {
        (void) data;
        world_init(world);
}

static void down(World *world, const void *data) {
        (void) data;
        world_done(world);
}

#define WORLD_TEST(path, function) g_test_add(path, World, NULL, up, function, down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        WORLD_TEST("/skill-limits/K02-roots-of-all-plugins", test_roots_of_all);
        WORLD_TEST("/skill-limits/K04-skills-of-all-plugins", test_skills_of_all);
        WORLD_TEST("/skill-limits/K04-bytes-of-all-plugins", test_bytes_of_all);
        WORLD_TEST("/skill-limits/K04-candidates-of-a-manifest", test_candidates);
        WORLD_TEST("/skill-limits/K04-declared-and-registered-together", test_declared_and_registered);
        return g_test_run();
}
