/* SPDX-License-Identifier: MIT */

/* The sandbox beside a real user manager; see tests/integration/test_sandbox.py. */

#include <signal.h>
#include <string.h>

#include "common/cleanup.h"
#include "live.h"

/* A frame by a shell: sizes below 256 only. */
#define SHELL_SEND "send() { printf 'CWX1'\"\\\\$(printf %03o ${#1})\"'\\0\\0\\0%s' \"$1\"; }; "

static void test_walls_hold(void) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(Live) live = { .frames = NULL };

        live_init(&live, UNIT_MANAGER_USER);
        live_run_shell(&live, SHELL_SEND "send hello; read line");
        live_start(&live);
        live_wait_frames(&live, 1);
        g_assert_cmpstr(live_frame(&live, 0), ==, "hello");

        g_test_message("launcher %" G_GUINT64_FORMAT " us, landlock %u; call to started %d us, to report %d us, to "
                       "runtime %d us",
                        live.report->took_usec, live.report->landlock, (int) (live.started_usec - live.start_usec),
                        (int) (live.report_usec - live.start_usec), (int) (live.frame_usec - live.start_usec));
        if (sandbox_report_judge(live.report, &error) < 0)
                g_error("%s", error.message);

        sandbox_unit_stop(live.unit);
        live_wait(&live, &live.stopped);
        g_assert_cmpint(live.stop.end, ==, UNIT_END_STOPPED);
        live_wait(&live, &live.closed);
        g_assert_cmpint(live.close_error, ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        if (!live_is_possible(UNIT_MANAGER_USER))
                return 77;

        g_test_add_func("/live-user/B01-walls-hold", test_walls_hold);
        return g_test_run();
}
