/* SPDX-License-Identifier: MIT */
#include <systemd/sd-event.h>

#include "registered.h"

/* Which roots of skills may stand beside which. */

typedef struct Answer {
        unsigned admitted, refused;
        uint64_t handle;
        char *refusal;
} Answer;

static void on_answer(uint64_t handle, const char *refusal, void *userdata) {
        Answer *answer = userdata;

        g_free(answer->refusal);
        answer->refusal = g_strdup(refusal);
        answer->handle = handle;
        answer->admitted += handle != 0;
        answer->refused += refusal != NULL;
        g_assert_true((handle != 0) == (refusal == NULL));
}

static uint64_t number(void *userdata) {
        return ++*(uint64_t *) userdata;
}

static void propose(SkillRegistry *skills, Owner *owner, size_t entry, const char *path, Answer *answer) {
        skill_registry_propose(skills, owner, owner_get_entry(owner, entry), path, strlen(path), on_answer, answer);
}

/* Proposals wait for the loop here, so they are pending. */
static void test_root_limits(Registered *registered, const void *data) {
        g_autoptr(GPtrArray) owners = g_ptr_array_new();
        uint64_t last = 0;
        g_autoptr(SkillRegistry) skills = NULL;
        sd_event *event = NULL;
        Answer answer = {};

        (void) data;
        g_assert_cmpint(sd_event_new(&event), >=, 0);
        skills = skill_registry_new(event, number, NULL, &last);
        for (unsigned i = 0; i < SKILL_ROOTS_MAX / SKILL_ROOTS_PER_OWNER_MAX; i++) {
                Owner *owner = registered_owner(registered, "two");

                g_ptr_array_add(owners, owner);
                for (unsigned n = 0; n < SKILL_ROOTS_PER_OWNER_MAX; n++) {
                        g_autofree char *path = g_strdup_printf("skills-%u", n);

                        propose(skills, owner, 0, path, &answer);
                }
                g_assert_cmpuint(answer.refused, ==, i);
                propose(skills, owner, 0, "one-more", &answer);
                g_assert_cmpuint(answer.refused, ==, i + 1);
                g_assert_nonnull(strstr(answer.refusal, "at most 8"));
        }
        g_assert_cmpuint(skill_registry_count_roots(skills, NULL), ==, SKILL_ROOTS_MAX);
        propose(skills, registered->one, 0, "skills", &answer);
        g_assert_nonnull(strstr(answer.refusal, "64 skill roots"));

        /* What ends makes room, and its proposals are answered. */
        answer.refused = 0;
        skill_registry_withdraw(skills, g_ptr_array_index(owners, 0), NULL);
        g_assert_cmpuint(answer.refused, ==, SKILL_ROOTS_PER_OWNER_MAX);
        propose(skills, registered->one, 0, "skills", &answer);
        g_assert_cmpuint(skill_registry_count_roots(skills, registered->one), ==, 1);
        g_assert_cmpuint(answer.admitted, ==, 0);

        for (size_t i = 0; i < owners->len; i++) {
                skill_registry_withdraw(skills, g_ptr_array_index(owners, i), NULL);
                owner_unref(g_ptr_array_index(owners, i));
        }
        skill_registry_withdraw(skills, registered->one, NULL);
        g_assert_cmpuint(skill_registry_count_roots(skills, NULL), ==, 0);
        skills = skill_registry_free(skills);
        sd_event_unref(event);
        g_free(answer.refusal);
}

static void test_same_path(Registered *registered, const void *data) {
        uint64_t last = 0;
        g_autoptr(SkillRegistry) skills = NULL;
        sd_event *event = NULL;
        Answer answer = {};

        (void) data;
        g_assert_cmpint(sd_event_new(&event), >=, 0);
        skills = skill_registry_new(event, number, NULL, &last);
        propose(skills, registered->one, 0, "skills", &answer);
        propose(skills, registered->one, 0, "skills", &answer);
        g_assert_cmpuint(answer.refused, ==, 1);
        g_assert_nonnull(strstr(answer.refusal, "registered already"));
        /* Its sibling may have the same root; so may the entry itself when the old one is gone. */
        propose(skills, registered->one, 1, "skills", &answer);
        g_assert_cmpuint(answer.refused, ==, 1);
        skill_registry_withdraw(skills, registered->one, owner_get_entry(registered->one, 0));
        g_assert_cmpuint(answer.refused, ==, 2);
        g_assert_cmpuint(skill_registry_count_roots(skills, NULL), ==, 1);
        propose(skills, registered->one, 0, "skills", &answer);
        g_assert_cmpuint(answer.refused, ==, 2);

        /* These plugins were never reviewed, so there is no sealed copy to read: each is refused in its turn. */
        while (answer.refused < 4)
                g_assert_cmpint(sd_event_run(event, 0), >=, 0);
        g_assert_cmpuint(skill_registry_count_roots(skills, NULL), ==, 0);
        skills = skill_registry_free(skills);
        sd_event_unref(event);
        g_free(answer.refusal);
}

static void test_message(Registered *registered, const void *data) {
        static const char *const bad[] = { "/tmp/x", "a/../../x", "a//b", "./a", "a/", "a\\\\b", "a:b", "" };

        (void) data;
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                const OwnerEntry *entry = owner_get_entry(registered->one, 0);
                g_autofree char *text = g_strdup_printf(
                                "{\"scope\":{\"path\":\"%s\",\"sha256\":\"%s\"},\"kind\":\"skill_root\",\"spec\":{\"name\":\"%s\","
                                "\"description\":\"\"}}", entry->path, entry->sha256, bad[i]);
                g_autoptr(Jdoc) doc = NULL;
                Answer answer = {};

                g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
                registry_propose_skills(registered->registry, registered->one, jdoc_root(doc), on_answer, &answer);
                g_test_message("%s: %s", bad[i], answer.refusal);
                g_assert_cmpuint(answer.refused, ==, 1);
                g_assert_nonnull(strstr(answer.refusal, "path of a skill root"));
                g_free(answer.refusal);
        }
}

static void test_other_kinds(Registered *registered, const void *data) {
        (void) data;
        assert_refused(registered, registered->one, "mcp_server", "{\"name\":\"m\",\"description\":\"{}\"}", "mcp.json");
        assert_refused(registered, registered->one, "shell_hook", "{\"name\":\"h\",\"description\":\"{}\"}", "no shell hooks");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        REGISTERED_TEST("/skill-registry/K02-root-limits", test_root_limits);
        REGISTERED_TEST("/skill-registry/K03-same-path", test_same_path);
        REGISTERED_TEST("/skill-registry/K01-TR-07-message", test_message);
        REGISTERED_TEST("/skill-registry/other-kinds-are-refused", test_other_kinds);
        return g_test_run();
}
