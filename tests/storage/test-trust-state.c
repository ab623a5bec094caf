/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "storage/trust-format.h"
#include "storage/trust-state.h"

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define RECEIPT                                                                                                     \
        "{\"content_hash\":\"" HASH_A "\",\"capability_hash\":\"" HASH_B "\",\"reviewed_capabilities\":[\"native\"]," \
        "\"reviewed_at\":7,\"confirmed_by\":\"token\"}"
#define RECORD "{\"generation\":3,\"enabled\":true,\"trust\":" RECEIPT ",\"review_history\":[" RECEIPT "]}"
#define STATE "{\"schema_version\":1,\"plugins\":{\"user/0123456789ab/x\":" RECORD "}}"
#define ID "user/0123456789ab/x"

typedef struct Place {
        char *folder, *plugins, *file;
} Place;

static void place_init(Place *place) {
        place->folder = g_dir_make_tmp("codewhale-test-XXXXXX", NULL);
        place->plugins = g_build_filename(place->folder, "plugins", NULL);
        place->file = g_build_filename(place->plugins, TRUST_STATE_FILE, NULL);
        g_assert_cmpint(g_mkdir(place->plugins, 0700), ==, 0);
}

static void place_done(Place *place) {
        _cleanup_close_ int parent = safe_open_directory(g_get_tmp_dir());
        g_autofree char *name = g_path_get_basename(place->folder);

        g_assert_cmpint(safe_remove_tree_at(parent, name), ==, 0);
        g_free(place->folder);
        g_free(place->plugins);
        g_free(place->file);
}

