/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "storage/record-store-internal.h"

#define FOLDER "storage-v1"

/* Temporary files of a writer that lives must stay. Every open store holds a shared lock on the folder, so
 * whoever gets the exclusive one is alone, and what is left there is left for good. The lock ends with the
 * process, however that ends. */
static int sweep_if_alone(int folder) {
        int r = 0;

        if (flock(folder, LOCK_EX | LOCK_NB) == 0)
                r = safe_sweep_pending(folder);
        if (r < 0)
                return r;

        return flock(folder, LOCK_SH | LOCK_NB) < 0 && errno != EWOULDBLOCK ? -errno : 0;
}

int record_store_open(int directory, RecordStore **ret) {
        g_autoptr(RecordStore) store = g_new0(RecordStore, 1);
        int r;

        store->folder = safe_make_directory_at(directory, FOLDER, 0700);
        record_index_init(&store->index, store->folder);
        if (store->folder < 0)
                return store->folder;

        r = sweep_if_alone(store->folder);
        if (r >= 0)
                r = record_index_refresh(&store->index);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&store);
        return 0;
}

RecordStore *record_store_free(RecordStore *store) {
        if (!store)
                return NULL;

        record_index_done(&store->index);
        close_fd(&store->folder);
        g_free(store);
        return NULL;
}

void record_store_revoke(RecordStore *store) {
        store->revoked = true;
}

/* The text itself decides, so the number is the same after a restart and for every process. */
static uint64_t version_of(const char *value, size_t size) {
        g_autofree char *hash = sha256_hex(value, size);
        uint64_t version;

        hash[16] = '\0';
        version = g_ascii_strtoull(hash, NULL, 16);
        return version == 0 ? 1 : version;
}

int record_store_get(RecordStore *store, const char *key, size_t key_size, char **ret_json, size_t *ret_size,
                uint64_t *ret_version) {
        g_autofree char *value = NULL;
        char name[RECORD_NAME_CHARS + 1];
        size_t size;
        int r;

        if (store->revoked)
                return -ENODEV;
        if (record_key_check(key, key_size) < 0)
                return -EINVAL;

        record_file_name(key, key_size, name);
        r = record_read(store->folder, name, NULL, &value, &size);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;

        if (ret_version)
                *ret_version = version_of(value, size);
        if (ret_size)
                *ret_size = size;
        *ret_json = g_steal_pointer(&value);
        return 1;
}

int record_store_set_if(RecordStore *store, const char *key, size_t key_size, uint64_t version,
                const char *json, size_t json_size, uint64_t *ret_version) {
        g_autofree char *old = NULL;
        const char *value;
        uint64_t now = 0;
        size_t size;
        int r;

        r = record_store_get(store, key, key_size, &old, NULL, &now);
        if (r < 0)
                return r;
        if (now != version)
                return -ESTALE;

        r = record_value_check(json, json_size, &value, &size);
        if (r < 0)
                return r;
        now = version_of(value, size);
        r = record_store_set(store, key, key_size, json, json_size);
        if (r < 0)
                return r;
        if (ret_version)
                *ret_version = now;
        return 0;
}

int record_store_delete(RecordStore *store, const char *key, size_t key_size) {
        char name[RECORD_NAME_CHARS + 1];
        RecordEntry *entry;
        int r;

        if (store->revoked)
                return -ENODEV;
        if (record_key_check(key, key_size) < 0)
                return -EINVAL;
        record_file_name(key, key_size, name);

        r = record_index_refresh(&store->index);
        if (r < 0)
                return r;
        r = safe_unlink_at(store->folder, name);
        (void) record_index_update(&store->index, name, &entry);
        record_index_touch(&store->index);
        if (r == -ENOENT)
                return 0;
        return r < 0 ? r : 1;
}

static void info_free(void *data) {
        RecordInfo *info = data;

        g_free(info->key);
        g_free(info->file);
        g_free(info);
}

static int compare_infos(const void *a, const void *b) {
        const RecordInfo *left = *(RecordInfo *const *) a, *right = *(RecordInfo *const *) b;

        if (left->corrupt != right->corrupt)
                return left->corrupt - right->corrupt;
        return strcmp(left->key ? left->key : left->file, right->key ? right->key : right->file);
}

int record_store_list(RecordStore *store, GPtrArray **ret) {
        g_autoptr(GPtrArray) infos = g_ptr_array_new_with_free_func(info_free);
        GHashTableIter iter;
        void *value;
        int r;

        if (store->revoked)
                return -ENODEV;
        r = record_index_refresh(&store->index);
        if (r < 0)
                return r;

        g_hash_table_iter_init(&iter, store->index.entries);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const RecordEntry *entry = value;
                RecordInfo *info = g_new0(RecordInfo, 1);

                info->key = g_strdup(entry->key);
                info->file = g_strdup(entry->name);
                info->value_bytes = entry->value_bytes;
                info->corrupt = entry->corrupt;
                g_ptr_array_add(infos, info);
        }
        g_ptr_array_sort(infos, compare_infos);
        *ret = g_steal_pointer(&infos);
        return 0;
}

int record_store_usage(RecordStore *store, RecordUsage *ret) {
        RecordUsage usage = { .keys_max = STORAGE_OWNER_KEYS_MAX, .bytes_max = STORAGE_OWNER_BYTES_MAX };
        GHashTableIter iter;
        void *value;
        int r;

        if (store->revoked)
                return -ENODEV;
        r = record_index_refresh(&store->index);
        if (r < 0)
                return r;

        usage.keys = record_index_keys(&store->index);
        usage.value_bytes = store->index.value_bytes;
        g_hash_table_iter_init(&iter, store->index.entries);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                usage.corrupt += ((const RecordEntry *) value)->corrupt;
        *ret = usage;
        return 0;
}

static int set_aside(RecordStore *store, const char *name) {
        g_autofree char *aside = g_strdup_printf("damaged-%" G_GINT64_FORMAT "-%s", g_get_real_time(), name);

        return renameat(store->folder, name, store->folder, aside) < 0 ? -errno : 0;
}

int record_store_repair(RecordStore *store) {
        g_autoptr(GPtrArray) infos = NULL;
        RecordEntry *entry;
        int repaired = 0, r;

        r = record_store_list(store, &infos);
        for (guint i = 0; r >= 0 && i < infos->len; i++) {
                const RecordInfo *info = infos->pdata[i];

                if (!info->corrupt)
                        continue;
                r = set_aside(store, info->file);
                if (r >= 0)
                        r = record_index_update(&store->index, info->file, &entry);
                repaired += r >= 0;
        }
        if (r < 0)
                return r;
        if (repaired > 0 && fsync(store->folder) < 0)
                return -errno;

        record_index_touch(&store->index);
        return repaired;
}

const char *record_store_code(int r) {
        if (r >= 0)
                return "ok";

        switch (r) {
        case -EINVAL:
                return "invalid";
        case -EDQUOT:
                return "limit";
        case -EBADMSG:
                return "corrupt";
        case -ENODEV:
                return "not_available";
        case -ESTALE:
                return "stale";
        default:
                return "io";
        }
}
