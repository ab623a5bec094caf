/* SPDX-License-Identifier: MIT */
#pragma once

/* All prompt sections of the service, and the snapshot that a session's next turn gets (contract 4.3, cases
 * PR). */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "prompt/section.h"

typedef struct SectionRegistry SectionRegistry;

SectionRegistry *section_registry_new(void);
SectionRegistry *section_registry_free(SectionRegistry *registry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SectionRegistry, section_registry_free)

/**
 * section_registry_add() - take in a section, pending: it counts against every limit and shows in no
 * snapshot
 *
 * Return: 0 and a handle that is never used twice; -EINVAL for id or text; -EEXIST for an id that this owner
 * and entry have already; -E2BIG, -ENOBUFS for a limit, named with its number. @reterr has the words.
 */
int section_registry_add(SectionRegistry *registry, const SectionOwner *owner, const char *id,
                const char *text, size_t size, bool interpolate, uint64_t *ret_handle, sd_bus_error *reterr);

/** section_registry_admit() - the owner is active: show it; -ENOENT when it was removed meanwhile */
int section_registry_admit(SectionRegistry *registry, uint64_t handle);

/** section_registry_admit_owner() - admit all that an owner has pending; returns their number */
size_t section_registry_admit_owner(SectionRegistry *registry, const char *owner);

/** section_registry_remove() - dispose one, pending or admitted; -ENOENT for an old handle, which changes
 * nothing */
int section_registry_remove(SectionRegistry *registry, uint64_t handle);

/** section_registry_remove_owner() - all of an owner, or of one of its entries when @entry is not NULL */
size_t section_registry_remove_owner(SectionRegistry *registry, const char *owner, const char *entry);

/** section_registry_revision() - grows whenever what a snapshot could show changes; begins at 1 */
uint64_t section_registry_revision(const SectionRegistry *registry);

/** section_registry_has_owner() - whether an owner has any section, admitted or not */
bool section_registry_has_owner(const SectionRegistry *registry, const char *owner);

size_t section_registry_length(const SectionRegistry *registry);
const Section *section_registry_find(const SectionRegistry *registry, uint64_t handle);

/* ---- snapshots ---- */

typedef struct PromptSnapshot {
        uint64_t revision; /* of the registry */
        char *text; /* the block for the model: at most PROMPT_BLOCK_BYTES_MAX bytes, "" when nothing was
                       ever said */
        size_t text_size;
        size_t sections;  /* shown */
        size_t omitted;   /* selected, but their expansion or the block was over a limit; the text says so */
        size_t withdrawn; /* shown by the previous snapshot, gone in this one; the text names them */
        GPtrArray *names; /* char *: "owner entry id" of what is shown; what a later snapshot is compared
                             with */
} PromptSnapshot;

PromptSnapshot *prompt_snapshot_free(PromptSnapshot *snapshot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PromptSnapshot, prompt_snapshot_free)

typedef struct SnapshotRequest {
        bool (*select)(const Section *section, void *userdata); /* NULL: every admitted section */
        void *userdata;
        const char *model;              /* for {{model}}; NULL is "" */
        const char *cwd;                /* for {{cwd}}; NULL is "" */
        const PromptSnapshot *previous; /* what this session saw last, NULL at first */
} SnapshotRequest;

/**
 * prompt_snapshot_take() - the complete current block, which replaces the previous one
 *
 * Sections stand in the order owner, entry, id; each under a header with plugin, generation, content hash,
 * entry and size. Templates are expanded here, once. With nothing to show and something shown before, the
 * text is an explicit withdrawal. Return: a new snapshot, independent of the registry.
 */
PromptSnapshot *prompt_snapshot_take(const SectionRegistry *registry, const SnapshotRequest *request);
