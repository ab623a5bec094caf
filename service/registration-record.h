/* SPDX-License-Identifier: MIT */
#pragma once

/* What one plugin registered when it was last activated, kept so that the service can list its tools without starting it
 * (design 5.3): a file of ours below extensions/records/. It holds for exactly one key: these reviewed bytes, this state of
 * trust, these settings, this service. Anything else, and anything damaged, is ignored with a reason. It is never trusted: what it lists goes
 * through the rules for messages of a host, and the next activation is compared with it. */

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "service/codewhale-home.h"
#include "service/registry.h"

/**
 * registration_record_write() - keep what an active owner has
 * @config: the settings that it was activated with, as JSON
 *
 * Replaces the file in one step. Return: 0; -E2BIG when it is over REGISTRATION_RECORD_BYTES_MAX; another -errno.
 */
int registration_record_write(CodewhaleHome *home, const Registry *registry, const Owner *owner, const char *config);

/**
 * registration_record_list() - list a new owner's registrations from its plugin's record
 * @owner:      fresh from owner_new(); it is OWNER_LISTED on success, and has nothing on failure
 * @ret_reason: why there is nothing to list, for people; a new string, set only when 0 is returned
 *
 * Return: the number of registrations plus 1; 0 when there is no record that fits, is whole and may be listed.
 */
int registration_record_list(CodewhaleHome *home, Registry *registry, Owner *owner, const char *config, char **ret_reason);

/**
 * registration_record_is_guard() - whether a plugin listened to calls when it was last active, as far as its record or a mark tells
 *
 * The record may be of other bytes or settings: nobody who was a guard ceases to be one by being changed.
 */
bool registration_record_is_guard(CodewhaleHome *home, const Plugin *plugin);

/** registration_record_mark_guard() - keep beside the records that it is one, or that it is none */
void registration_record_mark_guard(CodewhaleHome *home, const Plugin *plugin, bool guard);

/** registration_record_forget() - remove a plugin's record, if there is one */
void registration_record_forget(CodewhaleHome *home, const Plugin *plugin);
