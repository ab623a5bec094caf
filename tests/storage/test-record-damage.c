/* SPDX-License-Identifier: MIT */
#include "records.h"

/* Records that are not what they should be, links in their place, and writers that die or meet. */

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

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/record-store/G08-ST-02-damaged", test_damaged);
        g_test_add_func("/record-store/ST-02-repair", test_repair);
        g_test_add_func("/record-store/G09-links", test_links);
        g_test_add_func("/record-store/G09-link-folder", test_link_folder);
        g_test_add_func("/record-store/sweep", test_sweep);
        g_test_add_func("/record-store/stuffed-folder", test_stuffed);
        g_test_add_func("/record-store/G11-two-processes", test_two_processes);
        g_test_add_func("/record-store/G10-ST-01-killed-writer", test_killed_writer);
        return g_test_run();
}
