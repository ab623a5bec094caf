/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/limits.h"
#include "storage/trust-state.h"

static void erased_free(void *data) {
        TrustErased *erased = data;

        g_free(erased->path);
        g_free(erased->erased_path);
        g_free(erased->erased_sha256);
        g_free(erased);
}

static void receipt_free(void *data) {
        trust_receipt_free(data);
}

TrustReceipt *trust_receipt_new(
                const char *content_hash, const char *capability_hash, const char *const *capabilities,
                int64_t reviewed_at, const char *confirmed_by) {
        TrustReceipt *receipt = g_new0(TrustReceipt, 1);

        receipt->content_hash = g_strdup(content_hash);
        receipt->capability_hash = g_strdup(capability_hash);
        receipt->capabilities = g_strdupv((char **) capabilities);
        receipt->reviewed_at = reviewed_at;
        receipt->confirmed_by = g_strdup(confirmed_by);
        receipt->erased = g_ptr_array_new_with_free_func(erased_free);
        return receipt;
}

void trust_receipt_add_erased(
                TrustReceipt *receipt, const char *path, const char *erased_path, const char *erased_sha256) {
        TrustErased *erased = g_new0(TrustErased, 1);

        erased->path = g_strdup(path);
        erased->erased_path = g_strdup(erased_path);
        erased->erased_sha256 = g_strdup(erased_sha256);
        g_ptr_array_add(receipt->erased, erased);
}

TrustReceipt *trust_receipt_copy(const TrustReceipt *receipt) {
        TrustReceipt *copy;

        if (!receipt)
                return NULL;

        copy = trust_receipt_new(receipt->content_hash, receipt->capability_hash,
                        (const char *const *) receipt->capabilities, receipt->reviewed_at, receipt->confirmed_by);
        for (size_t i = 0; i < receipt->erased->len; i++) {
                const TrustErased *erased = g_ptr_array_index(receipt->erased, i);

                trust_receipt_add_erased(copy, erased->path, erased->erased_path, erased->erased_sha256);
        }
        return copy;
}

TrustReceipt *trust_receipt_free(TrustReceipt *receipt) {
        if (!receipt)
                return NULL;

        g_free(receipt->content_hash);
        g_free(receipt->capability_hash);
        g_strfreev(receipt->capabilities);
        g_free(receipt->confirmed_by);
        g_ptr_array_unref(receipt->erased);
        g_free(receipt);
        return NULL;
}

static bool erased_equal(const GPtrArray *a, const GPtrArray *b) {
        if (a->len != b->len)
                return false;
        for (size_t i = 0; i < a->len; i++) {
                const TrustErased *one = g_ptr_array_index(a, i), *other = g_ptr_array_index(b, i);

                if (strcmp(one->path, other->path) != 0 || strcmp(one->erased_path, other->erased_path) != 0 ||
                                strcmp(one->erased_sha256, other->erased_sha256) != 0)
                        return false;
        }
        return true;
}

bool trust_receipt_equal(const TrustReceipt *a, const TrustReceipt *b) {
        if (!a || !b)
                return a == b;

        return strcmp(a->content_hash, b->content_hash) == 0 && strcmp(a->capability_hash, b->capability_hash) == 0 &&
                        a->reviewed_at == b->reviewed_at && strcmp(a->confirmed_by, b->confirmed_by) == 0 &&
                        g_strv_equal((const char *const *) a->capabilities, (const char *const *) b->capabilities) &&
                        erased_equal(a->erased, b->erased);
}

TrustRecord *trust_record_new(void) {
        TrustRecord *record = g_new0(TrustRecord, 1);

        record->history = g_ptr_array_new_with_free_func(receipt_free);
        return record;
}

TrustRecord *trust_record_copy(const TrustRecord *record) {
        TrustRecord *copy = trust_record_new();

        if (!record)
                return copy;

        copy->generation = record->generation;
        copy->enabled = record->enabled;
        copy->trust = trust_receipt_copy(record->trust);
        for (size_t i = 0; i < record->history->len; i++)
                g_ptr_array_add(copy->history, trust_receipt_copy(g_ptr_array_index(record->history, i)));
        return copy;
}

TrustRecord *trust_record_free(TrustRecord *record) {
        if (!record)
                return NULL;

        trust_receipt_free(record->trust);
        g_ptr_array_unref(record->history);
        g_free(record);
        return NULL;
}

bool trust_record_equal(const TrustRecord *a, const TrustRecord *b) {
        if (!a || !b)
                return a == b;
        if (a->generation != b->generation || a->enabled != b->enabled || a->history->len != b->history->len ||
                        !trust_receipt_equal(a->trust, b->trust))
                return false;
        for (size_t i = 0; i < a->history->len; i++)
                if (!trust_receipt_equal(g_ptr_array_index(a->history, i), g_ptr_array_index(b->history, i)))
                        return false;
        return true;
}

void trust_record_give(TrustRecord *record, TrustReceipt *receipt) {
        assert(receipt);

        trust_receipt_free(record->trust);
        record->trust = receipt;
        while (record->history->len >= RECEIPTS_MAX)
                g_ptr_array_remove_index(record->history, 0);
        g_ptr_array_add(record->history, trust_receipt_copy(receipt));
}
