/* SPDX-License-Identifier: MIT */
#pragma once

/* How many skills there may be, and which may stand beside which (contract 4.5). */

#include "service/skill-registry.h"

/**
 * skill_limit_refuse() - why a root that was looked through can't be admitted beside those that are
 * @roots: SkillRoot; the admitted ones
 *
 * A name that another root of the same entry has; more than SKILLS_PER_OWNER_MAX skills or SKILL_OWNER_BYTES_MAX bytes of one plugin;
 * more than SKILLS_MAX or SKILL_BYTES_MAX of all. What the manifest of a plugin declares and what its code registers are owned apart and
 * count together; a file that is both is one skill.
 *
 * Return: NULL, or the reason, a new string.
 */
char *skill_limit_refuse(const GPtrArray *roots, const SkillRoot *fresh);

/** skill_root_has_file() - whether one of its skills is the file of that path in the bundle */
bool skill_root_has_file(const SkillRoot *root, const char *path);
