/* SPDX-License-Identifier: MIT */
#pragma once

/* plugins/state.json: what persons decided about each bundle (contract 2.6). Two bits and a receipt a plugin, a generation
 * that only grows, the last receipts as history.
 *
 * A file that can't be trusted - broken, of another owner, open to others, a link - is never overwritten: nothing counts as
 * enabled and every change is refused until a person has looked. Changes are made under a lock, on the record that the
 * caller saw, and are on the disk when the call returns. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#define TRUST_STATE_FILE "state.json"
#define TRUST_STATE_LOCK "state.json.lock"

/* A type-erased module that was made when the bundle was reviewed */
typedef struct TrustErased {
        char *path;          /* of the .mts in the bundle */
        char *erased_path;   /* of the text in the sealed copy */
        char *erased_sha256;
} TrustErased;

typedef struct TrustReceipt {
        char *content_hash;    /* 64 hex */
        char *capability_hash; /* 64 hex */
        char **capabilities;   /* names, as they were reviewed */
        int64_t reviewed_at;   /* seconds since 1970 */
        char *confirmed_by;    /* how the person was asked */
        GPtrArray *erased;     /* of TrustErased; never NULL */
} TrustReceipt;

TrustReceipt *trust_receipt_new(
                const char *content_hash, const char *capability_hash, const char *const *capabilities,
                int64_t reviewed_at, const char *confirmed_by);
TrustReceipt *trust_receipt_copy(const TrustReceipt *receipt);
TrustReceipt *trust_receipt_free(TrustReceipt *receipt);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TrustReceipt, trust_receipt_free)
void trust_receipt_add_erased(
                TrustReceipt *receipt, const char *path, const char *erased_path, const char *erased_sha256);
bool trust_receipt_equal(const TrustReceipt *a, const TrustReceipt *b); /* NULL equals NULL */

typedef struct TrustRecord {
        uint64_t generation; /* at least 1 in the file; 0 stands for "no record" */
        bool enabled;
        TrustReceipt *trust; /* NULL: not trusted */
        GPtrArray *history;  /* of TrustReceipt, oldest first, at most RECEIPTS_MAX; the last one is the newest given */
} TrustRecord;

TrustRecord *trust_record_new(void);
TrustRecord *trust_record_copy(const TrustRecord *record);
TrustRecord *trust_record_free(TrustRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TrustRecord, trust_record_free)
bool trust_record_equal(const TrustRecord *a, const TrustRecord *b);

/** trust_record_give() - store a receipt: it becomes the trust and the end of the history; takes @receipt */
void trust_record_give(TrustRecord *record, TrustReceipt *receipt);

typedef struct TrustState TrustState;

/**
 * trust_state_new() - the state below a directory; reads nothing yet
 * @directory: absolute path of the folder that holds state.json; need not exist
 */
TrustState *trust_state_new(const char *directory);
TrustState *trust_state_free(TrustState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TrustState, trust_state_free)

/**
 * trust_state_refresh() - read the file again if it is another than the one read last
 *
 * One open() and two stat() when nothing changed. Return: 1 when the records may have changed, 0 when they are the same;
 * ERROR_STATE_INVALID when the file can't be trusted (there are no records then); ERROR_IO.
 */
int trust_state_refresh(TrustState *state, sd_bus_error *reterr);

/** trust_state_get() - the record of a plugin as read last; NULL when it has none */
const TrustRecord *trust_state_get(const TrustState *state, const char *plugin_id);

/** trust_state_foreach() - every record as read last, in no order */
void trust_state_foreach(
                const TrustState *state, void (*on_record)(const char *plugin_id, const TrustRecord *record, void *userdata),
                void *userdata);

/**
 * trust_state_update() - change one record
 * @expected: the record that the decision was made on; NULL: there was none
 * @wanted:   the new one, none of ours; its generation is ignored and becomes one more than that of @expected
 *
 * Return: 0; -ESTALE (no error set) when the record in the file is not @expected: look again and decide again;
 * ERROR_BUSY when another process holds the lock right now; ERROR_STATE_INVALID; ERROR_LIMIT_EXCEEDED when the
 * generation or the file would grow over its limit; ERROR_IO. The state file is unchanged then.
 */
int trust_state_update(
                TrustState *state, const char *plugin_id, const TrustRecord *expected, const TrustRecord *wanted,
                sd_bus_error *reterr);

/** trust_state_remove() - take a record out; errors as for trust_state_update(); 0 also when there was none */
int trust_state_remove(TrustState *state, const char *plugin_id, const TrustRecord *expected, sd_bus_error *reterr);
