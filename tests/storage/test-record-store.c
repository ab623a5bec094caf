/* SPDX-License-Identifier: MIT */
#include "records.h"
#include "storage/record-file.h"

/* G01: absent, set, replaced, deleted. G12: what was set is what was given, verbatim. */
static void test_basics(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;

        scratch_init(&scratch);
        store = open_store(&scratch);
        expect(store, "k", NULL);
        g_assert_cmpint(delete_key(store, "k"), ==, 0);
        g_assert_cmpint(set(store, "k", " {\"a\" : 1.0, \"big\":9007199254740993}\n"), ==, 0);
        expect(store, "k", "{\"a\" : 1.0, \"big\":9007199254740993}");
        g_assert_cmpint(set(store, "k", "null"), ==, 0);
        expect(store, "k", "null");
        expect_usage(store, 1, 4, 0);
        g_assert_cmpint(delete_key(store, "k"), ==, 1);
        g_assert_cmpint(delete_key(store, "k"), ==, 0);
        expect(store, "k", NULL);
        expect_usage(store, 0, 0, 0);
}

/* G02: a store opened later has it all. */
static void test_persistence(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) first = NULL, second = NULL;

        scratch_init(&scratch);
        first = open_store(&scratch);
        g_assert_cmpint(set(first, "count", "41"), ==, 0);
        first = record_store_free(first);
        second = open_store(&scratch);
        expect(second, "count", "41");
        expect_usage(second, 1, 2, 0);
}

/* G03: any text is a key and none is a path. */
static void test_keys_are_data(void) {
        static const char *const keys[] = {
                "../x",
                "/etc/passwd",
                "__proto__",
                "constructor",
                ".",
                "..",
                "a/b",
                "x.json",
                " ",
                "\"",
                "é\n",
                "\x01",
                ".pending-x",
        };
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autoptr(GPtrArray) infos = NULL;
        mode_t mask = umask(0);

        scratch_init(&scratch);
        store = open_store(&scratch);
        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                g_autofree char *file = file_of(keys[i]);
                struct stat status;

                g_assert_cmpint(set(store, keys[i], "true"), ==, 0);
                g_assert_cmpint(fstatat(scratch.fd, file, &status, AT_SYMLINK_NOFOLLOW), ==, 0);
                g_assert_cmpint(status.st_mode & 07777, ==, 0600);
                expect(store, keys[i], "true");
        }
        (void) umask(mask);
        g_assert_cmpuint(count_files(&scratch, ""), ==, G_N_ELEMENTS(keys));
        g_assert_cmpint(record_store_list(store, &infos), ==, 0);
        g_assert_cmpuint(infos->len, ==, G_N_ELEMENTS(keys));
        for (guint i = 1; i < infos->len; i++)
                g_assert_cmpstr(((RecordInfo *) infos->pdata[i - 1])->key, <,
                                ((RecordInfo *) infos->pdata[i])->key);
}

/* The format on disk is that of the contract. */
static void test_format(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *file = file_of("k\"1"), *text = NULL;

        scratch_init(&scratch);
        store = open_store(&scratch);
        g_assert_cmpint(set(store, "k\"1", "[1,2]"), ==, 0);
        text = scratch_read(&scratch, file);
        g_assert_cmpstr(text, ==, "{\"version\":1,\"key\":\"k\\\"1\",\"value\":[1,2]}\n");
}

/* G04, G05: what is no key and no value. */
static void test_invalid(void) {
        static const char *const values[] = { "", " ", "undefined", "NaN", "Infinity", "-Infinity", "1n",
                "{a:1}", "[1,]", "1 2", "\"\\ud800\"", "{\"a\":1,\"a\":2}", "'x'", "\"open" };
        static const struct {
                const char *key;
                size_t size;
        } keys[] = { { "", 0 }, { "a\0b", 3 }, { "\xff", 1 }, { NULL, 0 } };
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *value = NULL;

        scratch_init(&scratch);
        store = open_store(&scratch);
        g_assert_cmpint(set(store, "k", "1"), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
                g_test_message("%s", values[i]);
                g_assert_cmpint(set(store, "k", values[i]), ==, -EINVAL);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                g_assert_cmpint(record_store_set(store, keys[i].key, keys[i].size, "1", 1), ==, -EINVAL);
                g_assert_cmpint(record_store_get(store, keys[i].key, keys[i].size, &value, NULL, NULL), ==,
                                -EINVAL);
                g_assert_cmpint(record_store_delete(store, keys[i].key, keys[i].size), ==, -EINVAL);
        }
        g_assert_cmpint(record_store_set(store, "k", 1, NULL, 0), ==, -EINVAL);
        expect(store, "k", "1");
        expect_usage(store, 1, 1, 0);
}

