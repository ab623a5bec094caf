/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/jdoc.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "storage/decision-log-internal.h"

#define SLICE_BYTES MIB(1)

/* A member that must have this very text. Lines are ours, written by one writer, so a line without the
 * member's bytes can't match and need not be read. */
typedef struct Needle {
        char *member;
        char *text;
        char *bytes; /* "member":"text" as the writer writes it */
} Needle;

struct DecisionCursor {
        DecisionLog *log;
        uint64_t since_usec;
        uint64_t until_usec;
        char *call;
        char *call_bytes; /* the quoted id */
        GArray *needles;
        unsigned limit;
        GPtrArray *found;

        uint64_t file;  /* being read, from its end to its beginning; 0: take the next older one */
        uint64_t below; /* files from this number on are done */
        int fd;
        off_t end; /* of what is not read yet */
};

static void needle_clear(void *data) {
        Needle *needle = data;

        g_free(needle->member);
        g_free(needle->text);
        g_free(needle->bytes);
}

static char *quoted(const char *member, const char *text) {
        g_auto(JWriter) writer = {};
        g_autofree char *json = NULL;

        jwriter_init(&writer);
        jwriter_string(&writer, text);
        json = jwriter_steal(&writer, NULL);
        return member ? g_strdup_printf("\"%s\":%s", member, json) : g_steal_pointer(&json);
}

static void add_needle(DecisionCursor *cursor, const char *member, const char *text) {
        Needle needle;

        if (!text)
                return;
        needle = (Needle){
                .member = g_strdup(member), .text = g_strdup(text), .bytes = quoted(member, text)
        };
        g_array_append_val(cursor->needles, needle);
}

DecisionCursor *decision_cursor_new(DecisionLog *log, const DecisionFilter *filter) {
        DecisionCursor *cursor = g_new0(DecisionCursor, 1);

        cursor->log = log;
        cursor->since_usec = filter->since_usec;
        cursor->until_usec = filter->until_usec > 0 ? filter->until_usec : UINT64_MAX;
        cursor->limit = filter->limit > 0 ? MIN(filter->limit, DECISION_QUERY_MAX) : DECISION_QUERY_MAX;
        cursor->needles = g_array_new(FALSE, FALSE, sizeof(Needle));
        g_array_set_clear_func(cursor->needles, needle_clear);
        cursor->found = g_ptr_array_new_with_free_func(g_free);
        cursor->fd = -EBADF;
        cursor->below = UINT64_MAX;
        if (filter->call) {
                cursor->call = g_strdup(filter->call);
                cursor->call_bytes = quoted(NULL, filter->call);
        }
        add_needle(cursor, "plugin", filter->plugin);
        add_needle(cursor, "tool", filter->tool);
        add_needle(cursor, "outcome", filter->outcome);
        add_needle(cursor, "session", filter->session);
        add_needle(cursor, "kind", filter->kind);
        return cursor;
}

DecisionCursor *decision_cursor_free(DecisionCursor *cursor) {
        if (!cursor)
                return NULL;

        close_fd(&cursor->fd);
        g_array_unref(cursor->needles);
        if (cursor->found)
                g_ptr_array_unref(cursor->found);
        g_free(cursor->call);
        g_free(cursor->call_bytes);
        g_free(cursor);
        return NULL;
}

/* ---- one line ---- */

static bool may_match(const DecisionCursor *cursor, const char *line, size_t size) {
        if (cursor->call_bytes && !memmem(line, size, cursor->call_bytes, strlen(cursor->call_bytes)))
                return false;

        for (guint i = 0; i < cursor->needles->len; i++) {
                const Needle *needle = &g_array_index(cursor->needles, Needle, i);

                if (!memmem(line, size, needle->bytes, strlen(needle->bytes)))
                        return false;
        }
        return true;
}

static bool matches(const DecisionCursor *cursor, Jval record) {
        uint64_t when;

        if (jval_uint64(jval_member(record, "time"), &when) < 0 || when < cursor->since_usec ||
                        when > cursor->until_usec)
                return false;
        if (cursor->call && !jval_equals_text(jval_member(record, "call"), cursor->call) &&
                        !jval_equals_text(jval_member(record, "parent"), cursor->call))
                return false;

        for (guint i = 0; i < cursor->needles->len; i++) {
                const Needle *needle = &g_array_index(cursor->needles, Needle, i);

                if (!jval_equals_text(jval_member(record, needle->member), needle->text))
                        return false;
        }
        return true;
}

