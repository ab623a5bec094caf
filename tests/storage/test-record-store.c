/* SPDX-License-Identifier: MIT */
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

static RecordStore *open_store(const Scratch *scratch) {
        RecordStore *store = NULL;

        g_assert_cmpint(record_store_open(scratch->fd, &store), ==, 0);
        return store;
}

static int set(RecordStore *store, const char *key, const char *json) {
        return record_store_set(store, key, strlen(key), json, strlen(json));
}

static int delete_key(RecordStore *store, const char *key) {
        return record_store_delete(store, key, strlen(key));
}

static void expect(RecordStore *store, const char *key, const char *json) {
        g_autofree char *value = NULL;
        size_t size = 0;

        g_assert_cmpint(record_store_get(store, key, strlen(key), &value, &size, NULL), ==, json ? 1 : 0);
        g_assert_cmpstr(value, ==, json);
        g_assert_cmpuint(size, ==, json ? strlen(json) : 0);
}

static char *file_of(const char *key) {
        g_autofree char *hash = sha256_hex(key, strlen(key));

        return g_strdup_printf("storage-v1/%s.json", hash);
}

static void expect_usage(RecordStore *store, size_t keys, size_t bytes, size_t corrupt) {
        RecordUsage usage;

        g_assert_cmpint(record_store_usage(store, &usage), ==, 0);
        g_assert_cmpuint(usage.keys, ==, keys);
        g_assert_cmpuint(usage.value_bytes, ==, bytes);
        g_assert_cmpuint(usage.corrupt, ==, corrupt);
        g_assert_cmpuint(usage.keys_max, ==, 1024);
        g_assert_cmpuint(usage.bytes_max, ==, 4 * 1024 * 1024);
}

static size_t count_files(const Scratch *scratch, const char *prefix) {
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

/* G07: an owner that is going gets nothing more, also for a write that was prepared before. */
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
        g_assert_cmpint(record_store_usage(store, &usage), ==, -ENODEV);
        g_assert_cmpint(record_store_list(store, &infos), ==, -ENODEV);
        g_assert_cmpint(record_store_repair(store), ==, -ENODEV);
}

/* G08, ST-02: whatever is wrong with a record, it is said, never overwritten, and gone after a delete. */
static void test_damaged(void) {
        static const char *const damages[] = {
                "",
                "\n",
                "{\"version\":1,\"key\":\"k\",\"value\":1}",
                "{\"version\":1,\"key\":\"k\",\"value\":1",
                "{\"version\":2,\"key\":\"k\",\"value\":1}\n",
                "{\"version\":1,\"key\":\"other\",\"value\":1}\n",
                "{\"version\":1,\"value\":1}\n",
                "{\"version\":1,\"key\":\"k\"}\n",
                "[]\n",
                "not json\n",
                "{\"version\":1,\"key\":\"k\",\"value\":1,\"more\":2}\n",
                "{\"version\":1,\"key\":5,\"value\":1}\n",
        };
        g_autofree char *file = file_of("k");

        for (size_t i = 0; i < G_N_ELEMENTS(damages); i++)
                for (unsigned running = 0; running < 2; running++) {
                        g_auto(Scratch) scratch = {};
                        g_autoptr(RecordStore) store = NULL;
                        g_autofree char *value = NULL, *left = NULL;

                        g_test_message("%s", damages[i]);
                        scratch_init(&scratch);
                        store = open_store(&scratch);
                        g_assert_cmpint(set(store, "fine", "1"), ==, 0);
                        g_assert_cmpint(set(store, "k",
                                                        "{\"text\":\"some value of our own that was fine "
                                                        "before\"}"),
                                        ==, 0);
                        if (!running)
                                store = record_store_free(store);
                        scratch_write(&scratch, file, damages[i], strlen(damages[i]));
                        if (!running)
                                store = open_store(&scratch);

                        g_assert_cmpint(record_store_get(store, "k", 1, &value, NULL, NULL), ==, -EBADMSG);
                        g_assert_cmpint(set(store, "k", "2"), ==, -EBADMSG);
                        left = scratch_read(&scratch, file);
                        g_assert_cmpstr(left, ==, damages[i]);
                        expect(store, "fine", "1");
                        g_assert_cmpint(set(store, "fine", "2"), ==, 0);
                        expect_usage(store, 2, 1, 1);
                        g_assert_cmpint(delete_key(store, "k"), ==, 1);
                        g_assert_cmpint(set(store, "k", "3"), ==, 0);
                        expect(store, "k", "3");
                }
}

