/* SPDX-License-Identifier: MIT */
#pragma once

/* The tools, commands and listeners of all plugins. It decides what may be registered beside what (contract 4.1, 4.2, 4.8,
 * 5.2), and takes away at once whatever belongs to an owner or entry that ended. */

#include "prompt/section-registry.h"
#include "service/registration.h"
#include "service/skill-registry.h"

typedef struct Registry Registry;

typedef struct RegistryEvents {
        void (*changed)(RegistrationKind kind, void *userdata); /* the usable set of that kind may differ */
        void (*prompt_changed)(void *userdata);
        void (*skills_changed)(void *userdata);
} RegistryEvents;

/** registry_new() - an empty one; @event looks through the folders of skills, NULL: that happens at once */
Registry *registry_new(sd_event *event);
Registry *registry_free(Registry *registry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Registry, registry_free)
void registry_set_events(Registry *registry, const RegistryEvents *events, void *userdata);

/**
 * registry_know_tools() - native tools that a session reported: from now on nobody may register these names (5.2)
 *
 * The list only grows, by contract: a name stays reserved until the service ends, also when the session that reported it is
 * gone, so that no plugin waits for that to take the name over. Tools that have such a name already stay for sessions that have
 * none of that name themselves.
 * Return: 0; -ENOBUFS at TOOLS_MAX names.
 */
int registry_know_tools(Registry *registry, const char *const *names);

/** registry_know_commands() - the same for built-in commands and their aliases (4.2); before the first call no command is
 * admitted at all, since it could not be checked (C02) */
int registry_know_commands(Registry *registry, const char *const *names);

/** registry_get_sections() - the prompt sections, for snapshots */
SectionRegistry *registry_get_sections(Registry *registry);

/** registry_get_skills() - the skills, for looking */
SkillRegistry *registry_get_skills(Registry *registry);

/**
 * registry_propose_skills() - what registry_register() is for other kinds: a root of skills, whose folder is read first
 *
 * @answer comes once, perhaps before this returns; see skill_registry_propose().
 */
void registry_propose_skills(Registry *registry, Owner *owner, Jval params, SkillAnswer answer, void *userdata);

/**
 * registry_register() - admit what a registry/register message proposes
 * @params:      the message's parameters, shape-checked; they name @owner (the caller has checked that)
 * @ret_handle:  the handle of what was admitted
 * @ret_refusal: why it was refused, for the author; a new string, set only with -EPERM
 *
 * MCP servers and shell hooks are refused in words: this version has no place for them. Roots of skills go another way.
 * Return: 0; -EPERM when a rule refuses it.
 */
int registry_register(Registry *registry, Owner *owner, Jval params, uint64_t *ret_handle, char **ret_refusal);

/** registry_unregister() - take one away; nothing happens when @owner has no such handle (idempotent) */
void registry_unregister(Registry *registry, Owner *owner, uint64_t handle);

/** registry_withdraw() - take away everything of an owner, or of one of its entries */
void registry_withdraw(Registry *registry, Owner *owner, const OwnerEntry *entry);

/**
 * registry_list() - take in what a record says that @owner, which is listed, registers: usable at once
 * @item: {"scope":…,"kind":…,"spec":…}, shape-checked; judged by the same rules as a message from a host
 *
 * Return: as registry_register().
 */
int registry_list(Registry *registry, Owner *owner, Jval item, char **ret_refusal);

/**
 * registry_settle() - a listed owner was activated: take away what it did not register again
 * @ret_added: NULL, or how many it registered that were not listed, or differently
 *
 * Return: how many were confirmed.
 */
unsigned registry_settle(Registry *registry, Owner *owner, unsigned *ret_added);

/** registry_can_list() - whether a record can hold what these parameters of registry/register propose */
bool registry_can_list(Jval params);

/** registry_write_owner() - all that an owner has, as an array of what registry_list() takes, in the order of handles */
void registry_write_owner(const Registry *registry, const Owner *owner, JWriter *writer);

/** registry_announce() - an owner became active: what it had registered is usable from now on */
void registry_announce(Registry *registry, Owner *owner);

/** registry_foreach_named() - walk the usable tools or commands of one name, in any case; see session_find() */
void registry_foreach_named(
                Registry *registry, RegistrationKind kind, const char *name,
                void (*each)(Registration *registration, void *userdata), void *userdata);

/** registry_foreach_namesake() - the same for the name of @registration, which is among them while it is usable itself */
void registry_foreach_namesake(
                Registry *registry, const Registration *registration,
                void (*each)(Registration *registration, void *userdata), void *userdata);

/**
 * registry_find_former() - the plugin that offered this name last, while nobody does: its host may be down for a moment
 *
 * Return: borrowed; NULL when no plugin that is still known to us ever offered it.
 */
Plugin *registry_find_former(const Registry *registry, RegistrationKind kind, const char *name);

/** registry_foreach() - walk the usable ones in the order of their handles */
void registry_foreach(
                Registry *registry, RegistrationKind kind, void (*each)(Registration *registration, void *userdata), void *userdata);

/** registry_count() - what an owner has of a kind, usable or not; with @owner NULL: of all owners */
unsigned registry_count(const Registry *registry, RegistrationKind kind, const Owner *owner);