static void test_depth(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *open = g_strnfill(64, '['), *close = g_strnfill(64, ']');
        g_autofree char *edge = g_strconcat(open, close, NULL), *over = g_strconcat("[", edge, "]", NULL);

        scratch_init(&scratch);
        store = open_store(&scratch);
        g_assert_cmpint(set(store, "k", edge), ==, 0);
        expect(store, "k", edge);
        g_assert_cmpint(set(store, "k", over), ==, -EINVAL);
        expect(store, "k", edge);
}

static char *text_value(size_t size) {
        char *value = g_strnfill(size, 'x');

        value[0] = value[size - 1] = '"';
        return value;
}

/* G05, ST-03: the edges of key and value, and usage unchanged by a refusal. */
static void test_sizes(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *key = g_strnfill(128, 'k'), *long_key = g_strnfill(129, 'k');
        g_autofree char *edge = text_value(128 * 1024), *over = text_value(128 * 1024 + 1);
        g_autofree char *huge = text_value(4 * 1024 * 1024);

        scratch_init(&scratch);
        store = open_store(&scratch);
        g_assert_cmpint(set(store, key, edge), ==, 0);
        expect(store, key, edge);
        expect_usage(store, 1, 128 * 1024, 0);
        g_assert_cmpint(set(store, long_key, "1"), ==, -EINVAL);
        g_assert_cmpint(set(store, key, over), ==, -EDQUOT);
        g_assert_cmpint(set(store, key, huge), ==, -EDQUOT);
        expect(store, key, edge);
        expect_usage(store, 1, 128 * 1024, 0);
}

/* G06, ST-03: 1,024 keys; at the limit replacing and deleting go on. */
static void test_key_quota(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL, later = NULL;

        scratch_init(&scratch);
        store = open_store(&scratch);
        for (unsigned i = 0; i < 1024; i++) {
                g_autofree char *key = g_strdup_printf("k%u", i);

                g_assert_cmpint(set(store, key, "1"), ==, 0);
        }
        g_assert_cmpint(set(store, "more", "1"), ==, -EDQUOT);
        expect_usage(store, 1024, 1024, 0);
        g_assert_cmpint(set(store, "k7", "22"), ==, 0);
        later = open_store(&scratch);
        g_assert_cmpint(set(later, "more", "1"), ==, -EDQUOT);
        g_assert_cmpint(delete_key(store, "k7"), ==, 1);
        g_assert_cmpint(set(later, "more", "1"), ==, 0);
        g_assert_cmpint(set(store, "k7", "1"), ==, -EDQUOT);
}

/* G06, ST-03: 4 MiB of values. */
static void test_byte_quota(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *value = text_value(128 * 1024), *smaller = text_value(128 * 1024 - 1);

        scratch_init(&scratch);
        store = open_store(&scratch);
        for (unsigned i = 0; i < 32; i++) {
                g_autofree char *key = g_strdup_printf("k%u", i);

                g_assert_cmpint(set(store, key, value), ==, 0);
        }
        expect_usage(store, 32, 4 * 1024 * 1024, 0);
        g_assert_cmpint(set(store, "one-byte", "1"), ==, -EDQUOT);
        g_assert_cmpint(set(store, "k0", value), ==, 0);
        g_assert_cmpint(set(store, "k0", smaller), ==, 0);
        g_assert_cmpint(set(store, "one-byte", "1"), ==, 0);
        g_assert_cmpint(set(store, "one-byte", "12"), ==, -EDQUOT);
        expect(store, "one-byte", "1");
        expect_usage(store, 33, 4 * 1024 * 1024, 0);
}

