/* SPDX-License-Identifier: MIT */
#pragma once

/* How much one plugin may write through its logger: LOG_LINES_MAX lines within LOG_LINES_MSEC, so that one that floods costs the
 * journal, and the lines of others in it, little. Pure: the clock is passed in. */

#include <stdbool.h>
#include <stdint.h>

typedef struct LogMeter {
        uint64_t begin_usec; /* of the present window */
        unsigned n;          /* lines in it */
} LogMeter;

/**
 * log_meter_admit() - whether one more line is written
 * @now_usec:    monotonic
 * @ret_dropped: how many were not in the window that ended just now; else 0
 */
bool log_meter_admit(LogMeter *meter, uint64_t now_usec, unsigned *ret_dropped);
