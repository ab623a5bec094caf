/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of a record store, shared by record-store.c and record-write.c. */

#include "storage/record-index.h"
#include "storage/record-store.h"

struct RecordStore {
        int folder;
        bool revoked;
        RecordIndex index;
};
