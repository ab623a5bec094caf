/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "service/crash-budget.h"

#define SEC UINT64_C(1000000)

static void test_third_stops(void) {
        CrashBudget budget = {};
        uint64_t delay;

        g_assert_true(crash_budget_spend(&budget, 1000 * SEC, &delay));
        g_assert_cmpuint(delay, ==, HOST_RESTART_MSEC * 1000);
        g_assert_true(crash_budget_spend(&budget, 1010 * SEC, &delay));
        g_assert_cmpuint(delay, ==, 2 * HOST_RESTART_MSEC * 1000);
        g_assert_false(crash_budget_spend(&budget, 1020 * SEC, &delay));
        g_assert_cmpuint(crash_budget_count(&budget, 1020 * SEC), ==, 3);
}

static void test_window_restores(void) {
        CrashBudget budget = {};
        uint64_t delay;

        g_assert_true(crash_budget_spend(&budget, 1000 * SEC, &delay));
        g_assert_true(crash_budget_spend(&budget, 1100 * SEC, &delay));
        /* The first one has left the window: this is the second inside it. */
        g_assert_true(crash_budget_spend(&budget, 1301 * SEC, &delay));
        g_assert_cmpuint(delay, ==, 2 * HOST_RESTART_MSEC * 1000);
        g_assert_false(crash_budget_spend(&budget, 1302 * SEC, &delay));
        g_assert_cmpuint(crash_budget_count(&budget, 1700 * SEC), ==, 0);
}

static void test_reset(void) {
        CrashBudget budget = {};
        uint64_t delay;

        for (unsigned i = 0; i < 3; i++)
                (void) crash_budget_spend(&budget, (1000 + i) * SEC, &delay);
        crash_budget_reset(&budget);
        g_assert_cmpuint(crash_budget_count(&budget, 1003 * SEC), ==, 0);
        g_assert_true(crash_budget_spend(&budget, 1003 * SEC, &delay));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/crash-budget/third-crash-stops", test_third_stops);
        g_test_add_func("/crash-budget/S03-window-expiry-restores", test_window_restores);
        g_test_add_func("/crash-budget/reset", test_reset);
        return g_test_run();
}
