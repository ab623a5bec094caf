/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "service/plugin-job.h"
#include "service/plugin-private.h"
#include "service/plugin-watch.h"

/* Writers rarely write once; look when they have paused. */
#define PAUSE_USEC    (200u * 1000u)
#define ACCURACY_USEC (50u * 1000u)

#define EVENTS                                                                                              \
        (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | \
                        IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW)

/* One plugin that is watched */
typedef struct Watched {
        PluginWatch *watch;
        Plugin *plugin;
        BundleTree *tree; /* that the watches were made for; kept, so that no other can be taken for it */
        GArray *numbers;  /* of its watches, int */
        sd_event_source *timer;
        PluginJob *job;
} Watched;

struct PluginWatch {
        PluginSet *set;
        sd_event *event;
        int fd;
        sd_event_source *input;
        GHashTable *watched;   /* Plugin -> Watched */
        GHashTable *by_number; /* int -> Watched */
};

static void drop_numbers(Watched *watched) {
        for (size_t i = 0; i < watched->numbers->len; i++) {
                int number = g_array_index(watched->numbers, int, i);

                if (g_hash_table_remove(watched->watch->by_number, GINT_TO_POINTER(number)))
                        (void) inotify_rm_watch(watched->watch->fd, number);
        }
        g_array_set_size(watched->numbers, 0);
}

static void watched_free(void *data) {
        Watched *watched = data;

        drop_numbers(watched);
        g_array_unref(watched->numbers);
        sd_event_source_disable_unref(watched->timer);
        plugin_job_free(watched->job);
        bundle_tree_unref(watched->tree);
        plugin_unref(watched->plugin);
        g_free(watched);
}

static void on_looked(PluginJob *job, int r, const sd_bus_error *error, void *userdata) {
        Watched *watched = userdata;

        /* What it found, the plugin says itself. */
        (void) r;
        (void) error;
        watched->job = plugin_job_free(job);
}

static int on_pause(sd_event_source *source, uint64_t usec, void *userdata) {
        Watched *watched = userdata;
        Plugin *plugin = watched->plugin;

        (void) source;
        (void) usec;
        watched->timer = sd_event_source_disable_unref(watched->timer);
        if (!watched->job && plugin->found && plugin->record->generation > 0)
                watched->job = plugin_job_verify(watched->watch->set, watched->watch->event, plugin,
                                plugin->record->generation, on_looked, watched);
        return 0;
}

static void look_soon(Watched *watched) {
        if (watched->timer)
                return;
        (void) sd_event_add_time_relative(watched->watch->event, &watched->timer, CLOCK_MONOTONIC, PAUSE_USEC, ACCURACY_USEC,
                        on_pause, watched);
}

static void look_at_all(PluginWatch *watch) {
        GHashTableIter iter;
        void *watched;

        g_hash_table_iter_init(&iter, watch->watched);
        while (g_hash_table_iter_next(&iter, NULL, &watched))
                look_soon(watched);
}

static void take_event(PluginWatch *watch, const struct inotify_event *event) {
        Watched *watched = g_hash_table_lookup(watch->by_number, GINT_TO_POINTER(event->wd));

        if (event->mask & IN_Q_OVERFLOW)
                look_at_all(watch);
        if (event->mask & IN_IGNORED) /* the directory is gone, and its watch with it */
                (void) g_hash_table_remove(watch->by_number, GINT_TO_POINTER(event->wd));
        if (watched)
                look_soon(watched);
}

static int on_input(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        char buffer[16 * 1024] __attribute__((aligned(__alignof__(struct inotify_event))));
        ssize_t size = read(fd, buffer, sizeof buffer);

        (void) source;
        (void) revents;
        for (ssize_t at = 0; size > 0 && at < size;) {
                const struct inotify_event *event = (const struct inotify_event *) (buffer + at);

                take_event(userdata, event);
                at += (ssize_t) (sizeof *event + event->len);
        }
        return 0;
}

static void add_number(Watched *watched, const char *path) {
        int number = inotify_add_watch(watched->watch->fd, path, EVENTS);

        if (number < 0)
                return;
        g_array_append_val(watched->numbers, number);
        g_hash_table_insert(watched->watch->by_number, GINT_TO_POINTER(number), watched);
}

static void add_numbers(Watched *watched) {
        BundleTree *tree = watched->plugin->bundle->tree;

        drop_numbers(watched);
        bundle_tree_unref(watched->tree);
        watched->tree = tree ? bundle_tree_ref(tree) : NULL;
        add_number(watched, watched->plugin->root);
        for (size_t i = 0; tree && i < tree->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(tree->nodes, i);

                if (node->directory) {
                        g_autofree char *path = g_build_filename(watched->plugin->root, node->path, NULL);

                        add_number(watched, path);
                }
        }
}

void plugin_watch_follow(PluginWatch *watch, Plugin *plugin) {
        Watched *watched = g_hash_table_lookup(watch->watched, plugin);

        if (!plugin->found || !plugin->record->enabled) {
                (void) g_hash_table_remove(watch->watched, plugin);
                return;
        }
        if (!watched) {
                watched = g_new0(Watched, 1);
                watched->watch = watch;
                watched->plugin = plugin_ref(plugin);
                watched->numbers = g_array_new(FALSE, FALSE, sizeof(int));
                g_hash_table_insert(watch->watched, plugin, watched);
                add_numbers(watched);
        } else if (watched->tree != plugin->bundle->tree)
                add_numbers(watched);
}

int plugin_watch_new(PluginSet *set, sd_event *event, PluginWatch **ret) {
        g_autoptr(PluginWatch) watch = g_new0(PluginWatch, 1);
        int r;

        assert(!set->watch);

        watch->set = set;
        watch->event = sd_event_ref(event);
        watch->watched = g_hash_table_new_full(NULL, NULL, NULL, watched_free);
        watch->by_number = g_hash_table_new(NULL, NULL);
        watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (watch->fd < 0)
                return -errno;
        r = sd_event_add_io(event, &watch->input, watch->fd, EPOLLIN, on_input, watch);
        if (r < 0)
                return r;

        for (size_t i = 0; i < set->plugins->len; i++)
                plugin_watch_follow(watch, g_ptr_array_index(set->plugins, i));
        set->watch = watch;
        *ret = g_steal_pointer(&watch);
        return 0;
}

PluginWatch *plugin_watch_free(PluginWatch *watch) {
        if (!watch)
                return NULL;

        if (watch->set->watch == watch)
                watch->set->watch = NULL;
        g_hash_table_unref(watch->watched);
        g_hash_table_unref(watch->by_number);
        sd_event_source_disable_unref(watch->input);
        close_fd(&watch->fd);
        sd_event_unref(watch->event);
        g_free(watch);
        return NULL;
}
