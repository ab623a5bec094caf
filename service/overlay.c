/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/log.h"
#include "service/overlay-read.h"
#include "service/overlay.h"

#define FOLDER ".codewhale"
#define EVENTS                                                                                                        \
        (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | \
         IN_MOVE_SELF)

struct Overlay {
        OverlayTable *table;
        unsigned n_sessions;
        char *path;
        int fd; /* of the workspace, O_PATH */
        dev_t device;
        ino_t inode;
        int root_watch, folder_watch; /* of inotify; negative for none */
        OverlayContent *content;      /* NULL until it was read */
        char *text;                   /* that it was made of; NULL when it could not be read */
        Worker *worker;               /* it is being read */
        bool is_home;                 /* its .codewhale is our own home: config.toml in there is the user's */
        sd_event_source *timer;       /* for how long at most */
        bool again;                   /* it changed meanwhile */
        unsigned rounds;              /* how often it did so in a row */
        GPtrArray *waits;             /* OverlayWait, borrowed */
};

struct OverlayTable {
        sd_event *event;
        char *home;
        int fd; /* inotify; negative where there is none */
        sd_event_source *input;
        GHashTable *by_session; /* number of the session -> Overlay, borrowed */
        GPtrArray *overlays;    /* Overlay */
        void (*changed)(void *userdata);
        void *userdata;
};

struct OverlayWait {
        Overlay *overlay; /* NULL when it has gone */
        void (*ready)(void *userdata);
        void *userdata;
};

static void overlay_read(Overlay *overlay);

/* ---- waiting ---- */

void overlay_wait(Overlay *overlay, void (*ready)(void *userdata), void *userdata, OverlayWait **ret) {
        OverlayWait *wait;

        *ret = NULL;
        if (!overlay->worker)
                return;

        wait = g_new0(OverlayWait, 1);
        *wait = (OverlayWait) { .overlay = overlay, .ready = ready, .userdata = userdata };
        g_ptr_array_add(overlay->waits, wait);
        *ret = wait;
}

OverlayWait *overlay_wait_free(OverlayWait *wait) {
        if (wait && wait->overlay)
                g_ptr_array_remove(wait->overlay->waits, wait);
        g_free(wait);
        return NULL;
}

static void release(Overlay *overlay) {
        if (--overlay->n_sessions == 0)
                g_ptr_array_remove_fast(overlay->table->overlays, overlay);
}

/* Each may free itself, others, and end its session. Those that come meanwhile wait for the next reading. */
static void tell_waiting(Overlay *overlay) {
        for (size_t left = overlay->waits->len; left > 0 && overlay->waits->len > 0 && !overlay->worker; left--) {
                OverlayWait *wait = g_ptr_array_steal_index(overlay->waits, 0);

                wait->overlay = NULL;
                wait->ready(wait->userdata);
        }
}

/* ---- watching ---- */

static bool is_watched(const OverlayTable *table, int number) {
        for (size_t i = 0; i < table->overlays->len; i++) {
                const Overlay *overlay = g_ptr_array_index(table->overlays, i);

                if (overlay->root_watch == number || overlay->folder_watch == number)
                        return true;
        }
        return false;
}

static void unwatch(OverlayTable *table, int number) {
        if (number >= 0 && !is_watched(table, number))
                (void) inotify_rm_watch(table->fd, number);
}

static void watch(Overlay *overlay) {
        g_autofree char *root = g_strdup_printf("/proc/self/fd/%d", overlay->fd), *folder = g_build_filename(root, FOLDER, NULL);
        int inotify = overlay->table->fd, before = overlay->folder_watch;

        if (inotify < 0)
                return;
        overlay->root_watch = inotify_add_watch(inotify, root, EVENTS | IN_ONLYDIR);
        overlay->folder_watch = inotify_add_watch(inotify, folder, EVENTS | IN_ONLYDIR | IN_DONT_FOLLOW);
        if (before != overlay->folder_watch) /* it was moved away */
                unwatch(overlay->table, before);
}

static bool concerns(const Overlay *overlay, const struct inotify_event *event) {
        if (event->mask & IN_Q_OVERFLOW)
                return true;
        if (event->wd == overlay->folder_watch)
                return true;
        /* In the workspace itself only the folder counts, and that there is one at all. */
        return event->wd == overlay->root_watch && (event->len == 0 || strcmp(event->name, FOLDER) == 0);
}

