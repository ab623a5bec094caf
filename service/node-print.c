/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "service/node-print.h"

#define NSEC_PER_SEC  INT64_C(1000000000)
#define NSEC_PER_MSEC INT64_C(1000000)

/* Ten ticks of the slowest kernel clock; and for file systems that count whole (FAT: two) seconds or milliseconds. */
#define TICK_NSEC        (100 * NSEC_PER_MSEC)
#define COARSE_TICK_NSEC (2100 * NSEC_PER_MSEC)

static int64_t to_nsec(struct timespec time) {
        return (int64_t) time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

static void fill(NodePrint *print, const struct stat *status) {
        *print = (NodePrint) {
                .device = status->st_dev,
                .inode = status->st_ino,
                .size = (uint64_t) status->st_size,
                .links = status->st_nlink,
                .modified = to_nsec(status->st_mtim),
                .changed = to_nsec(status->st_ctim),
                .mode = status->st_mode,
                .uid = status->st_uid,
        };
}

int node_print_at(int directory, const char *path, NodePrint *ret) {
        struct stat status;

        if (fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW | (*path == '\0' ? AT_EMPTY_PATH : 0)) < 0)
                return -errno;

        fill(ret, &status);
        return 0;
}

int node_print_fd(int fd, NodePrint *ret) {
        struct stat status;

        if (fstat(fd, &status) < 0)
                return -errno;

        fill(ret, &status);
        return 0;
}

bool node_print_equal(const NodePrint *a, const NodePrint *b) {
        return a->device == b->device && a->inode == b->inode && a->size == b->size && a->links == b->links &&
                        a->modified == b->modified && a->changed == b->changed && a->mode == b->mode &&
                        a->uid == b->uid;
}

bool node_print_is_fresh(const NodePrint *print, int64_t now) {
        int64_t tick = print->changed % NSEC_PER_MSEC == 0 ? COARSE_TICK_NSEC : TICK_NSEC;

        return print->changed > now - tick;
}

int64_t node_print_now(void) {
        struct timespec now;

        (void) clock_gettime(CLOCK_REALTIME_COARSE, &now);
        return to_nsec(now);
}
