/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "storage/record-store-internal.h"

struct RecordWrite {
        int folder;
        int own_folder; /* the store may go while a worker writes; negative for a write that is over at once
                         */
        char name[RECORD_NAME_CHARS + 1];
        char *key;
        char *data;
        size_t size;
        size_t value_size;
        size_t reserved_bytes;
        size_t reserved_keys;
};

static RecordWrite *record_write_free(RecordWrite *write) {
        if (!write)
                return NULL;

        close_fd(&write->own_folder);
        g_free(write->key);
        g_free(write->data);
        g_free(write);
        return NULL;
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecordWrite, record_write_free)

/* Looks whether the quota has room and takes it. What makes a record smaller always fits. */
static int reserve(RecordStore *store, RecordWrite *write, const RecordEntry *old, size_t value_size) {
        size_t old_size = old ? old->value_bytes : 0;
        size_t more = value_size > old_size ? value_size - old_size : 0;

        if (!old && record_index_keys(&store->index) + store->reserved_keys + 1 > STORAGE_OWNER_KEYS_MAX)
                return -EDQUOT;
        if (more > 0 && store->index.value_bytes + store->reserved_bytes + more > STORAGE_OWNER_BYTES_MAX)
                return -EDQUOT;

        write->reserved_bytes = more;
        write->reserved_keys = !old;
        store->reserved_bytes += write->reserved_bytes;
        store->reserved_keys += write->reserved_keys;
        return 0;
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

int record_write_begin(RecordStore *store, const char *key, size_t key_size, const char *json,
                size_t json_size, RecordWrite **ret) {
        g_autoptr(RecordWrite) write = NULL;
        size_t value_size = 0;
        const char *value = NULL;
        RecordEntry *old;
        int r;

        if (store->revoked)
                return -ENODEV;
        if (record_key_check(key, key_size) < 0)
                return -EINVAL;
        r = record_value_check(json, json_size, &value, &value_size);
        if (r < 0)
                return r;

        write = g_new0(RecordWrite, 1);
        write->folder = store->folder;
        write->own_folder = -EBADF;
        record_file_name(key, key_size, write->name);
        if (g_hash_table_contains(store->busy, write->name))
                return -EBUSY;
        r = look_at_old(store, write->name, &old);
        if (r < 0)
                return r;

        write->key = g_strndup(key, key_size);
        write->value_size = value_size;
        write->data = record_encode(key, key_size, value, value_size, &write->size);
        r = reserve(store, write, old, value_size);
        if (r < 0)
                return r;

        g_hash_table_add(store->busy, g_strdup(write->name));
        *ret = g_steal_pointer(&write);
        return 0;
}

int record_write_prepare(RecordStore *store, const char *key, size_t key_size, const char *json,
                size_t json_size, RecordWrite **ret) {
        _cleanup_close_ int folder = fcntl(store->folder, F_DUPFD_CLOEXEC, 3);
        RecordWrite *write;
        int r;

        if (folder < 0)
                return -errno;
        r = record_write_begin(store, key, key_size, json, json_size, &write);
        if (r < 0)
                return r;

        write->folder = write->own_folder = steal_fd(&folder);
        *ret = write;
        return 0;
}

int record_write_run(const RecordWrite *write) {
        return safe_replace_at(write->folder, write->name, write->data, write->size, 0600);
}

int record_write_finish(RecordStore *store, RecordWrite *write, int result) {
        g_autoptr(RecordWrite) done = write;
        RecordEntry *entry;

        store->reserved_bytes -= done->reserved_bytes;
        store->reserved_keys -= done->reserved_keys;
        g_hash_table_remove(store->busy, done->name);

        /* After a failure the disk knows better than we do whether the rename happened. */
        if (result < 0)
                (void) record_index_update(&store->index, done->name, &entry);
        else
                record_index_wrote(&store->index, done->name, done->key, done->value_size, done->size);
        record_index_touch(&store->index);
        return result < 0 ? result : 0;
}
