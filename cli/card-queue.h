/* SPDX-License-Identifier: MIT */
#pragma once

/* The cards that wait behind the one that is shown, oldest first; by number. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct CardQueue {
        GArray *ids;
} CardQueue;

void card_queue_init(CardQueue *queue);
void card_queue_done(CardQueue *queue);

/** card_queue_set() - these wait and no others */
void card_queue_set(CardQueue *queue, const GArray *ids);

/** card_queue_add() - at the end; false when it waits already, or when as many wait as there can be */
bool card_queue_add(CardQueue *queue, uint64_t id);

/** card_queue_put_first() - before all others */
void card_queue_put_first(CardQueue *queue, uint64_t id);

/** card_queue_remove() - false when it did not wait */
bool card_queue_remove(CardQueue *queue, uint64_t id);

/** card_queue_take() - the next one; false when none waits */
bool card_queue_take(CardQueue *queue, uint64_t *ret_id);
unsigned card_queue_count(const CardQueue *queue);
