/* SPDX-License-Identifier: MIT */
#pragma once

/* How often a running host may be left with what could not be cleaned up, before it is to be restarted once it is idle (contract
 * 3.10, 3.14). Pure: the clock is passed in. */

#include <stdbool.h>
#include <stdint.h>

#include "common/limits.h"

typedef struct DirtyWindow {
        uint64_t dirty_usec[HOST_DIRTY_MAX]; /* 0: none */
        bool due;                            /* never expires; it waits for the end of the process */
} DirtyWindow;

/**
 * dirty_window_note() - one more teardown was dirty
 * @now_usec: monotonic
 *
 * Return: whether a restart is due, now or since earlier.
 */
bool dirty_window_note(DirtyWindow *window, uint64_t now_usec);

/** dirty_window_reset() - the process is gone, and with it what was left in it */
void dirty_window_reset(DirtyWindow *window);
