/* SPDX-License-Identifier: MIT */
#pragma once

/* The text of state.json, without the file around it. For trust-state.c and its tests. */

#include <glib.h>
#include <stddef.h>

/**
 * trust_format_read() - read the whole text
 * @ret_records: plugin id -> TrustRecord, owns both
 * @ret_reason:  on failure, what is wrong, a new string that quotes nothing from the text
 *
 * Closed: an unknown key, a wrong type, a hash that is none, a generation of 0 make the whole text unusable.
 * Return: 0 or -EBADMSG.
 */
int trust_format_read(const char *text, size_t size, GHashTable **ret_records, char **ret_reason);

/** trust_format_write() - the text for these records, sorted by id; a new string */
char *trust_format_write(GHashTable *records, size_t *ret_size);

/** trust_format_new_records() - an empty table for records */
GHashTable *trust_format_new_records(void);
