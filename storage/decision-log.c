/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "storage/decision-log-internal.h"
#include "storage/decision-record.h"

#define FILE_PREFIX "decisions-"
#define FILE_SUFFIX ".jsonl"

void decision_file_name(uint64_t number, char ret[static DECISION_FILE_NAME_MAX]) {
        (void) snprintf(ret, DECISION_FILE_NAME_MAX, FILE_PREFIX "%010" PRIu64 FILE_SUFFIX, number);
}

static int parse_file_name(const char *name, uint64_t *ret) {
        char again[DECISION_FILE_NAME_MAX];
        uint64_t number;

        if (!g_str_has_prefix(name, FILE_PREFIX))
                return -EINVAL;
        number = g_ascii_strtoull(name + strlen(FILE_PREFIX), NULL, 10);
        decision_file_name(number, again);
        if (strcmp(name, again) != 0)
                return -EINVAL;

        *ret = number;
        return 0;
}

static int compare_numbers(const void *a, const void *b) {
        const uint64_t *left = a, *right = b;

        return (*left > *right) - (*left < *right);
}

static int list_files(DecisionLog *log) {
        int fd = safe_open_at(log->folder, ".", O_RDONLY | O_DIRECTORY, 0);
        struct dirent *item;
        uint64_t number;
        DIR *stream;

        if (fd < 0)
                return fd;
        stream = fdopendir(fd);
        if (!stream) {
                close_fd(&fd);
                return -ENOMEM;
        }
        while ((item = readdir(stream)))
                if (parse_file_name(item->d_name, &number) >= 0)
                        g_array_append_val(log->files, number);
        (void) closedir(stream);
        g_array_sort(log->files, compare_numbers);
        return 0;
}

/* Cuts off what stands behind the last line end: a crash tore it, and nobody was told that it was written.
 */
static int repair_tail(int fd, off_t *ret_size) {
        char tail[4096];
        struct stat status;
        off_t end;

        if (fstat(fd, &status) < 0)
                return -errno;
        if (!S_ISREG(status.st_mode))
                return -EBADFD;

        for (end = status.st_size; end > 0;) {
                off_t from = end > (off_t) sizeof tail ? end - (off_t) sizeof tail : 0;
                ssize_t n = pread(fd, tail, (size_t) (end - from), from);
                const char *line;

                if (n < 0)
                        return -errno;
                line = memrchr(tail, '\n', (size_t) n);
                if (line) {
                        end = from + (line - tail) + 1;
                        break;
                }
                end = from;
        }
        if (end < status.st_size && ftruncate(fd, end) < 0)
                return -errno;

        *ret_size = end;
        return 0;
}

static uint64_t newest(const DecisionLog *log) {
        return log->files->len > 0 ? g_array_index(log->files, uint64_t, log->files->len - 1) : 0;
}

static void drop_oldest(DecisionLog *log) {
        char name[DECISION_FILE_NAME_MAX];

        while (log->files->len > DECISION_FILES_MAX) {
                decision_file_name(g_array_index(log->files, uint64_t, 0), name);
                (void) unlinkat(log->folder, name, 0);
                g_array_remove_index(log->files, 0);
        }
}

static int begin_file(DecisionLog *log, uint64_t number, int flags) {
        _cleanup_close_ int fd = -EBADF;
        char name[DECISION_FILE_NAME_MAX];
        off_t size;
        int r;

        decision_file_name(number, name);
        fd = safe_open_at(log->folder, name, O_RDWR | O_APPEND | O_CREAT | flags, 0600);
        if (fd < 0)
                return fd;
        r = repair_tail(fd, &size);
        if (r < 0)
                return r;

        if (newest(log) != number)
                g_array_append_val(log->files, number);
        close_fd(&log->fd);
        log->fd = steal_fd(&fd);
        log->size = (size_t) size;
        drop_oldest(log);
        return 0;
}

int decision_log_open(int directory, DecisionLog **ret) {
        g_autoptr(DecisionLog) log = g_new0(DecisionLog, 1);
        int r;

        log->fd = -EBADF;
        log->files = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        log->folder = fcntl(directory, F_DUPFD_CLOEXEC, 3);
        if (log->folder < 0)
                return -errno;

        r = list_files(log);
        if (r >= 0)
                r = begin_file(log, newest(log) == 0 ? 1 : newest(log), 0);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&log);
        return 0;
}

DecisionLog *decision_log_free(DecisionLog *log) {
        if (!log)
                return NULL;

        close_fd(&log->fd);
        close_fd(&log->folder);
        g_array_unref(log->files);
        g_free(log);
        return NULL;
}

/* A line is there whole or not at all: what a full disk let through is taken back. */
static int append_line(DecisionLog *log, const char *line, size_t size) {
        ssize_t n;

        do
                n = write(log->fd, line, size);
        while (n < 0 && errno == EINTR);

        if (n == (ssize_t) size) {
                log->size += size;
                return 0;
        }
        if (n < 0)
                return -errno;
        return ftruncate(log->fd, (off_t) log->size) < 0 ? -errno : -ENOSPC;
}

int decision_log_append(DecisionLog *log, const DecisionRecord *record) {
        g_autofree char *line = NULL;
        size_t size;
        int r;

        assert(record->kind);
        line = decision_record_encode(record, &size);
        if (log->size > 0 && log->size + size > DECISION_FILE_BYTES_MAX) {
                r = begin_file(log, newest(log) + 1, O_EXCL);
                if (r < 0)
                        return r;
        }
        return append_line(log, line, size);
}

int decision_log_sync(DecisionLog *log) {
        return fdatasync(log->fd) < 0 ? -errno : 0;
}

int decision_log_prune(DecisionLog *log, uint64_t before_usec) {
        int pruned = 0;

        /* A file was last written when its successor began, so its own time stamp is that of its youngest
         * record. The one that is being written stays. */
        while (log->files->len > 1) {
                char name[DECISION_FILE_NAME_MAX];
                struct stat status;
                uint64_t modified;

                decision_file_name(g_array_index(log->files, uint64_t, 0), name);
                if (fstatat(log->folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
                        if (errno != ENOENT)
                                return -errno;
                } else {
                        modified = (uint64_t) status.st_mtim.tv_sec * 1000000u +
                                   (uint64_t) status.st_mtim.tv_nsec / 1000u;
                        if (modified >= before_usec)
                                break;
                        if (unlinkat(log->folder, name, 0) < 0)
                                return -errno;
                        pruned++;
                }
                g_array_remove_index(log->files, 0);
        }
        return pruned;
}
