/* SPDX-License-Identifier: MIT */
#include "cli/dev-watch.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#include "common/cleanup.h"

#define QUIET_USEC  (UINT64_C(200) * 1000) /* an editor writes several times, git checks many files out */
#define FOLDERS_MAX 4096u
#define DEPTH_MAX   32u
#define EVENTS      (IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)

struct DevWatch {
        sd_event *event;
        char *folder;
        GPtrArray *sources; /* of sd_event_source, one a folder */
        sd_event_source *quiet;
        DevWatchChanged changed;
        void *userdata;
};

static int on_event(sd_event_source *source, const struct inotify_event *event, void *userdata);

bool dev_watch_is_noise(const char *name) {
        size_t size = strlen(name);

        return name[0] == '.' || strcmp(name, "node_modules") == 0 || (size > 0 && name[size - 1] == '~') ||
               g_str_has_suffix(name, ".swp") || strcmp(name, "4913") == 0; /* vim tries with that one */
}

static void unref_source(void *source) {
        sd_event_source_disable_unref(source);
}

static int add_folder(DevWatch *watch, const char *path, unsigned depth) {
        sd_event_source *source = NULL;
        g_autoptr(GDir) dir = NULL;
        const char *name;
        int r;

        if (watch->sources->len >= FOLDERS_MAX || depth == 0)
                return -ENOSPC;
        r = sd_event_add_inotify(watch->event, &source, path, EVENTS, on_event, watch);
        if (r < 0)
                return r == -ENOENT || r == -ENOTDIR ? 0 : r; /* gone again */
        g_ptr_array_add(watch->sources, source);

        dir = g_dir_open(path, 0, NULL);
        while (r >= 0 && dir && (name = g_dir_read_name(dir))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                if (!dev_watch_is_noise(name) && !g_file_test(below, G_FILE_TEST_IS_SYMLINK) &&
                                g_file_test(below, G_FILE_TEST_IS_DIR))
                        r = add_folder(watch, below, depth - 1);
        }
        return r;
}

/* The folders may have come and gone: it costs little to look again at all of them. */
static int on_quiet(sd_event_source *source, uint64_t usec, void *userdata) {
        DevWatch *watch = userdata;

        (void) source;
        (void) usec;

        g_ptr_array_set_size(watch->sources, 0);
        (void) add_folder(watch, watch->folder, DEPTH_MAX);
        watch->changed(watch->userdata);
        return 0;
}

static int on_event(sd_event_source *source, const struct inotify_event *event, void *userdata) {
        DevWatch *watch = userdata;
        uint64_t now = 0;

        (void) source;

        if (event->len > 0 && dev_watch_is_noise(event->name))
                return 0;
        (void) sd_event_now(watch->event, CLOCK_MONOTONIC, &now);
        (void) sd_event_source_set_time(watch->quiet, now + QUIET_USEC);
        (void) sd_event_source_set_enabled(watch->quiet, SD_EVENT_ONESHOT);
        return 0;
}

int dev_watch_new(sd_event *event, const char *folder, DevWatchChanged changed, void *userdata, DevWatch **ret) {
        g_autoptr(DevWatch) watch = g_new0(DevWatch, 1);
        int r;

        watch->event = sd_event_ref(event);
        watch->folder = g_strdup(folder);
        watch->sources = g_ptr_array_new_with_free_func(unref_source);
        watch->changed = changed;
        watch->userdata = userdata;
        r = sd_event_add_time(event, &watch->quiet, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_quiet, watch);
        if (r >= 0)
                r = sd_event_source_set_enabled(watch->quiet, SD_EVENT_OFF);
        if (r >= 0)
                r = add_folder(watch, folder, DEPTH_MAX);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&watch);
        return 0;
}

DevWatch *dev_watch_free(DevWatch *watch) {
        if (!watch)
                return NULL;

        g_ptr_array_unref(watch->sources);
        sd_event_source_disable_unref(watch->quiet);
        sd_event_unref(watch->event);
        g_free(watch->folder);
        g_free(watch);
        return NULL;
}
