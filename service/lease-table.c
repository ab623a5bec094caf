/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/lease-table.h"

#define NEWS_AT_ONCE 32

/* With a number of the real-time range each broken lease comes with its descriptor. SIGIO comes when the queue of those is full. */
#define LEASE_SIGNAL (SIGRTMIN + 5)

struct LeaseTable {
        int fd; /* signalfd */
        sd_event_source *source;
        size_t n_left;
        GPtrArray *sets; /* of LeaseSet; borrowed */
};

struct LeaseSet {
        LeaseTable *table; /* NULL: broken */
        int *fds;
        size_t n_fds;
};

/* Closing alone does not do it while a worker, which we forked, has the same file open. */
static void give_up(int fd) {
        (void) fcntl(fd, F_SETLEASE, F_UNLCK);
        close_fd(&fd);
}

static void set_break(LeaseSet *set) {
        if (!set->table)
                return;

        g_ptr_array_remove_fast(set->table->sets, set);
        set->table->n_left += set->n_fds;
        set->table = NULL;
        for (size_t i = 0; i < set->n_fds; i++)
                give_up(set->fds[i]);
        set->n_fds = 0;
}

static void break_fd(LeaseTable *table, int fd) {
        for (guint i = 0; i < table->sets->len; i++) {
                LeaseSet *set = g_ptr_array_index(table->sets, i);

                for (size_t j = 0; j < set->n_fds; j++)
                        if (set->fds[j] == fd) {
                                set_break(set);
                                return;
                        }
        }
}

static void break_all(LeaseTable *table) {
        while (table->sets->len > 0)
                set_break(g_ptr_array_index(table->sets, 0));
}

/* What the kernel has told meanwhile. What can't be read may be bad news. */
static void read_news(LeaseTable *table) {
        struct signalfd_siginfo news[NEWS_AT_ONCE];
        ssize_t n;

        do {
                n = read(table->fd, news, sizeof news);
                for (size_t i = 0; n > 0 && i < (size_t) n / sizeof *news; i++)
                        if (news[i].ssi_signo == (uint32_t) LEASE_SIGNAL)
                                break_fd(table, news[i].ssi_fd);
                        else
                                break_all(table);
        } while (n == (ssize_t) sizeof news || (n < 0 && errno == EINTR));

        if (n < 0 && errno != EAGAIN)
                break_all(table);
}

static int on_news(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        (void) source;
        (void) fd;
        (void) events;
        read_news(userdata);
        return 0;
}

static size_t leases_max(void) {
        struct rlimit limit;

        /* Half of all descriptors are left to everything else. */
        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return 0;
        return (size_t) MIN(limit.rlim_cur / 2, LEASES_MAX);
}

int lease_table_new(sd_event *event, LeaseTable **ret) {
        g_autoptr(LeaseTable) table = g_new0(LeaseTable, 1);
        sigset_t signals;
        int r;

        assert(event && ret);

        table->sets = g_ptr_array_new();
        table->n_left = leases_max();
        (void) sigemptyset(&signals);
        (void) sigaddset(&signals, LEASE_SIGNAL);
        (void) sigaddset(&signals, SIGIO);
        table->fd = -EBADF;
        if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
                return -errno;
        table->fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
        if (table->fd < 0)
                return -errno;

        r = sd_event_add_io(event, &table->source, table->fd, EPOLLIN, on_news, table);
        if (r >= 0)
                r = sd_event_source_set_priority(table->source, SD_EVENT_PRIORITY_IMPORTANT);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&table);
        return 0;
}

LeaseTable *lease_table_free(LeaseTable *table) {
        if (!table)
                return NULL;

        break_all(table);
        g_ptr_array_unref(table->sets);
        sd_event_source_disable_unref(table->source);
        close_fd(&table->fd);
        g_free(table);
        return NULL;
}

size_t lease_table_get_left(const LeaseTable *table) {
        return table->n_left;
}

static int lease_file(int root, const char *path) {
        _cleanup_close_ int fd = safe_open_at(root, path, O_RDONLY | O_NONBLOCK, 0);

        if (fd < 0)
                return fd;
        if (fcntl(fd, F_SETSIG, LEASE_SIGNAL) < 0 || fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
                return -errno;
        return steal_fd(&fd);
}

int lease_set_new(LeaseTable *table, const BundleTree *tree, int root, LeaseSet **ret) {
        g_autoptr(LeaseSet) set = NULL;

        assert(table && tree && root >= 0 && ret);

        if (tree->n_files > table->n_left)
                return -E2BIG;

        set = g_new0(LeaseSet, 1);
        set->table = table;
        set->fds = g_new(int, tree->n_files);
        g_ptr_array_add(table->sets, set);
        for (size_t i = 0; i < tree->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(tree->nodes, i);
                int fd;

                if (node->directory)
                        continue;
                fd = lease_file(root, node->path);
                if (fd < 0)
                        return fd;
                set->fds[set->n_fds++] = fd;
                table->n_left--;
        }
        *ret = g_steal_pointer(&set);
        return 0;
}

LeaseSet *lease_set_free(LeaseSet *set) {
        if (!set)
                return NULL;

        set_break(set);
        g_free(set->fds);
        g_free(set);
        return NULL;
}

bool lease_set_holds(LeaseSet *set) {
        if (set->table)
                read_news(set->table);
        return set->table != NULL;
}
