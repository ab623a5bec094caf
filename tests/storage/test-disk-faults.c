/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "scratch.h"
#include "storage/decision-log.h"
#include "storage/record-store.h"

/* ST-06: the linker calls these instead of the real ones (--wrap). The next call of the chosen kind fails.
 */

typedef enum Fault {
        FAULT_NONE,
        FAULT_WRITE,
        FAULT_SHORT_WRITE,
        FAULT_FSYNC,
        FAULT_FSYNC_FOLDER,
        FAULT_RENAME
} Fault;

static Fault next_fault;
static int fault_errno;
static unsigned fsyncs_before;

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);

static bool fails(Fault fault) {
        if (next_fault != fault)
                return false;
        errno = fault_errno;
        return true;
}

ssize_t __wrap_write(int fd, const void *data, size_t size) {
        if (fails(FAULT_WRITE))
                return -1;
        if (next_fault == FAULT_SHORT_WRITE) {
                /* Half of it, then the disk is full. */
                next_fault = FAULT_WRITE;
                return __real_write(fd, data, size / 2);
        }
        return __real_write(fd, data, size);
}

int __wrap_fsync(int fd) {
        if (fails(FAULT_FSYNC))
                return -1;
        if (next_fault == FAULT_FSYNC_FOLDER && fsyncs_before-- == 0) {
                errno = fault_errno;
                return -1;
        }
        return __real_fsync(fd);
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to) {
        return fails(FAULT_RENAME) ? -1 : __real_renameat(from_fd, from, to_fd, to);
}

static void fault(Fault which, int error) {
        next_fault = which;
        fault_errno = error;
        fsyncs_before = 1;
}

static int set(RecordStore *store, const char *json) {
        return record_store_set(store, "k", 1, json, strlen(json));
}

static void expect(RecordStore *store, const char *json) {
        g_autofree char *value = NULL;

        g_assert_cmpint(record_store_get(store, "k", 1, &value, NULL, NULL), ==, 1);
        g_assert_cmpstr(value, ==, json);
}

static void test_record_faults(void) {
        static const Fault faults[] = { FAULT_WRITE, FAULT_SHORT_WRITE, FAULT_FSYNC, FAULT_RENAME };
        static const int errors[] = { ENOSPC, EIO, EDQUOT };

        for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
                for (size_t k = 0; k < G_N_ELEMENTS(errors); k++) {
                        g_auto(Scratch) scratch = {};
                        g_autoptr(RecordStore) store = NULL;
                        g_autoptr(GPtrArray) infos = NULL;
                        RecordUsage usage;
                        int r;

                        g_test_message("fault %d, errno %d", faults[i], errors[k]);
                        scratch_init(&scratch);
                        g_assert_cmpint(record_store_open(scratch.fd, &store), ==, 0);
                        g_assert_cmpint(set(store, "\"old\""), ==, 0);

                        fault(faults[i], errors[k]);
                        r = set(store, "\"a longer value\"");
                        fault(FAULT_NONE, 0);
                        g_assert_cmpint(r, ==, -errors[k]);
                        g_assert_cmpstr(record_store_code(r), ==, errors[k] == EDQUOT ? "limit" : "io");
                        expect(store, "\"old\"");
                        g_assert_cmpint(record_store_usage(store, &usage), ==, 0);
                        g_assert_cmpuint(usage.value_bytes, ==, strlen("\"old\""));
                        g_assert_cmpuint(usage.keys, ==, 1);

                        g_assert_cmpint(set(store, "\"next\""), ==, 0);
                        expect(store, "\"next\"");
                        g_assert_cmpint(faccessat(scratch.fd, "storage-v1", F_OK, 0), ==, 0);
                        g_assert_cmpint(record_store_list(store, &infos), ==, 0);
                        g_assert_cmpuint(infos->len, ==, 1);
                }
}

/* The rename happened but may not be durable: an error is the truth, and the books follow the disk. */
static void test_folder_fsync(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(RecordStore) store = NULL;
        RecordUsage usage;
        int r;

        scratch_init(&scratch);
        g_assert_cmpint(record_store_open(scratch.fd, &store), ==, 0);
        g_assert_cmpint(set(store, "\"old\""), ==, 0);
        fault(FAULT_FSYNC_FOLDER, EIO);
        r = set(store, "\"newer\"");
        fault(FAULT_NONE, 0);
        g_assert_cmpint(r, ==, -EIO);
        expect(store, "\"newer\"");
        g_assert_cmpint(record_store_usage(store, &usage), ==, 0);
        g_assert_cmpuint(usage.value_bytes, ==, strlen("\"newer\""));
        g_assert_cmpint(set(store, "\"next\""), ==, 0);
}

/* A decision that could not be written leaves no half line behind. */
static void test_log_faults(void) {
        static const DecisionRecord record = { .time_usec = 5, .kind = "call", .call = "c1" };
        static const DecisionFilter all = {};
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;
        g_autoptr(GPtrArray) found = NULL;

        scratch_init(&scratch);
        g_assert_cmpint(decision_log_open(scratch.fd, &log), ==, 0);
        g_assert_cmpint(decision_log_append(log, &record), ==, 0);
        fault(FAULT_SHORT_WRITE, ENOSPC);
        g_assert_cmpint(decision_log_append(log, &record), ==, -ENOSPC);
        fault(FAULT_WRITE, EIO);
        g_assert_cmpint(decision_log_append(log, &record), ==, -EIO);
        fault(FAULT_NONE, 0);
        g_assert_cmpint(decision_log_append(log, &record), ==, 0);
        g_assert_cmpint(decision_log_query(log, &all, &found), ==, 0);
        g_assert_cmpuint(found->len, ==, 2);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/disk-faults/ST-06-record", test_record_faults);
        g_test_add_func("/disk-faults/ST-06-folder-fsync", test_folder_fsync);
        g_test_add_func("/disk-faults/log", test_log_faults);
        return g_test_run();
}