static void test_repair(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autoptr(GPtrArray) infos = NULL;
        g_autofree char *file = file_of("k");

        scratch_init(&scratch);
        store = open_store(&scratch);
        g_assert_cmpint(record_store_repair(store), ==, 0);
        g_assert_cmpint(set(store, "k", "1"), ==, 0);
        g_assert_cmpint(set(store, "fine", "1"), ==, 0);
        scratch_write(&scratch, file, "broken", 6);
        g_assert_cmpint(set(store, "k", "2"), ==, -EBADMSG);
        g_assert_cmpint(record_store_list(store, &infos), ==, 0);
        g_assert_cmpstr(((RecordInfo *) infos->pdata[0])->key, ==, "fine");
        g_assert_true(((RecordInfo *) infos->pdata[1])->corrupt);
        g_assert_cmpint(record_store_repair(store), ==, 1);
        g_assert_cmpuint(count_files(&scratch, "damaged-"), ==, 1);
        expect_usage(store, 1, 1, 0);
        g_assert_cmpint(set(store, "k", "2"), ==, 0);
        g_assert_cmpint(record_store_repair(store), ==, 0);
}

/* G09: links are refused and what they lead to stays as it is. */
static void test_links(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        static const char record[] = "{\"version\":1,\"key\":\"k\",\"value\":1}\n";
        g_autofree char *file = file_of("k"), *hard = file_of("h"), *value = NULL, *target = NULL;

        scratch_init(&scratch);
        store = open_store(&scratch);
        scratch_write(&scratch, "target", record, strlen(record));
        g_assert_cmpint(symlinkat("../target", scratch.fd, file), ==, 0);
        g_assert_cmpint(record_store_get(store, "k", 1, &value, NULL, NULL), ==, -EBADMSG);
        g_assert_cmpint(set(store, "k", "2"), ==, -EBADMSG);
        g_assert_cmpint(delete_key(store, "k"), ==, 1);
        target = scratch_read(&scratch, "target");
        g_assert_cmpstr(target, ==, record);

        g_assert_cmpint(set(store, "h", "1"), ==, 0);
        g_assert_cmpint(linkat(scratch.fd, hard, scratch.fd, "second-name", 0), ==, 0);
        g_assert_cmpint(record_store_get(store, "h", 1, &value, NULL, NULL), ==, -EBADMSG);
}

static void test_link_folder(void) {
        g_auto(Scratch) scratch = {};
        RecordStore *store = NULL;
        int r;

        scratch_init(&scratch);
        g_assert_cmpint(mkdirat(scratch.fd, "elsewhere", 0700), ==, 0);
        g_assert_cmpint(symlinkat("elsewhere", scratch.fd, "storage-v1"), ==, 0);
        /* With O_DIRECTORY the kernel may call a link no directory before it calls it a link. */
        r = record_store_open(scratch.fd, &store);
        g_assert_true(r == -ENOTDIR || r == -ELOOP);
        g_assert_null(store);

        g_assert_cmpint(unlinkat(scratch.fd, "storage-v1", 0), ==, 0);
        scratch_write(&scratch, "storage-v1", "x", 1);
        g_assert_cmpint(record_store_open(scratch.fd, &store), ==, -ENOTDIR);
}

static void test_sweep(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;

        scratch_init(&scratch);
        g_assert_cmpint(mkdirat(scratch.fd, "storage-v1", 0700), ==, 0);
        scratch_write(&scratch, "storage-v1/.pending-0123456789abcdef", "half", 4);
        scratch_write(&scratch, "storage-v1/readme.txt", "not ours", 8);
        store = open_store(&scratch);
        g_assert_cmpuint(count_files(&scratch, ".pending-"), ==, 0);
        g_assert_cmpuint(count_files(&scratch, "readme"), ==, 1);
        expect_usage(store, 0, 0, 0);
}

