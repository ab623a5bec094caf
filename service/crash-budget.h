/* SPDX-License-Identifier: MIT */
#pragma once

/* How often a host may crash before it is left alone (contract 3.10, 3.11). Pure: the clock is passed in. */

#include <stdbool.h>
#include <stdint.h>

#include "common/limits.h"

typedef struct CrashBudget {
        uint64_t crashes_usec[HOST_CRASHES_MAX]; /* 0: none */
} CrashBudget;

/**
 * crash_budget_spend() - a crash happened
 * @now_usec:       monotonic
 * @ret_delay_usec: how long to wait before the next start; grows with each crash inside the window
 *
 * Return: true when it may start again, false when this crash was the last one.
 */
bool crash_budget_spend(CrashBudget *budget, uint64_t now_usec, uint64_t *ret_delay_usec);

/** crash_budget_count() - crashes inside the window */
unsigned crash_budget_count(const CrashBudget *budget, uint64_t now_usec);

/** crash_budget_reset() - an explicit reload or change of the plugin; nothing else, a successful start least of all */
void crash_budget_reset(CrashBudget *budget);
