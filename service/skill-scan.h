/* SPDX-License-Identifier: MIT */
#pragma once

/* Looking through one folder of a reviewed bundle for skills (contract 4.5), one file a step. Only what the reviewed list of
 * files names is looked at, and only in the sealed copy: what somebody put beside it later does not exist (PR-05). */

#include "service/skill.h"

typedef struct SkillScan SkillScan;

/**
 * skill_scan_new() - find the candidates below a folder
 * @root:       a path that skill_path_check() took
 * @ret_reason: why the folder can't be a root; a new string
 *
 * Hidden folders are passed over; a package owns what lies below it. Return: 0; -EBADMSG with the reason: no such folder, no
 * skill in it, one in the folder itself, over SKILL_CANDIDATES_MAX files or SKILL_SCAN_BYTES_MAX bytes.
 */
int skill_scan_new(Plugin *plugin, const char *root, SkillScan **ret, char **ret_reason);

/**
 * skill_scan_new_declared() - the skills of the folders that the plugin's manifest declares (1.5.2)
 *
 * As the inventory counts them: in a folder itself or one below. What does not parse is passed over, and so is a second skill
 * of the same name: a review told of it (skill-invalid, a warning). Return: 0; -EBADMSG with the reason over SKILL_CANDIDATES_MAX.
 */
int skill_scan_new_declared(Plugin *plugin, SkillScan **ret, char **ret_reason);
SkillScan *skill_scan_free(SkillScan *scan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SkillScan, skill_scan_free)

/** skill_scan_step() - read one file. Return: 1 when there is more; 0 when all were read; -EBADMSG with the reason */
int skill_scan_step(SkillScan *scan, char **ret_reason);

/** skill_scan_steal() - the skills (Skill) in the order of their paths, after 0 */
GPtrArray *skill_scan_steal(SkillScan *scan);
