/* SPDX-License-Identifier: MIT */
#pragma once

/* Calls of a connection that wait until we know whose it is, and how they go back for reading in the order in which they
 * came, whatever arrives meanwhile. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-bus.h>

typedef struct CallerQueue {
        GQueue messages; /* sd_bus_message, owned */
        bool replaying;  /* they lie in the connection's read queue again */
} CallerQueue;

#define CALLER_QUEUE_INIT { .messages = G_QUEUE_INIT }

/** caller_queue_clear() - drop everything */
void caller_queue_clear(CallerQueue *queue);

static inline unsigned caller_queue_length(const CallerQueue *queue) {
        return queue->messages.length;
}

/** caller_queue_keep() - put a call at the end; when the others are being replayed, it goes behind them */
int caller_queue_keep(CallerQueue *queue, sd_bus_message *m);

/** caller_queue_replay() - put all calls back for reading */
int caller_queue_replay(CallerQueue *queue);

/** caller_queue_pass() - whether it is this call's turn; then it is taken out and may be dispatched */
bool caller_queue_pass(CallerQueue *queue, sd_bus_message *m);

/**
 * message_measure() - roughly how many bytes a message holds
 * @bytes_max: stop counting there
 *
 * Costs time in proportion to its text. The message is rewound. Return: 0 and the number (over @bytes_max when it is
 * larger); -EBADMSG when it is malformed.
 */
int message_measure(sd_bus_message *m, size_t bytes_max, size_t *ret);
