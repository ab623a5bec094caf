/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/limits.h"
#include "service/skill-limit.h"

bool skill_root_has_file(const SkillRoot *root, const char *path) {
        for (size_t i = 0; i < root->skills->len; i++)
                if (strcmp(((const Skill *) g_ptr_array_index(root->skills, i))->path, path) == 0)
                        return true;
        return false;
}

/* What the manifest of a plugin declares and what its code registers are owned apart, and are the skills of one plugin. */
static bool is_of_same_plugin(const SkillRoot *root, const SkillRoot *other) {
        return root->owner == other->owner ||
                        (root->declared != other->declared && owner_get_plugin(root->owner) == owner_get_plugin(other->owner));
}

/* The skills of @root that are not those of @fresh: a file that is both declared and registered is one skill. */
static void count_others(const SkillRoot *root, const SkillRoot *fresh, size_t *count, size_t *bytes) {
        for (size_t i = 0; i < root->skills->len; i++) {
                const Skill *skill = g_ptr_array_index(root->skills, i);

                if (root->declared != fresh->declared && skill_root_has_file(fresh, skill->path))
                        continue;
                *count += 1;
                *bytes += skill->matter->kept;
        }
}

static char *limit_refusal(const GPtrArray *roots, const SkillRoot *fresh) {
        size_t own = fresh->skills->len, own_bytes = fresh->kept, all = own, all_bytes = own_bytes;

        for (size_t i = 0; i < roots->len; i++) {
                const SkillRoot *root = g_ptr_array_index(roots, i);

                all += root->skills->len;
                all_bytes += root->kept;
                if (is_of_same_plugin(root, fresh))
                        count_others(root, fresh, &own, &own_bytes);
        }
        if (own > SKILLS_PER_OWNER_MAX)
                return g_strdup_printf("a plugin may have at most %u skills, declared and registered ones together", SKILLS_PER_OWNER_MAX);
        if (own_bytes > SKILL_OWNER_BYTES_MAX)
                return g_strdup_printf("the instructions of a plugin's skills may have at most %zu bytes", SKILL_OWNER_BYTES_MAX);
        if (all > SKILLS_MAX)
                return g_strdup_printf("all plugins together may have at most %u skills", SKILLS_MAX);
        if (all_bytes > SKILL_BYTES_MAX)
                return g_strdup_printf("the instructions of all skills may have at most %zu bytes", SKILL_BYTES_MAX);
        return NULL;
}

static char *name_refusal(const GPtrArray *roots, const SkillRoot *fresh) {
        for (size_t i = 0; i < roots->len; i++) {
                const SkillRoot *root = g_ptr_array_index(roots, i);

                if (root->owner != fresh->owner || root->entry != fresh->entry)
                        continue;
                for (size_t a = 0; a < root->skills->len; a++)
                        for (size_t b = 0; b < fresh->skills->len; b++) {
                                const Skill *old = g_ptr_array_index(root->skills, a), *new = g_ptr_array_index(fresh->skills, b);

                                if (strcmp(old->folded, new->folded) == 0)
                                        return g_strdup_printf("%s has the name of %s", new->path, old->path);
                        }
        }
        return NULL;
}

char *skill_limit_refuse(const GPtrArray *roots, const SkillRoot *fresh) {
        return name_refusal(roots, fresh) ?: limit_refusal(roots, fresh);
}
