/* SPDX-License-Identifier: MIT */
#include "cli/card-queue.h"

#include "common/limits.h"

void card_queue_init(CardQueue *queue) {
        queue->ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

void card_queue_done(CardQueue *queue) {
        g_clear_pointer(&queue->ids, g_array_unref);
}

void card_queue_set(CardQueue *queue, const GArray *ids) {
        g_array_set_size(queue->ids, 0);
        if (ids)
                g_array_append_vals(queue->ids, ids->data, ids->len);
}

static guint find(const CardQueue *queue, uint64_t id) {
        guint i = 0;

        while (i < queue->ids->len && g_array_index(queue->ids, uint64_t, i) != id)
                i++;
        return i;
}

bool card_queue_add(CardQueue *queue, uint64_t id) {
        if (find(queue, id) < queue->ids->len || queue->ids->len >= APPROVALS_MAX)
                return false;

        g_array_append_val(queue->ids, id);
        return true;
}

void card_queue_put_first(CardQueue *queue, uint64_t id) {
        g_array_prepend_val(queue->ids, id);
}

bool card_queue_remove(CardQueue *queue, uint64_t id) {
        guint place = find(queue, id);

        if (place >= queue->ids->len)
                return false;

        g_array_remove_index(queue->ids, place);
        return true;
}

bool card_queue_take(CardQueue *queue, uint64_t *ret_id) {
        if (queue->ids->len == 0)
                return false;

        *ret_id = g_array_index(queue->ids, uint64_t, 0);
        g_array_remove_index(queue->ids, 0);
        return true;
}

unsigned card_queue_count(const CardQueue *queue) {
        return queue->ids->len;
}
