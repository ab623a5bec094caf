/* SPDX-License-Identifier: MIT */
#pragma once

/* An owner is one activation of one plugin (contract 3.8): whatever a host registers belongs to an owner and one of its
 * entries, and goes when they go. The token catches stale fibers and bugs; what keeps plugins apart is that each has a
 * process and a channel of its own. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/jdoc.h"
#include "common/jwriter.h"
#include "service/plugin.h"

typedef enum OwnerState {
        OWNER_ACTIVATING, /* -> LISTED, ACTIVE, FAILED, FAULTED, REVOKED               */
        OWNER_LISTED,     /* known from a record, nothing ran yet; -> as ACTIVATING    */
        OWNER_ACTIVE,     /* -> FAULTED, REVOKED                                       */
        OWNER_FAILED,     /* no entry could be activated                               */
        OWNER_FAULTED,    /* threw outside of any call; the host disposed it           */
        OWNER_REVOKED,    /* disabled, trust gone, bytes changed, or the host ended    */
        _OWNER_STATE_MAX,
        _OWNER_STATE_INVALID = -EINVAL,
} OwnerState;

const char *owner_state_to_string(OwnerState state);

/* One native module file of the plugin; has the states of its owner. */
typedef struct OwnerEntry {
        char *path; /* relative to the bundle */
        char *sha256;
        OwnerState state;
        char *failure; /* why it FAILED or FAULTED */
} OwnerEntry;

typedef struct Owner Owner;

/**
 * owner_new() - a new activation of @plugin with a generation and token that were never used before
 *
 * Takes the entries from the plugin's reviewed inventory.
 * Return: 0; -ENOEXEC when the plugin has no native entry; -EIO when the kernel gives no random bytes.
 */
int owner_new(Plugin *plugin, Owner **ret);

/**
 * owner_new_declared() - an owner for what a manifest declares and no code registers (1.5.2); active from the beginning
 * @component: the name of its one entry, which is no file and never runs: "skills"
 *
 * It is of the plugin's present bytes and trust, and takes no part in the life of a host. Return: 0, or -EIO as above.
 */
int owner_new_declared(Plugin *plugin, const char *component, Owner **ret);
Owner *owner_ref(Owner *owner);
Owner *owner_unref(Owner *owner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Owner, owner_unref)

Plugin *owner_get_plugin(const Owner *owner);
const char *owner_get_plugin_id(const Owner *owner);
uint64_t owner_get_generation(const Owner *owner);
uint64_t owner_get_state_generation(const Owner *owner); /* of the plugin's trust state when it was made */
const char *owner_get_token(const Owner *owner); /* a secret: for tickets (policy/ticket.h) alone */
const char *owner_get_content_hash(const Owner *owner);  /* of the bytes that were activated */
OwnerState owner_get_state(const Owner *owner);
const char *owner_get_reason(const Owner *owner); /* NULL while there is none */

/** owner_set_state() - the one place that changes it; asserts that the move is allowed */
void owner_set_state(Owner *owner, OwnerState state, const char *reason);

size_t owner_count_entries(const Owner *owner);
OwnerEntry *owner_get_entry(const Owner *owner, size_t index);
OwnerEntry *owner_find_entry(const Owner *owner, const char *path, const char *sha256);
void owner_entry_set_state(OwnerEntry *entry, OwnerState state, const char *failure);

/** owner_list() - a new owner with all of its entries is known from a record; it is activated when somebody needs it */
void owner_list(Owner *owner);

/**
 * owner_touch() - a registration came or went while it was active, so that no record holds what it has now
 * owner_was_touched() - whether that happened
 */
void owner_touch(Owner *owner);
bool owner_was_touched(const Owner *owner);

/** owner_is_live() - registrations are accepted while it is listed, activating or active */
bool owner_is_live(const Owner *owner);

/** owner_matches() - whether a message's owner object names exactly this activation; the token in constant time */
bool owner_matches(const Owner *owner, Jval object);

/** owner_write() - the owner object of a message to the host; never for anybody else: it holds the token */
void owner_write(const Owner *owner, JWriter *writer);