/* A folder that somebody stuffed is neither read to the end nor written to. */
static void test_stuffed(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;

        scratch_init(&scratch);
        g_assert_cmpint(mkdirat(scratch.fd, "storage-v1", 0700), ==, 0);
        for (unsigned i = 0; i < 2500; i++) {
                g_autofree char *key = g_strdup_printf("k%u", i), *file = file_of(key);
                g_autofree char *text = g_strdup_printf("{\"version\":1,\"key\":\"%s\",\"value\":1}\n", key);

                scratch_write(&scratch, file, text, strlen(text));
        }
        store = open_store(&scratch);
        g_assert_cmpint(set(store, "new", "1"), ==, -EDQUOT);
        expect(store, "k2499", "1");
        g_assert_cmpint(delete_key(store, "k2499"), ==, 1);
        expect(store, "k2499", NULL);
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

/* A set in three steps holds its room and its key until it is finished. */
static void test_steps(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *value = text_value(128 * 1024);
        RecordWrite *writes[32], *more;
        int r;

        scratch_init(&scratch);
        store = open_store(&scratch);
        for (size_t i = 0; i < G_N_ELEMENTS(writes); i++) {
                g_autofree char *key = g_strdup_printf("k%zu", i);

                g_assert_cmpint(record_write_prepare(
                                                store, key, strlen(key), value, strlen(value), &writes[i]),
                                ==, 0);
        }
        g_assert_cmpint(record_write_prepare(store, "k0", 2, "1", 1, &more), ==, -EBUSY);
        g_assert_cmpint(delete_key(store, "k0"), ==, -EBUSY);
        g_assert_cmpint(record_write_prepare(store, "more", 4, "1", 1, &more), ==, -EDQUOT);

        g_assert_cmpint(record_write_finish(store, writes[0], -EIO), ==, -EIO);
        g_assert_cmpint(record_write_prepare(store, "more", 4, "1", 1, &more), ==, 0);
        r = record_write_run(more);
        g_assert_cmpint(record_write_finish(store, more, r), ==, 0);
        for (size_t i = 1; i < G_N_ELEMENTS(writes); i++) {
                r = record_write_run(writes[i]);
                g_assert_cmpint(record_write_finish(store, writes[i], r), ==, 0);
        }
        expect(store, "k0", NULL);
        expect(store, "k31", value);
        expect_usage(store, 32, 31 * 128 * 1024 + 1, 0);
}

static void child_sets(const Scratch *scratch, const char *own, unsigned rounds) {
        g_autoptr(RecordStore) store = open_store(scratch);

        for (unsigned i = 0; i < rounds; i++) {
                g_autofree char *json = g_strdup_printf("{\"who\":\"%s\",\"i\":%u}", own, i);

                g_assert_cmpint(set(store, own, json), ==, 0);
                g_assert_cmpint(set(store, "shared", json), ==, 0);
        }
}

/* G11: two processes; their own keys both survive, the shared one is always one complete record. */
static void test_two_processes(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *shared = NULL;
        pid_t pids[2];

        scratch_init(&scratch);
        store = open_store(&scratch);
        for (size_t i = 0; i < G_N_ELEMENTS(pids); i++) {
                pids[i] = fork();
                if (pids[i] == 0) {
                        child_sets(&scratch, i == 0 ? "left" : "right", 100);
                        _exit(0);
                }
        }
        for (unsigned i = 0; i < 200; i++) {
                g_autofree char *value = NULL;

                g_assert_cmpint(record_store_get(store, "shared", 6, &value, NULL, NULL), >=, 0);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(pids); i++) {
                int status;

                g_assert_cmpint(waitpid(pids[i], &status, 0), ==, pids[i]);
                g_assert_cmpint(status, ==, 0);
        }
        expect(store, "left", "{\"who\":\"left\",\"i\":99}");
        expect(store, "right", "{\"who\":\"right\",\"i\":99}");
        g_assert_cmpint(record_store_get(store, "shared", 6, &shared, NULL, NULL), ==, 1);
        g_assert_true(g_str_has_suffix(shared, ",\"i\":99}"));
        g_assert_cmpint(set(store, "third", "1"), ==, 0);
        expect_usage(store, 4,
                        strlen("{\"who\":\"left\",\"i\":99}") + strlen("{\"who\":\"right\",\"i\":99}") +
                                        strlen(shared) + 1,
                        0);
}

/* G10, ST-01: a writer that is killed at any moment leaves a value that was set, and no temporary file for
 * the next. */
static void test_killed_writer(void) {
        GRand *random = g_rand_new_with_seed(42);

        for (unsigned round = 0; round < 25; round++) {
                g_auto(Scratch) scratch = {};
                g_autoptr(RecordStore) store = NULL;
                g_autofree char *value = NULL;
                pid_t pid;

                scratch_init(&scratch);
                store = open_store(&scratch);
                g_assert_cmpint(set(store, "own", "\"before\""), ==, 0);
                g_assert_cmpint(set(store, "shared", "\"before\""), ==, 0);
                store = record_store_free(store);
                pid = fork();
                if (pid == 0) {
                        child_sets(&scratch, "own", 100000);
                        _exit(0);
                }
                g_usleep((gulong) g_rand_int_range(random, 0, 20000));
                g_assert_cmpint(kill(pid, SIGKILL), ==, 0);
                g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);

                store = open_store(&scratch);
                g_assert_cmpuint(count_files(&scratch, ".pending-"), ==, 0);
                g_assert_cmpint(record_store_get(store, "own", 3, &value, NULL, NULL), ==, 1);
                g_assert_true(strcmp(value, "\"before\"") == 0 ||
                                g_str_has_prefix(value, "{\"who\":\"own\",\"i\":"));
                g_assert_cmpint(set(store, "own", "\"after\""), ==, 0);
                expect(store, "own", "\"after\"");
        }
        g_rand_free(random);
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
        g_test_add_func("/record-store/G08-ST-02-damaged", test_damaged);
        g_test_add_func("/record-store/ST-02-repair", test_repair);
        g_test_add_func("/record-store/G09-links", test_links);
        g_test_add_func("/record-store/G09-link-folder", test_link_folder);
        g_test_add_func("/record-store/sweep", test_sweep);
        g_test_add_func("/record-store/stuffed-folder", test_stuffed);
        g_test_add_func("/record-store/compare-and-set", test_compare_and_set);
        g_test_add_func("/record-store/set-in-steps", test_steps);
        g_test_add_func("/record-store/G11-two-processes", test_two_processes);
        g_test_add_func("/record-store/G10-ST-01-killed-writer", test_killed_writer);
        g_test_add_func("/record-store/codes", test_codes);
        return g_test_run();
}