static void look_at_line(DecisionCursor *cursor, const char *line, size_t size) {
        g_autoptr(Jdoc) doc = NULL;

        if (size == 0 || size > DECISION_RECORD_BYTES_MAX || !may_match(cursor, line, size))
                return;
        if (jdoc_parse(line, size, NULL, &doc, NULL) < 0 || !matches(cursor, jdoc_root(doc)))
                return;
        g_ptr_array_add(cursor->found, g_strndup(line, size));
}

/* ---- slices, from the newest byte to the oldest ---- */

static int open_next(DecisionCursor *cursor) {
        char name[DECISION_FILE_NAME_MAX];
        struct stat status;

        cursor->file = 0;
        for (guint i = cursor->log->files->len; i > 0 && cursor->file == 0; i--) {
                uint64_t number = g_array_index(cursor->log->files, uint64_t, i - 1);

                if (number < cursor->below)
                        cursor->file = number;
        }
        if (cursor->file == 0)
                return 0;

        cursor->below = cursor->file;
        decision_file_name(cursor->file, name);
        close_fd(&cursor->fd);
        cursor->fd = safe_open_at(cursor->log->folder, name, O_RDONLY | O_NONBLOCK, 0);
        if (cursor->fd < 0)
                return cursor->fd == -ENOENT ? 1 : cursor->fd;
        if (fstat(cursor->fd, &status) < 0)
                return -errno;
        if (!S_ISREG(status.st_mode))
                return -EBADFD;
        cursor->end = status.st_size;
        return 1;
}

/* Looks at the lines of a slice from the last to the first. A line that the slice cuts at its beginning is
 * left for the next one, unless the file begins there. Returns how many bytes at the beginning are left. */
static size_t look_at_slice(DecisionCursor *cursor, const char *data, size_t size, bool from_start) {
        while (size > 0 && cursor->found->len < cursor->limit) {
                const char *line_end = memrchr(data, '\n', size);
                size_t end = line_end ? (size_t) (line_end - data) : 0;
                const char *before = end > 0 ? memrchr(data, '\n', end) : NULL;

                if (!line_end)
                        return from_start ? 0 : size;
                if (!before && !from_start)
                        return end + 1;
                look_at_line(cursor, before ? before + 1 : data,
                                end - (before ? (size_t) (before + 1 - data) : 0));
                size = before ? (size_t) (before + 1 - data) : 0;
        }
        return size;
}

static int read_slice(DecisionCursor *cursor) {
        off_t from = cursor->end > (off_t) SLICE_BYTES ? cursor->end - (off_t) SLICE_BYTES : 0;
        g_autofree char *data = g_malloc((size_t) (cursor->end - from) + 1);
        ssize_t n = pread(cursor->fd, data, (size_t) (cursor->end - from), from);
        size_t left;

        if (n < 0)
                return -errno;
        left = look_at_slice(cursor, data, (size_t) n, from == 0);
        /* A slice without any line end holds no record of ours: go on before it. */
        if (left >= (size_t) (cursor->end - from))
                left = 0;
        cursor->end = from + (off_t) left;
        return 1;
}

int decision_cursor_step(DecisionCursor *cursor) {
        if (cursor->found->len >= cursor->limit)
                return 0;
        if (cursor->file == 0 || cursor->fd < 0 || cursor->end == 0)
                return open_next(cursor);

        return read_slice(cursor);
}

GPtrArray *decision_cursor_steal(DecisionCursor *cursor) {
        GPtrArray *found = g_steal_pointer(&cursor->found);

        cursor->found = g_ptr_array_new_with_free_func(g_free);
        return found;
}

int decision_log_query(DecisionLog *log, const DecisionFilter *filter, GPtrArray **ret) {
        g_autoptr(DecisionCursor) cursor = decision_cursor_new(log, filter);
        int r;

        do
                r = decision_cursor_step(cursor);
        while (r > 0);
        if (r < 0)
                return r;

        *ret = decision_cursor_steal(cursor);
        return 0;
}
