/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of the registry, for the files that make it up: registry.c (what may stand beside what) and
 * registry-listing.c (what is known from a record). Nobody else includes this. */

#include "service/registry.h"

struct Registry {
        uint64_t last_handle;
        GPtrArray *live;        /* Registration, in the order of handles */
        GHashTable *names[_REGISTRATION_KIND_MAX]; /* folded name -> GPtrArray of borrowed Registration */
        SectionRegistry *sections;
        SkillRegistry *skills;
        RegistrationNames taken;
        GHashTable *former[_REGISTRATION_KIND_MAX]; /* folded name -> Plugin that had it; bounded like the names themselves */
        GHashTable *section_handles; /* our handle -> the section's */
        GHashTable *listed_sections; /* our handles of sections that no activation has confirmed yet */
        GHashTable *confirmed_sections; /* and of those that the present activation did confirm */
        bool listing;                /* registry_list() is at work */
        const RegistryEvents *events;
        void *userdata;
};

/** registry_find_proposer() - the entry of @owner that a message speaks for; -EPERM with why it may not register */
int registry_find_proposer(Owner *owner, Jval params, OwnerEntry **ret, char **ret_refusal);

/** registry_confirm() - the handle of what a record listed, when @fresh is the same; 0: it is new or different */
uint64_t registry_confirm(Registry *registry, const Registration *fresh);

/** registry_confirm_section() - likewise for a prompt section; one that differs is taken away */
uint64_t registry_confirm_section(
                Registry *registry, const Owner *owner, const OwnerEntry *entry, const char *id, const char *text, size_t size,
                bool interpolate);

void registry_remove(Registry *registry, Registration *registration);
void registry_changed(Registry *registry, RegistrationKind kind);
void registry_prompt_changed(Registry *registry);

/** registry_word() - the word on the wire for a kind */
const char *registry_word(RegistrationKind kind);