/* G07: an owner that is going gets nothing more, whatever of it was still on its way. */
static void test_revoked(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *value = NULL;
        RecordUsage usage;
        GPtrArray *infos;

        scratch_init(&scratch);
        store = open_store(&scratch);
        g_assert_cmpint(set(store, "k", "1"), ==, 0);
        record_store_revoke(store);
        g_assert_cmpint(set(store, "k", "2"), ==, -ENODEV);
        g_assert_cmpint(record_store_get(store, "k", 1, &value, NULL, NULL), ==, -ENODEV);
        g_assert_cmpint(delete_key(store, "k"), ==, -ENODEV);
        g_assert_cmpint(record_store_set_if(store, "k", 1, 0, "2", 1, NULL), ==, -ENODEV);
        g_assert_cmpint(record_store_usage(store, &usage), ==, -ENODEV);
        g_assert_cmpint(record_store_list(store, &infos), ==, -ENODEV);
        g_assert_cmpint(record_store_repair(store), ==, -ENODEV);
        store = record_store_free(store);
        store = open_store(&scratch);
        expect(store, "k", "1");
}

/* Compare and set: only who saw the present text may replace it. */
static void test_compare_and_set(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *value = NULL;
        uint64_t first, second, seen;

        scratch_init(&scratch);
        store = open_store(&scratch);
        g_assert_cmpint(record_store_set_if(store, "k", 1, 0, "1", 1, &first), ==, 0);
        g_assert_cmpint(record_store_set_if(store, "k", 1, 0, "2", 1, &second), ==, -ESTALE);
        g_assert_cmpint(record_store_set_if(store, "k", 1, first, " 2 ", 3, &second), ==, 0);
        g_assert_cmpuint(second, !=, first);
        g_assert_cmpint(record_store_set_if(store, "k", 1, first, "3", 1, NULL), ==, -ESTALE);
        g_assert_cmpint(record_store_get(store, "k", 1, &value, NULL, &seen), ==, 1);
        g_assert_cmpuint(seen, ==, second);
        g_assert_cmpstr(value, ==, "2");
}

/* A write that fails takes no room, and the store goes on. */
static void test_failed_write(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *value = text_value(128 * 1024), *path = NULL;
        char name[RECORD_NAME_CHARS + 1];

        scratch_init(&scratch);
        store = open_store(&scratch);
        for (unsigned i = 0; i < 31; i++) {
                g_autofree char *key = g_strdup_printf("k%u", i);

                g_assert_cmpint(set(store, key, value), ==, 0);
        }
        /* Where the record is to go there is a folder. */
        record_file_name("k31", 3, name);
        path = g_build_filename(scratch.path, "storage-v1", name, NULL);
        g_assert_cmpint(mkdir(path, 0700), ==, 0);
        g_assert_cmpint(set(store, "k31", value), <, 0);
        expect_usage(store, 32, 31 * 128 * 1024, 1);
        g_assert_cmpint(rmdir(path), ==, 0);
        g_assert_cmpint(set(store, "k31", value), ==, 0);
        g_assert_cmpint(set(store, "more", "1"), ==, -EDQUOT);
        expect_usage(store, 32, 32 * 128 * 1024, 0);
}

static void test_codes(void) {
        static const struct {
                int r;
                const char *code;
        } cases[] = {
                { 0, "ok" },
                { 1, "ok" },
                { -EINVAL, "invalid" },
                { -EDQUOT, "limit" },
                { -EBADMSG, "corrupt" },
                { -ENODEV, "not_available" },
                { -ESTALE, "stale" },
                { -ENOSPC, "io" },
                { -EIO, "io" },
                { -ELOOP, "io" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpstr(record_store_code(cases[i].r), ==, cases[i].code);
        g_assert_null(record_store_free(NULL));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/record-store/G01-G12-basics", test_basics);
        g_test_add_func("/record-store/G02-persistence", test_persistence);
        g_test_add_func("/record-store/G03-keys-are-data", test_keys_are_data);
        g_test_add_func("/record-store/format", test_format);
        g_test_add_func("/record-store/G04-G05-invalid", test_invalid);
        g_test_add_func("/record-store/depth", test_depth);
        g_test_add_func("/record-store/G05-ST-03-sizes", test_sizes);
        g_test_add_func("/record-store/G06-ST-03-key-quota", test_key_quota);
        g_test_add_func("/record-store/G06-ST-03-byte-quota", test_byte_quota);
        g_test_add_func("/record-store/G07-revoked", test_revoked);
        g_test_add_func("/record-store/compare-and-set", test_compare_and_set);
        g_test_add_func("/record-store/failed-write", test_failed_write);
        g_test_add_func("/record-store/codes", test_codes);
        return g_test_run();
}
