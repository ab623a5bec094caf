/* SPDX-License-Identifier: MIT */
#pragma once

/* The skills of all plugins (contract 4.5). A host proposes a folder of its bundle as a root; the folder is looked through
 * piece by piece, one proposal after the other, and is admitted as a whole or not at all. */

#include <stdint.h>
#include <systemd/sd-event.h>

#include "service/owner.h"
#include "service/selection.h"
#include "service/skill.h"

typedef struct SkillRegistry SkillRegistry;

/* One admitted or proposed root */
typedef struct SkillRoot {
        uint64_t handle; /* 0 while it is proposed */
        Owner *owner;
        OwnerEntry *entry;
        char *path;
        GPtrArray *skills; /* Skill; NULL while it is proposed */
        size_t kept;       /* bytes of instructions and texts */
        bool listed;       /* it comes from a record */
        bool confirmed;    /* and the activation proposed the same */
        bool declared;     /* by the manifest; @path is for people */
} SkillRoot;

/* What became of a proposal: a handle, or 0 and the reason. Called once; also from within skill_registry_withdraw(). */
typedef void (*SkillAnswer)(uint64_t handle, const char *refusal, void *userdata);

/**
 * skill_registry_new() - an empty one
 * @event:  does the looking through; NULL: skill_registry_propose() does it at once
 * @number: gives a handle that was never used
 * @changed: the usable set may differ; NULL for nobody
 */
SkillRegistry *skill_registry_new(
                sd_event *event, uint64_t (*number)(void *userdata), void (*changed)(void *userdata), void *userdata);
SkillRegistry *skill_registry_free(SkillRegistry *registry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SkillRegistry, skill_registry_free)

/**
 * skill_registry_propose() - look through a folder and admit it
 *
 * Refused with a reason: a path against skill_path_check(); the same path twice in an entry; SKILL_ROOTS_PER_OWNER_MAX or
 * SKILL_ROOTS_MAX roots, proposed ones counted; whatever skill_scan_new() and skill_scan_step() refuse; a skill whose name
 * another root of the entry has; SKILLS_PER_OWNER_MAX of a plugin, those that its manifest declares included and a file that is both
 * counted once; SKILLS_MAX, and the bytes that go with both; an owner or entry that
 * ended meanwhile. A refusal that needs no disk comes before this returns.
 */
void skill_registry_propose(
                SkillRegistry *registry, Owner *owner, OwnerEntry *entry, const char *path, size_t path_size, SkillAnswer answer,
                void *userdata);

/**
 * skill_registry_list() - likewise for a root that a record of its plugin names, without the plugin running (design 5.3)
 *
 * A proposal of the same by its activation gets the handle of this one. A folder that does not do any more is forgotten.
 *
 * Return: 0, or -EPERM with the reason.
 */
int skill_registry_list(
                SkillRegistry *registry, Owner *owner, OwnerEntry *entry, const char *path, size_t path_size, char **ret_refusal);

/**
 * skill_registry_declare() - admit the skills of the folders that a manifest declares, as one root
 * @owner: of owner_new_declared(); a root of it counts against the limits as any other
 *
 * @answer as for skill_registry_propose(). A skill that the plugin's code registers too is listed as that alone.
 */
void skill_registry_declare(SkillRegistry *registry, Owner *owner, SkillAnswer answer, void *userdata);

/**
 * skill_registry_settle() - the activation is over: take away what was listed and did not come
 * @ret_added: roots that no record named
 *
 * Return: how many of the listed ones came.
 */
unsigned skill_registry_settle(SkillRegistry *registry, const Owner *owner, unsigned *ret_added);

/** skill_registry_foreach_root() - the admitted roots of an owner */
void skill_registry_foreach_root(
                const SkillRegistry *registry, const Owner *owner, void (*each)(const SkillRoot *root, void *userdata), void *userdata);

/** skill_registry_unregister() - take one root away; false when the owner has no such handle */
bool skill_registry_unregister(SkillRegistry *registry, Owner *owner, uint64_t handle);

/** skill_registry_withdraw() - take away all of an owner, or of one of its entries; proposals are refused */
void skill_registry_withdraw(SkillRegistry *registry, Owner *owner, const OwnerEntry *entry);

/** skill_registry_announce() - an owner became active */
void skill_registry_announce(SkillRegistry *registry, const Owner *owner);

/** skill_registry_count_roots() - admitted and proposed ones; of all owners with NULL */
unsigned skill_registry_count_roots(const SkillRegistry *registry, const Owner *owner);

typedef void (*SkillEach)(const SkillRoot *root, const Skill *skill, void *userdata);

/** skill_registry_foreach() - walk the skills that a session may use, in the order of their roots and paths */
void skill_registry_foreach(const SkillRegistry *registry, const Selection *selection, SkillEach each, void *userdata);

/**
 * skill_registry_find() - the skill that a qualified name means in a session, in any case
 *
 * Return: 0; ERROR_NO_SUCH_SKILL when there is none, or when two entries of the session both have it.
 */
int skill_registry_find(
                const SkillRegistry *registry, const Selection *selection, const char *qualified, const SkillRoot **ret_root,
                const Skill **ret, sd_bus_error *reterr);