static void put(const Place *place, const char *text, mode_t mode) {
        _cleanup_close_ int fd = open(place->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        g_assert_cmpint(write(fd, text, strlen(text)), ==, (ssize_t) strlen(text));
        g_assert_cmpint(fchmod(fd, mode), ==, 0);
}

static char *get(const Place *place) {
        char *text = NULL;

        return g_file_get_contents(place->file, &text, NULL, NULL) ? text : NULL;
}

static void test_round_trip(void) {
        g_autoptr(TrustReceipt) receipt = NULL;
        g_autoptr(TrustRecord) record = trust_record_new();
        g_autoptr(TrustState) state = NULL, other = NULL;
        const char *const names[] = { "native", "skills", NULL };
        const TrustRecord *read;
        struct stat status;
        Place place;

        place_init(&place);
        state = trust_state_new(place.plugins);
        g_assert_cmpint(trust_state_refresh(state, NULL), ==, 1);
        g_assert_cmpint(trust_state_refresh(state, NULL), ==, 0);
        g_assert_null(trust_state_get(state, ID));
        g_assert_false(g_file_test(place.file, G_FILE_TEST_EXISTS));

        receipt = trust_receipt_new(HASH_A, HASH_B, names, 1234567890, "polkit");
        trust_receipt_add_erased(receipt, "a.mts", ".codewhale-erased/0.mjs", HASH_B);
        trust_record_give(record, trust_receipt_copy(receipt));
        record->enabled = true;
        g_assert_cmpint(trust_state_update(state, ID, NULL, record, NULL), ==, 0);
        g_assert_cmpint(stat(place.file, &status), ==, 0);
        g_assert_cmpuint(status.st_mode & 07777, ==, 0600);

        other = trust_state_new(place.plugins);
        g_assert_cmpint(trust_state_refresh(other, NULL), ==, 1);
        read = trust_state_get(other, ID);
        g_assert_nonnull(read);
        g_assert_cmpuint(read->generation, ==, 1);
        g_assert_true(read->enabled);
        g_assert_true(trust_receipt_equal(read->trust, receipt));
        g_assert_cmpuint(read->history->len, ==, 1);

        /* A write of ours does not look like one of somebody else. */
        g_assert_cmpint(trust_state_refresh(state, NULL), ==, 0);
        g_assert_cmpint(trust_state_remove(other, ID, read, NULL), ==, 0);
        g_assert_cmpint(trust_state_refresh(state, NULL), ==, 1);
        g_assert_null(trust_state_get(state, ID));
        place_done(&place);
}

static void test_generation(void) {
        g_autoptr(TrustState) state = NULL;
        g_autoptr(TrustRecord) wanted = trust_record_new();
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *before = NULL, *after = NULL;
        Place place;

        place_init(&place);
        state = trust_state_new(place.plugins);
        for (uint64_t i = 1; i <= 20; i++) {
                wanted->generation = 7; /* is ignored */
                wanted->enabled = i % 2 == 0;
                g_assert_cmpint(trust_state_update(state, ID, trust_state_get(state, ID), wanted, NULL), ==, 0);
                g_assert_cmpuint(trust_state_get(state, ID)->generation, ==, i);
        }

        put(&place, "{\"schema_version\":1,\"plugins\":{\"" ID "\":{\"generation\":18446744073709551615,\"enabled\":true,"
                    "\"trust\":null,\"review_history\":[]}}}", 0600);
        before = get(&place);
        g_assert_cmpint(trust_state_refresh(state, NULL), ==, 1);
        g_assert_cmpint(trust_state_update(state, ID, trust_state_get(state, ID), wanted, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_LIMIT_EXCEEDED);
        after = get(&place);
        g_assert_cmpstr(before, ==, after);
        place_done(&place);
}

/* Each of these must be refused, enable nothing, and leave the file as it is. */
static void test_broken_text(void) {
        static const char *const texts[] = {
                "", "{", "[]", "null", "{}", STATE "x", "{\"schema_version\":1}",
                "{\"schema_version\":2,\"plugins\":{}}",
                "{\"schema_version\":\"1\",\"plugins\":{}}",
                "{\"schema_version\":1,\"plugins\":[]}",
                "{\"schema_version\":1,\"plugins\":{},\"more\":1}",
                "{\"schema_version\":1,\"plugins\":{},\"plugins\":{}}",
                "{\"schema_version\":1,\"plugins\":{\"\":" RECORD "}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{}}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{\"generation\":0,\"enabled\":true,\"trust\":null,\"review_history\":[]}}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{\"generation\":-1,\"enabled\":true,\"trust\":null,\"review_history\":[]}}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{\"generation\":18446744073709551616,\"enabled\":true,\"trust\":null,\"review_history\":[]}}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{\"generation\":1,\"enabled\":1,\"trust\":null,\"review_history\":[]}}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{\"generation\":1,\"enabled\":true,\"trust\":{},\"review_history\":[]}}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{\"generation\":1,\"enabled\":true,\"review_history\":[]}}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{\"generation\":1,\"enabled\":true,\"trust\":null}}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{\"generation\":1,\"enabled\":true,\"trust\":null,\"review_history\":[],\"k\":0}}}",
                "{\"schema_version\":1,\"plugins\":{\"x\":{\"generation\":1,\"enabled\":true,\"trust\":null,\"review_history\":[1]}}}",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(TrustState) state = NULL;
                g_autoptr(TrustRecord) wanted = trust_record_new();
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL, change = SD_BUS_ERROR_NULL;
                g_autofree char *after = NULL;
                Place place;

                g_test_message("case %zu: %s", i, texts[i]);
                place_init(&place);
                put(&place, texts[i], 0600);
                state = trust_state_new(place.plugins);
                g_assert_cmpint(trust_state_refresh(state, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_STATE_INVALID);
                g_assert_null(trust_state_get(state, "x"));
                g_assert_null(trust_state_get(state, ID));
                g_assert_cmpint(trust_state_update(state, "y", NULL, wanted, &change), <, 0);
                g_assert_cmpstr(change.name, ==, ERROR_STATE_INVALID);
                after = get(&place);
                g_assert_cmpstr(after, ==, texts[i]);
                place_done(&place);
        }
}

static void break_mode(const Place *place) {
        g_assert_cmpint(g_chmod(place->file, 0640), ==, 0);
}

static void break_executable(const Place *place) {
        g_assert_cmpint(g_chmod(place->file, 0700), ==, 0);
}

static void break_link(const Place *place) {
        g_autofree char *real = g_build_filename(place->folder, "real.json", NULL);

        g_assert_cmpint(g_rename(place->file, real), ==, 0);
        g_assert_cmpint(symlink(real, place->file), ==, 0);
}

static void break_second_link(const Place *place) {
        g_autofree char *second = g_build_filename(place->folder, "second.json", NULL);

        g_assert_cmpint(link(place->file, second), ==, 0);
}

static void break_fifo(const Place *place) {
        g_assert_cmpint(g_unlink(place->file), ==, 0);
        g_assert_cmpint(mkfifo(place->file, 0600), ==, 0);
}

static void break_directory(const Place *place) {
        g_assert_cmpint(g_unlink(place->file), ==, 0);
        g_assert_cmpint(g_mkdir(place->file, 0700), ==, 0);
}

static void break_folder_mode(const Place *place) {
        g_assert_cmpint(g_chmod(place->plugins, 0750), ==, 0);
}

static void break_folder_link(const Place *place) {
        g_autofree char *real = g_build_filename(place->folder, "elsewhere", NULL);

        g_assert_cmpint(g_rename(place->plugins, real), ==, 0);
        g_assert_cmpint(symlink(real, place->plugins), ==, 0);
}

static void break_size(const Place *place) {
        g_assert_cmpint(truncate(place->file, (off_t) STATE_FILE_BYTES_MAX + 1), ==, 0);
}

static void test_untrustworthy_file(void) {
        static const struct {
                const char *name;
                void (*break_it)(const Place *place);
        } cases[] = {
                { "mode", break_mode },
                { "executable", break_executable },
                { "link", break_link },
                { "second link", break_second_link },
                { "fifo", break_fifo },
                { "directory", break_directory },
                { "folder open to the group", break_folder_mode },
                { "folder is a link", break_folder_link },
                { "too large", break_size },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(TrustState) state = NULL;
                g_autoptr(TrustRecord) wanted = trust_record_new();
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL, change = SD_BUS_ERROR_NULL;
                struct stat before, after;
                Place place;

                g_test_message("case %s", cases[i].name);
                place_init(&place);
                put(&place, STATE, 0600);
                state = trust_state_new(place.plugins);
                g_assert_cmpint(trust_state_refresh(state, NULL), ==, 1);
                g_assert_nonnull(trust_state_get(state, ID));

                cases[i].break_it(&place);
                g_assert_cmpint(lstat(place.file, &before), ==, 0);
                g_assert_cmpint(trust_state_refresh(state, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_STATE_INVALID);
                g_assert_null(trust_state_get(state, ID));
                g_assert_cmpint(trust_state_update(state, "y", NULL, wanted, &change), <, 0);
                g_assert_cmpstr(change.name, ==, ERROR_STATE_INVALID);
                g_assert_cmpint(lstat(place.file, &after), ==, 0);
                g_assert_cmpuint(before.st_ino, ==, after.st_ino);
                g_assert_cmpint(before.st_size, ==, after.st_size);
                place_done(&place);
        }
}

static void test_repaired(void) {
        g_autoptr(TrustState) state = NULL;
        Place place;

        place_init(&place);
        put(&place, STATE, 0644);
        state = trust_state_new(place.plugins);
        g_assert_cmpint(trust_state_refresh(state, NULL), <, 0);
        g_assert_cmpint(g_chmod(place.file, 0600), ==, 0);
        g_assert_cmpint(trust_state_refresh(state, NULL), ==, 1);
        g_assert_true(trust_state_get(state, ID)->enabled);
        g_assert_cmpint(g_chmod(place.plugins, 0755), ==, 0);
        g_assert_cmpint(trust_state_refresh(state, NULL), <, 0);
        g_assert_cmpint(g_chmod(place.plugins, 0700), ==, 0);
        g_assert_cmpint(trust_state_refresh(state, NULL), ==, 1);
        g_assert_true(trust_state_get(state, ID)->enabled);
        place_done(&place);
}

static void test_stale(void) {
        g_autoptr(TrustState) one = NULL, other = NULL;
        g_autoptr(TrustRecord) wanted = trust_record_new();
        Place place;

        place_init(&place);
        one = trust_state_new(place.plugins);
        other = trust_state_new(place.plugins);
        g_assert_cmpint(trust_state_update(one, ID, NULL, wanted, NULL), ==, 0);
        g_assert_cmpint(trust_state_update(other, ID, NULL, wanted, NULL), ==, -ESTALE);
        g_assert_cmpint(trust_state_refresh(other, NULL), ==, 1); /* what the failed change saw is still news */
        g_assert_cmpint(trust_state_refresh(other, NULL), ==, 0);
        g_assert_cmpuint(trust_state_get(other, ID)->generation, ==, 1);
        g_assert_cmpint(trust_state_update(other, ID, trust_state_get(other, ID), wanted, NULL), ==, 0);
        g_assert_cmpint(trust_state_remove(one, ID, trust_state_get(one, ID), NULL), ==, -ESTALE);
        g_assert_cmpint(trust_state_remove(one, ID, trust_state_get(one, ID), NULL), ==, 0);
        place_done(&place);
}

static void test_busy(void) {
        g_autoptr(TrustState) state = NULL;
        g_autoptr(TrustRecord) wanted = trust_record_new();
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *path = NULL;
        _cleanup_close_ int lock = -EBADF;
        Place place;

        place_init(&place);
        path = g_build_filename(place.plugins, TRUST_STATE_LOCK, NULL);
        lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        g_assert_cmpint(flock(lock, LOCK_EX), ==, 0);
        state = trust_state_new(place.plugins);
        g_assert_cmpint(trust_state_update(state, ID, NULL, wanted, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_BUSY);
        close_fd(&lock);
        g_assert_cmpint(trust_state_update(state, ID, NULL, wanted, NULL), ==, 0);
        place_done(&place);
}

/* Adds one to the generation of each of four plugins as often as asked. */
static void add_generations(const Place *place, unsigned rounds) {
        TrustState *state = trust_state_new(place->plugins);
        TrustRecord *wanted = trust_record_new();

        for (unsigned i = 0; i < rounds; i++) {
                g_autofree char *id = g_strdup_printf("user/0123456789ab/p%u", i % 4);

                for (;;) {
                        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                        int r = trust_state_update(state, id, trust_state_get(state, id), wanted, &error);

                        if (r == 0)
                                break;
                        if (r == -EBUSY)
                                g_usleep(100);
                        else if (r != -ESTALE) {
                                (void) fprintf(stderr, "%d: %s\n", r, error.message);
                                _exit(EXIT_FAILURE);
                        }
                }
        }
        trust_record_free(wanted);
        trust_state_free(state);
        _exit(EXIT_SUCCESS);
}

static void test_two_processes(void) {
        enum { PROCESSES = 3, ROUNDS = 60 };
        g_autoptr(TrustState) state = NULL;
        pid_t children[PROCESSES];
        uint64_t sum = 0;
        Place place;

        place_init(&place);
        for (unsigned i = 0; i < PROCESSES; i++) {
                children[i] = fork();
                g_assert_cmpint(children[i], >=, 0);
                if (children[i] == 0)
                        add_generations(&place, ROUNDS);
        }
        for (unsigned i = 0; i < PROCESSES; i++) {
                int status;

                g_assert_cmpint(waitpid(children[i], &status, 0), ==, children[i]);
                g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
        }
        state = trust_state_new(place.plugins);
        g_assert_cmpint(trust_state_refresh(state, NULL), ==, 1);
        for (unsigned i = 0; i < 4; i++) {
                g_autofree char *id = g_strdup_printf("user/0123456789ab/p%u", i);

                sum += trust_state_get(state, id)->generation;
        }
        g_assert_cmpuint(sum, ==, PROCESSES * ROUNDS);
        place_done(&place);
}

static void test_history(void) {
        g_autoptr(TrustRecord) record = trust_record_new();
        g_autoptr(TrustState) state = NULL;
        const char *const none[] = { NULL };
        const TrustRecord *read;
        Place place;

        place_init(&place);
        for (int64_t i = 0; i < 40; i++)
                trust_record_give(record, trust_receipt_new(HASH_A, HASH_B, none, i, "token"));
        state = trust_state_new(place.plugins);
        g_assert_cmpint(trust_state_update(state, ID, NULL, record, NULL), ==, 0);
        trust_state_free(state);
        state = trust_state_new(place.plugins);
        g_assert_cmpint(trust_state_refresh(state, NULL), ==, 1);
        read = trust_state_get(state, ID);
        g_assert_cmpuint(read->history->len, ==, RECEIPTS_MAX);
        g_assert_cmpint(((TrustReceipt *) g_ptr_array_index(read->history, 0))->reviewed_at, ==, 8);
        g_assert_cmpint(read->trust->reviewed_at, ==, 39);
        place_done(&place);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);

        g_test_add_func("/storage/trust-state/round-trip", test_round_trip);
        g_test_add_func("/storage/trust-state/T07-generation", test_generation);
        g_test_add_func("/storage/trust-state/T08-broken-text", test_broken_text);
        g_test_add_func("/storage/trust-state/T08-untrustworthy-file", test_untrustworthy_file);
        g_test_add_func("/storage/trust-state/T08-repaired", test_repaired);
        g_test_add_func("/storage/trust-state/T09-two-processes", test_two_processes);
        g_test_add_func("/storage/trust-state/T14-history", test_history);
        g_test_add_func("/storage/trust-state/stale", test_stale);
        g_test_add_func("/storage/trust-state/busy", test_busy);
        return g_test_run();
}
