/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "storage/record-store-internal.h"

/* Whether the quota has room for it. What makes a record smaller always fits. */
static int check_quota(const RecordStore *store, const RecordEntry *old, size_t value_size) {
        size_t old_size = old ? old->value_bytes : 0;
        size_t more = value_size > old_size ? value_size - old_size : 0;

        if (!old && record_index_keys(&store->index) + 1 > STORAGE_OWNER_KEYS_MAX)
                return -EDQUOT;
        return more > 0 && store->index.value_bytes + more > STORAGE_OWNER_BYTES_MAX ? -EDQUOT : 0;
}

static int look_at_old(RecordStore *store, const char *name, RecordEntry **ret) {
        int r;

        r = record_index_refresh(&store->index);
        if (r >= 0)
                r = record_index_update(&store->index, name, ret);
        if (r < 0)
                return r;
        if (r == 0)
                *ret = NULL;
        return *ret && (*ret)->corrupt ? -EBADMSG : 0;
}

static int replace(RecordStore *store, const char *name, const char *key, size_t key_size, const char *value, size_t value_size) {
        g_autofree char *text = g_strndup(key, key_size), *data = NULL;
        RecordEntry *entry;
        size_t size;
        int r;

        data = record_encode(key, key_size, value, value_size, &size);
        r = safe_replace_at(store->folder, name, data, size, 0600);
        /* After a failure the disk knows better than we do whether the rename happened. */
        if (r < 0)
                (void) record_index_update(&store->index, name, &entry);
        else
                record_index_wrote(&store->index, name, text, value_size, size);
        record_index_touch(&store->index);
        return r < 0 ? r : 0;
}

int record_store_set(
                RecordStore *store, const char *key, size_t key_size, const char *json, size_t json_size) {
        char name[RECORD_NAME_CHARS + 1];
        const char *value = NULL;
        size_t value_size = 0;
        RecordEntry *old;
        int r;

        if (store->revoked)
                return -ENODEV;
        if (record_key_check(key, key_size) < 0)
                return -EINVAL;
        r = record_value_check(json, json_size, &value, &value_size);
        if (r < 0)
                return r;

        record_file_name(key, key_size, name);
        r = look_at_old(store, name, &old);
        if (r >= 0)
                r = check_quota(store, old, value_size);
        if (r < 0)
                return r;
        return replace(store, name, key, key_size, value, value_size);
}
