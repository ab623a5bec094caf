/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of a record store, shared by record-store.c and record-write.c. */

#include "storage/record-index.h"
#include "storage/record-store.h"

struct RecordStore {
        int folder;
        bool revoked;
        RecordIndex index;
        GHashTable *busy; /* file names with a write under way */
        size_t reserved_bytes;
        size_t reserved_keys;
};

/** record_write_begin() - record_write_prepare() for a write that ends before the store does */
int record_write_begin(RecordStore *store, const char *key, size_t key_size, const char *json,
                size_t json_size, RecordWrite **ret);
