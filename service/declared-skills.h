/* SPDX-License-Identifier: MIT */
#pragma once

/* The skills that manifests declare (contract 1.5.2, 4.5; design 5.3): instructions without code. A plugin that is active has
 * an owner for them, made anew with its bytes and its trust; no host runs for it, and the extension host may be off. */

#include "service/registry.h"

typedef struct DeclaredSkills DeclaredSkills;

/* Why the declared skills of a plugin are not listed: a limit, in words. */
typedef void (*DeclaredSkillsRefused)(Plugin *plugin, const char *reason, void *userdata);

/** declared_skills_new() - none yet; @registry is borrowed and lives longer */
DeclaredSkills *declared_skills_new(Registry *registry, DeclaredSkillsRefused refused, void *userdata);

/** declared_skills_free() - withdraws all of them and tells nobody */
DeclaredSkills *declared_skills_free(DeclaredSkills *skills);

/**
 * declared_skills_sync() - make the registry say of a plugin what its facts say now
 *
 * Active, with skills declared: they are listed, after a look at the sealed copy. Anything else: they are withdrawn at once. The same
 * bytes and the same generation of trust stay untouched.
 */
void declared_skills_sync(DeclaredSkills *skills, Plugin *plugin);

/** declared_skills_remove() - the plugin is gone */
void declared_skills_remove(DeclaredSkills *skills, Plugin *plugin);

/** declared_skills_get_problem() - why an active plugin's are not listed; NULL when nothing is wrong */
const char *declared_skills_get_problem(const DeclaredSkills *skills, const Plugin *plugin);
