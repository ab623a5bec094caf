/* SPDX-License-Identifier: MIT */
#pragma once

/* The JSON records of one plugin: `storage-v1/<sha256 of key>.json` under its data directory, one record a
 * file (contract 4.4). A key never becomes a path. A record is replaced whole or not at all; a damaged one
 * is never overwritten. Quotas are reserved from an index in memory, built once and rebuilt when another
 * process changed the folder.
 *
 * Error codes for plugins are words; record_store_code() maps the negative errno of every function here:
 *   -EINVAL invalid, -EDQUOT limit, -EBADMSG corrupt, -ENODEV not_available, anything else io. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RecordStore RecordStore;

/**
 * record_store_open() - open the records of one plugin
 * @directory: descriptor of its data directory; duplicated
 *
 * Makes `storage-v1` when it is missing, sweeps temporary files of interrupted writers unless another
 * process has the folder open, reads every record once (at most STORAGE_OWNER_KEYS_MAX records are looked
 * into).
 *
 * Return: 0; -ENOTDIR when `storage-v1` is a link or no directory; another -errno.
 */
int record_store_open(int directory, RecordStore **ret);
RecordStore *record_store_free(RecordStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecordStore, record_store_free)

/** record_store_revoke() - the owner is going: every later operation is -ENODEV */
void record_store_revoke(RecordStore *store);

/**
 * record_store_get() - the value of a key
 * @key_size:  1 to STORAGE_KEY_BYTES_MAX bytes, UTF-8, no NUL
 * @ret_json:  the value as JSON text exactly as it was set; g_free() it
 * @ret_version: NULL, or a number that stands for this very text and is never 0; for record_store_set_if()
 *
 * Return: 1 when there is one, 0 when there is none (outputs untouched), -EINVAL, -EBADMSG, -ENODEV or
 * another -errno.
 */
int record_store_get(RecordStore *store, const char *key, size_t key_size, char **ret_json, size_t *ret_size,
                uint64_t *ret_version);

/**
 * record_store_set() - keep a value
 * @json: one JSON value of at most STORAGE_VALUE_BYTES_MAX bytes and JSON_DEPTH_MAX levels; surrounding
 * white space is dropped, the rest kept verbatim
 *
 * Durable when it returns. Blocks for one fsync of the file and one of the folder: how often is the caller's to bound.
 *
 * Return: 0; -EINVAL; -EDQUOT over the value, key-count or byte quota; -EBADMSG when the present record is
 * damaged; -ENODEV; another -errno (ENOSPC, EIO, ELOOP). The old value stays on failure.
 */
int record_store_set(
                RecordStore *store, const char *key, size_t key_size, const char *json, size_t json_size);

/**
 * record_store_set_if() - the same, but only while the key still has @version (0: while it is absent)
 *
 * Return: as above, and -ESTALE when somebody else was faster.
 */
int record_store_set_if(RecordStore *store, const char *key, size_t key_size, uint64_t version,
                const char *json, size_t json_size, uint64_t *ret_version);

/**
 * record_store_delete() - forget a key; a damaged record goes too: that is how a person or plugin recovers
 *
 * Return: 1 when it was there, 0 when not, -EINVAL, -ENODEV or another -errno.
 */
int record_store_delete(RecordStore *store, const char *key, size_t key_size);

typedef struct RecordInfo {
        char *key;  /* NULL when the record is damaged beyond telling */
        char *file; /* name in storage-v1 */
        size_t value_bytes;
        bool corrupt;
} RecordInfo;

/** record_store_list() - every record, sorted by key, damaged ones last; RecordInfo items,
 * g_ptr_array_unref() it */
int record_store_list(RecordStore *store, GPtrArray **ret);

typedef struct RecordUsage {
        size_t keys;
        size_t value_bytes; /* bytes of the values as kept */
        size_t corrupt;     /* damaged records; they count as keys */
        size_t keys_max;
        size_t bytes_max;
} RecordUsage;

int record_store_usage(RecordStore *store, RecordUsage *ret);

/**
 * record_store_repair() - take every damaged record out of the way, on a person's order
 *
 * Each is renamed to `damaged-<time>-<name>` beside the folder's records, where it counts for nothing.
 * Return: how many, or -errno.
 */
int record_store_repair(RecordStore *store);

/** record_store_code() - "ok", "invalid", "limit", "corrupt", "io" or "not_available" for a result of the
 * above; "stale" for the one of record_store_set_if() that plugins never see */
const char *record_store_code(int r);
