/* SPDX-License-Identifier: MIT */

/* What a host may do so often and no more within a time: dirty teardowns, lines of its logger. */

#include <glib.h>

#include "service/dirty-window.h"
#include "service/log-meter.h"

#define SECOND UINT64_C(1000000)
#define BEGIN (100 * SECOND)
#define WINDOW (HOST_DIRTY_WINDOW_MSEC * UINT64_C(1000))

static void test_two_make_a_restart_due(void) {
        DirtyWindow window = {};

        g_assert_false(dirty_window_note(&window, BEGIN));
        g_assert_true(dirty_window_note(&window, BEGIN + WINDOW - 1));
}

static void test_outside_the_window_they_do_not_add_up(void) {
        DirtyWindow window = {};

        for (unsigned i = 0; i < 10; i++)
                g_assert_false(dirty_window_note(&window, BEGIN + i * WINDOW));
        g_assert_true(dirty_window_note(&window, BEGIN + 9 * WINDOW + 1));
}

static void test_a_request_does_not_expire(void) {
        DirtyWindow window = {};

        (void) dirty_window_note(&window, BEGIN);
        (void) dirty_window_note(&window, BEGIN + 1);
        g_assert_true(window.due);
        g_assert_true(dirty_window_note(&window, BEGIN + 100 * WINDOW));
        dirty_window_reset(&window);
        g_assert_false(dirty_window_note(&window, BEGIN + 100 * WINDOW + 1));
}

static void test_log_lines(void) {
        LogMeter meter = {};
        unsigned dropped;

        for (unsigned i = 0; i < LOG_LINES_MAX; i++)
                g_assert_true(log_meter_admit(&meter, BEGIN + i, &dropped));
        for (unsigned i = 0; i < 7; i++)
                g_assert_false(log_meter_admit(&meter, BEGIN + SECOND, &dropped));
        g_assert_cmpuint(dropped, ==, 0);

        /* The next window tells of it once. */
        g_assert_true(log_meter_admit(&meter, BEGIN + LOG_LINES_MSEC * UINT64_C(1000), &dropped));
        g_assert_cmpuint(dropped, ==, 7);
        g_assert_true(log_meter_admit(&meter, BEGIN + LOG_LINES_MSEC * UINT64_C(1000) + 1, &dropped));
        g_assert_cmpuint(dropped, ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/host-windows/S10-two-make-a-restart-due", test_two_make_a_restart_due);
        g_test_add_func("/host-windows/S11-outside-of-the-window", test_outside_the_window_they_do_not_add_up);
        g_test_add_func("/host-windows/S11-a-request-does-not-expire", test_a_request_does_not_expire);
        g_test_add_func("/host-windows/log-lines", test_log_lines);
        return g_test_run();
}
