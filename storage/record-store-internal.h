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
