/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/limits.h"
#include "service/attempt-meter.h"

#define PAUSE_USEC (UINT64_C(1000) * ATTEMPT_PAUSE_MSEC)

static unsigned take_many(AttemptMeter *meter, const char *client, uint64_t now, unsigned n, unsigned *ret_left_out) {
        unsigned taken = 0;

        for (unsigned i = 0; i < n; i++)
                taken += attempt_meter_take(meter, client, now, ret_left_out);
        return taken;
}

/* The first ones are written down, then one a pause, which says how many were not. */
static void test_one_client(void) {
        g_autoptr(AttemptMeter) meter = attempt_meter_new();
        unsigned left_out = 7;

        g_assert_cmpuint(take_many(meter, ":1.1", 10 * PAUSE_USEC, 1000, &left_out), ==, ATTEMPTS_AT_ONCE_MAX);
        g_assert_cmpuint(left_out, ==, 0);
        g_assert_false(attempt_meter_take(meter, ":1.1", 11 * PAUSE_USEC - 1, &left_out));
        g_assert_true(attempt_meter_take(meter, ":1.1", 11 * PAUSE_USEC, &left_out));
        g_assert_cmpuint(left_out, ==, 1000 - ATTEMPTS_AT_ONCE_MAX + 1);
        g_assert_true(attempt_meter_take(meter, ":1.2", 11 * PAUSE_USEC, &left_out));
        g_assert_cmpuint(left_out, ==, 0);
        g_assert_cmpuint(take_many(meter, ":1.1", 1000 * PAUSE_USEC, 1000, &left_out), ==, ATTEMPTS_AT_ONCE_MAX);
}

/* Leaving the bus and coming back brings nothing. */
static void test_all_clients(void) {
        g_autoptr(AttemptMeter) meter = attempt_meter_new();
        unsigned taken = 0, left_out;

        for (unsigned i = 0; i < 100; i++) {
                g_autofree char *client = g_strdup_printf(":1.%u", i);

                taken += take_many(meter, client, PAUSE_USEC, 100, &left_out);
                attempt_meter_forget(meter, client);
        }
        g_assert_cmpuint(taken, ==, ATTEMPTS_TOTAL_MAX);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/attempt-meter/one-client", test_one_client);
        g_test_add_func("/attempt-meter/all-clients", test_all_clients);
        return g_test_run();
}
