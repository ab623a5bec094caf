/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "service/crash-budget.h"

#define WINDOW_USEC ((uint64_t) HOST_CRASH_WINDOW_MSEC * 1000)
#define DELAY_USEC ((uint64_t) HOST_RESTART_MSEC * 1000)

unsigned crash_budget_count(const CrashBudget *budget, uint64_t now_usec) {
        unsigned n = 0;

        for (unsigned i = 0; i < HOST_CRASHES_MAX; i++)
                n += budget->crashes_usec[i] > 0 && now_usec - budget->crashes_usec[i] < WINDOW_USEC;
        return n;
}

bool crash_budget_spend(CrashBudget *budget, uint64_t now_usec, uint64_t *ret_delay_usec) {
        unsigned oldest = 0, n;

        for (unsigned i = 1; i < HOST_CRASHES_MAX; i++)
                if (budget->crashes_usec[i] < budget->crashes_usec[oldest])
                        oldest = i;
        budget->crashes_usec[oldest] = now_usec;

        n = crash_budget_count(budget, now_usec);
        *ret_delay_usec = DELAY_USEC << (n - 1);
        return n < HOST_CRASHES_MAX;
}

void crash_budget_reset(CrashBudget *budget) {
        memset(budget, 0, sizeof *budget);
}
