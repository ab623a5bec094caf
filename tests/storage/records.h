/* SPDX-License-Identifier: MIT */
#pragma once

/* What the tests of records share: opening, setting, and looking at the folder. */

#include <dirent.h>
#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "common/limits.h"
#include "common/sha256.h"
#include "scratch.h"
#include "storage/record-store.h"

static inline RecordStore *open_store(const Scratch *scratch) {
        RecordStore *store = NULL;

        g_assert_cmpint(record_store_open(scratch->fd, &store), ==, 0);
        return store;
}

static inline int set(RecordStore *store, const char *key, const char *json) {
        return record_store_set(store, key, strlen(key), json, strlen(json));
}

static inline int delete_key(RecordStore *store, const char *key) {
        return record_store_delete(store, key, strlen(key));
}

static inline void expect(RecordStore *store, const char *key, const char *json) {
        g_autofree char *value = NULL;
        size_t size = 0;

        g_assert_cmpint(record_store_get(store, key, strlen(key), &value, &size, NULL), ==, json ? 1 : 0);
        g_assert_cmpstr(value, ==, json);
        g_assert_cmpuint(size, ==, json ? strlen(json) : 0);
}

static inline char *file_of(const char *key) {
        g_autofree char *hash = sha256_hex(key, strlen(key));

        return g_strdup_printf("storage-v1/%s.json", hash);
}

static inline void expect_usage(RecordStore *store, size_t keys, size_t bytes, size_t corrupt) {
        RecordUsage usage;

        g_assert_cmpint(record_store_usage(store, &usage), ==, 0);
        g_assert_cmpuint(usage.keys, ==, keys);
        g_assert_cmpuint(usage.value_bytes, ==, bytes);
        g_assert_cmpuint(usage.corrupt, ==, corrupt);
        g_assert_cmpuint(usage.keys_max, ==, 1024);
        g_assert_cmpuint(usage.bytes_max, ==, 4 * 1024 * 1024);
}

static inline size_t count_files(const Scratch *scratch, const char *prefix) {
        g_autofree char *path = g_build_filename(scratch->path, "storage-v1", NULL);
        DIR *stream = opendir(path);
        struct dirent *item;
        size_t count = 0;

        while ((item = readdir(stream)))
                count += item->d_name[0] != '.' ? g_str_has_prefix(item->d_name, prefix)
                                                : *prefix == '.' && g_str_has_prefix(item->d_name, prefix);
        closedir(stream);
        return count;
}
