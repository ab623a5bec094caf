/* SPDX-License-Identifier: MIT */
#pragma once

/* How many refused attempts of one client are written down. Without it, anybody could push the record of what was decided
 * out of the bounded log by being refused a million times. No clock: callers pass the time. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct AttemptMeter AttemptMeter;

AttemptMeter *attempt_meter_new(void);
AttemptMeter *attempt_meter_free(AttemptMeter *meter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AttemptMeter, attempt_meter_free)

/**
 * attempt_meter_take() - whether this attempt is to be written down
 * @ret_left_out: how many of the same client were not, since the last that was
 *
 * ATTEMPTS_AT_ONCE_MAX at once, then one each ATTEMPT_PAUSE_MSEC; all clients together ATTEMPTS_TOTAL_MAX at once, so that
 * leaving the bus and coming back brings nothing.
 */
bool attempt_meter_take(AttemptMeter *meter, const char *client, uint64_t now_usec, unsigned *ret_left_out);

/** attempt_meter_forget() - the client left the bus */
void attempt_meter_forget(AttemptMeter *meter, const char *client);
