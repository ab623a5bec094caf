/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "dbus/caller-queue.h"

void caller_queue_clear(CallerQueue *queue) {
        sd_bus_message *m;

        while ((m = g_queue_pop_head(&queue->messages)))
                sd_bus_message_unref(m);
        queue->replaying = false;
}

static int put_back(sd_bus_message *m) {
        int r = sd_bus_message_rewind(m, true);

        return r < 0 ? r : sd_bus_enqueue_for_read(sd_bus_message_get_bus(m), m);
}

int caller_queue_keep(CallerQueue *queue, sd_bus_message *m) {
        if (queue->replaying) {
                int r = put_back(m);

                if (r < 0)
                        return r;
        }

        g_queue_push_tail(&queue->messages, sd_bus_message_ref(m));
        return 0;
}

int caller_queue_replay(CallerQueue *queue) {
        for (GList *link = queue->messages.head; link; link = link->next) {
                int r = put_back(link->data);

                if (r < 0)
                        return r;
        }

        queue->replaying = queue->messages.length > 0;
        return 0;
}

bool caller_queue_pass(CallerQueue *queue, sd_bus_message *m) {
        if (!queue->replaying || g_queue_peek_head(&queue->messages) != m)
                return false;

        sd_bus_message_unref(g_queue_pop_head(&queue->messages));
        queue->replaying = queue->messages.length > 0;
        return true;
}

/* ---- size ---- */

static int measure_next(sd_bus_message *m, char type, const char *contents, size_t bytes_max, size_t *size);

static int measure_all(sd_bus_message *m, size_t bytes_max, size_t *size) {
        const char *contents;
        char type;
        int r;

        while ((r = sd_bus_message_peek_type(m, &type, &contents)) > 0) {
                r = measure_next(m, type, contents, bytes_max, size);
                if (r < 0 || *size > bytes_max)
                        return r;
        }
        return r;
}

static int measure_container(sd_bus_message *m, char type, const char *contents, size_t bytes_max, size_t *size) {
        int r = sd_bus_message_enter_container(m, type, contents);

        if (r < 0)
                return r;
        r = measure_all(m, bytes_max, size);
        if (r < 0 || *size > bytes_max)
                return r;

        return sd_bus_message_exit_container(m);
}

static int measure_text(sd_bus_message *m, char type, size_t *size) {
        const char *text;
        int r = sd_bus_message_read_basic(m, type, &text);

        if (r >= 0)
                *size += strlen(text);
        return r;
}

static int measure_array(sd_bus_message *m, char type, size_t *size) {
        const void *data;
        size_t bytes;
        int r = sd_bus_message_read_array(m, type, &data, &bytes);

        if (r >= 0)
                *size += bytes;
        return r;
}

/* The depth of the recursion is that of the message, which sd-bus bounds. */
static int measure_next(sd_bus_message *m, char type, const char *contents, size_t bytes_max, size_t *size) {
        *size += sizeof(uint64_t);

        switch (type) {
        case 's':
        case 'o':
        case 'g':
                return measure_text(m, type, size);
        case 'a':
                if (contents[0] && !contents[1] && strchr("ynqiuxtd", contents[0]))
                        return measure_array(m, contents[0], size);
                return measure_container(m, type, contents, bytes_max, size);
        case 'v':
        case 'r':
        case 'e':
                return measure_container(m, type, contents, bytes_max, size);
        default:
                return sd_bus_message_skip(m, (const char[]) { type, '\0' });
        }
}

int message_measure(sd_bus_message *m, size_t bytes_max, size_t *ret) {
        size_t size = 0;
        int r = measure_all(m, bytes_max, &size);

        (void) sd_bus_message_rewind(m, true);
        if (r < 0)
                return -EBADMSG;

        *ret = size;
        return 0;
}