static void take_event(OverlayTable *table, const struct inotify_event *event) {
        for (size_t i = 0; i < table->overlays->len; i++) {
                Overlay *overlay = g_ptr_array_index(table->overlays, i);

                if (!concerns(overlay, event))
                        continue;
                if ((event->mask & IN_IGNORED) && event->wd == overlay->folder_watch)
                        overlay->folder_watch = -1;
                else
                        overlay_read(overlay);
        }
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

/* ---- reading ---- */

/* A file that is written all the time holds its callers up for so many readings; then what was read last counts. */
#define ROUNDS_MAX 50u

static void finish_reading(Overlay *overlay) {
        overlay->timer = sd_event_source_disable_unref(overlay->timer);
        overlay->worker = worker_free(overlay->worker);
        if (overlay->again && ++overlay->rounds < ROUNDS_MAX) {
                overlay_read(overlay);
                return;
        }

        overlay->rounds = 0;
        overlay->n_sessions++;
        tell_waiting(overlay);
        if (overlay->again && overlay->n_sessions > 1)
                overlay_read(overlay);
        release(overlay);
}

static void adopt(Overlay *overlay, OverlayContent *content, const char *text) {
        bool is_news = overlay->content != NULL;

        if (content->error && (!overlay->content || g_strcmp0(overlay->content->error, content->error) != 0))
                log_warning("%s What is not proven to only read asks in this workspace.", content->error);
        overlay_content_free(overlay->content);
        overlay->content = content;
        g_free(overlay->text);
        overlay->text = g_strdup(text);
        if (is_news && overlay->table->changed)
                overlay->table->changed(overlay->table->userdata);
        finish_reading(overlay);
}

static void on_read(int r, const char *text, size_t size, const sd_bus_error *error, void *userdata) {
        Overlay *overlay = userdata;

        if (r < 0)
                adopt(overlay, overlay_content_unreadable(error->message ?: g_strerror(-r)), NULL);
        else if (overlay->text && strcmp(overlay->text, text) == 0)
                finish_reading(overlay);
        else
                adopt(overlay, overlay_content_new(overlay->path, overlay->is_home, text, size), text);
}

static int on_late(sd_event_source *source, uint64_t usec, void *userdata) {
        Overlay *overlay = userdata;

        (void) source;
        (void) usec;
        overlay->again = false;
        adopt(overlay, overlay_content_unreadable("its files did not come within the time for that"), NULL);
        return 0;
}

static void overlay_read(Overlay *overlay) {
        int r;

        if (overlay->worker) {
                overlay->again = true;
                return;
        }

        overlay->again = false;
        /* Before it is read, so that no change falls between the two. */
        watch(overlay);
        r = overlay->fd < 0 ? -EBADF : overlay_read_start(overlay->table->event, overlay->fd, on_read, overlay, &overlay->worker);
        if (r >= 0)
                r = sd_event_add_time_relative(overlay->table->event, &overlay->timer, CLOCK_MONOTONIC, OVERLAY_READ_MSEC * 1000u, 0,
                                               on_late, overlay);
        if (r < 0)
                adopt(overlay, overlay_content_unreadable(r == -EBADF ? "its folder can't be opened" : g_strerror(-r)), NULL);
}

/* ---- sessions ---- */

static void overlay_free(void *pointer) {
        Overlay *overlay = pointer;
        OverlayTable *table = overlay->table;
        int root = overlay->root_watch, folder = overlay->folder_watch;

        overlay->root_watch = overlay->folder_watch = -1;
        unwatch(table, root);
        unwatch(table, folder);
        /* Whoever still waits finds that the session has gone. */
        while (overlay->waits->len > 0) {
                OverlayWait *wait = g_ptr_array_steal_index(overlay->waits, 0);

                wait->overlay = NULL;
                wait->ready(wait->userdata);
        }
        g_ptr_array_unref(overlay->waits);
        sd_event_source_disable_unref(overlay->timer);
        worker_free(overlay->worker);
        overlay_content_free(overlay->content);
        g_free(overlay->text);
        close_fd(&overlay->fd);
        g_free(overlay->path);
        g_free(overlay);
}

static Overlay *find_same(const OverlayTable *table, const struct stat *status, const char *path) {
        for (size_t i = 0; i < table->overlays->len; i++) {
                Overlay *overlay = g_ptr_array_index(table->overlays, i);

                if (overlay->fd >= 0 && overlay->device == status->st_dev && overlay->inode == status->st_ino &&
                                strcmp(overlay->path, path) == 0)
                        return overlay;
        }
        return NULL;
}

static Overlay *overlay_new(OverlayTable *table, const Session *session) {
        _cleanup_close_ int fd = session->folder ? fcntl(workspace_get_fd(session->folder), F_DUPFD_CLOEXEC, 3) : -EBADF;
        const char *path = session->workspace;
        g_autofree char *folder = NULL, *folder_clean = NULL;
        struct stat status = {};
        Overlay *overlay;

        if (fd >= 0 && fstat(fd, &status) < 0)
                close_fd(&fd);
        overlay = fd >= 0 ? find_same(table, &status, path) : NULL;
        if (overlay)
                return overlay;

        overlay = g_new0(Overlay, 1);
        *overlay = (Overlay) {
                .table = table,
                .path = g_strdup(path),
                .fd = steal_fd(&fd),
                .device = status.st_dev,
                .inode = status.st_ino,
                .root_watch = -1,
                .folder_watch = -1,
                .waits = g_ptr_array_new(),
        };
        folder = g_build_filename(path, FOLDER, NULL);
        folder_clean = g_canonicalize_filename(folder, "/");
        overlay->is_home = strcmp(folder_clean, table->home) == 0;
        g_ptr_array_add(table->overlays, overlay);
        overlay_read(overlay);
        return overlay;
}

void overlay_table_open(OverlayTable *table, const Session *session) {
        Overlay *overlay;

        if (session->workspace[0] == '\0')
                return;
        overlay = overlay_new(table, session);
        overlay->n_sessions++;
        (void) g_hash_table_insert(table->by_session, GSIZE_TO_POINTER(session->number), overlay);
}

void overlay_table_close(OverlayTable *table, const Session *session) {
        void *found = NULL;

        if (g_hash_table_steal_extended(table->by_session, GSIZE_TO_POINTER(session->number), NULL, &found))
                release(found);
}

Overlay *overlay_table_find(const OverlayTable *table, const Session *session) {
        return g_hash_table_lookup(table->by_session, GSIZE_TO_POINTER(session->number));
}

void overlay_table_reload(OverlayTable *table) {
        for (size_t i = 0; i < table->overlays->len; i++)
                overlay_read(g_ptr_array_index(table->overlays, i));
}

OverlayTable *overlay_table_new(sd_event *event, const char *home, void (*changed)(void *userdata), void *userdata) {
        OverlayTable *table = g_new0(OverlayTable, 1);

        table->home = g_canonicalize_filename(home, "/");
        table->event = sd_event_ref(event);
        table->by_session = g_hash_table_new(NULL, NULL);
        table->overlays = g_ptr_array_new_with_free_func(overlay_free);
        table->changed = changed;
        table->userdata = userdata;
        table->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        /* Before the bus: a change that was made before a call was sent is known before the call is read. */
        if (table->fd < 0 || sd_event_add_io(event, &table->input, table->fd, EPOLLIN, on_input, table) < 0 ||
                        sd_event_source_set_priority(table->input, SD_EVENT_PRIORITY_IMPORTANT) < 0)
                log_warning("Changes of a workspace's rules are only seen at a reload: %s", g_strerror(errno));
        return table;
}

OverlayTable *overlay_table_free(OverlayTable *table) {
        if (!table)
                return NULL;

        g_hash_table_unref(table->by_session);
        while (table->overlays->len > 0)
                g_ptr_array_remove_index(table->overlays, table->overlays->len - 1);
        g_ptr_array_unref(table->overlays);
        sd_event_source_disable_unref(table->input);
        close_fd(&table->fd);
        sd_event_unref(table->event);
        g_free(table->home);
        g_free(table);
        return NULL;
}

/* ---- what it says ---- */

void overlay_fill(const Overlay *overlay, DecisionInput *input) {
        const OverlayContent *content = overlay->content;

        if (!content)
                return;
        input->law = content->law;
        input->project_admission = content->wish.denied;
        input->project_posture = (PostureLimit) {
                .set = content->wish.has_posture, .posture = content->wish.posture, .at = content->wish.posture_at,
        };
}

const char *overlay_get_error(const Overlay *overlay) {
        return overlay->content ? overlay->content->error : NULL;
}

const char *overlay_table_get_error(const OverlayTable *table) {
        for (size_t i = 0; i < table->overlays->len; i++) {
                const char *error = overlay_get_error(g_ptr_array_index(table->overlays, i));

                if (error)
                        return error;
        }
        return NULL;
}

static void write_files(const OverlayContent *content, JWriter *writer) {
        jwriter_begin_array(writer);
        for (size_t i = 0; i < content->files->len; i++) {
                const PolicyFile *file = g_ptr_array_index(content->files, i);

                jwriter_begin_object(writer);
                jwriter_member_string(writer, "path", file->path);
                jwriter_member_string(writer, "source", "project");
                jwriter_member_string(writer, "state", file->document.error < 0 ? "broken" : "read");
                jwriter_key(writer, "mistakes");
                policy_file_write_mistakes(file, writer);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

void overlay_write(const Overlay *overlay, JWriter *writer) {
        const OverlayContent *content = overlay->content;

        jwriter_member_string(writer, "workspace", overlay->path);
        if (!content) {
                jwriter_member_string(writer, "state", "reading");
                return;
        }
        jwriter_key(writer, "files");
        write_files(content, writer);
        if (content->error)
                jwriter_member_string(writer, "error", content->error);
        if (content->wish.has_posture) {
                jwriter_key(writer, "posture_limit");
                jwriter_begin_object(writer);
                jwriter_member_string(writer, "posture", posture_to_string(content->wish.posture));
                jwriter_member_string(writer, "at", content->wish.posture_at ?: "");
                jwriter_end_object(writer);
        }
        if (content->wish.denied)
                admission_write(content->wish.denied, writer);
        if (content->law)
                repository_law_write(content->law, writer);
}
