/* SPDX-License-Identifier: MIT */

/* The sandbox beside the real system manager, which enforces limits everywhere; needs root. tests/system
 * runs each of these. */

#include <signal.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "live.h"

static void test_walls_hold(void) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const char *sockets[] = { "/run/dbus/system_bus_socket", "/run/systemd/private", NULL };
        const char *hidden[] = { "/root", "/etc/shadow", "/run/systemd/private", NULL };
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_SYSTEM))
                return;
        live_init(&live, UNIT_MANAGER_SYSTEM);
        live.spec.sockets = sockets;
        live.spec.hidden = hidden;
        live_run_shell(&live, "send \"$(id -u)\"; read line");
        live_start(&live);
        live_wait_frames(&live, 1);
        g_assert_cmpstr(live_frame(&live, 0), ==, "65534");
        g_assert_cmpint(sandbox_report_judge(live.report, &error), ==, 0);
        sandbox_unit_stop(live.unit);
        live_wait(&live, &live.stopped);
}

/* Without a user the host would be root. */
static void test_never_as_root(void) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_SYSTEM))
                return;
        live_init(&live, UNIT_MANAGER_SYSTEM);
        live.spec.user = NULL;
        live_run_shell(&live, "true");
        g_assert_cmpint(sandbox_spec_check(&live.spec, true, &error), ==, -EINVAL);
        g_assert_nonnull(strstr(error.message, "root"));
}

static void test_memory_limit(void) {
        g_auto(Live) live = { .frames = NULL };
        CgroupReading reading;

        if (!live_is_possible(UNIT_MANAGER_SYSTEM))
                return;
        live_init(&live, UNIT_MANAGER_SYSTEM);
        live.spec.memory_bytes = MIB(50);
        live.spec.data_bytes = MIB(2000);
        live_run_shell(&live,
                        "send up; read line; exec tail /dev/zero"); /* keeps the endless line in memory */
        live_start(&live);
        live_wait_frames(&live, 1);
        live_wait(&live, &live.started);
        g_assert_cmpint(sandbox_unit_read_usage(live.unit, &reading), ==, 0);
        g_assert_true(reading.memory.enforced);
        g_assert_cmpuint(reading.memory.limit, ==, MIB(50));
        g_assert_cmpuint(reading.memory.usage, >, 0);

        g_assert_cmpint(channel_send(live.channel, "\n", 1), ==, 0);
        live_wait(&live, &live.stopped);
        g_assert_cmpint(live.stop.end, ==, UNIT_END_MEMORY);
        g_assert_nonnull(strstr(live.cause, "memory limit of 50 MiB"));
        g_assert_false(live.stop.requested);
}

/* The data limit answers inside the process instead: the allocation fails, the host lives. */
static void test_data_limit(void) {
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_SYSTEM))
                return;
        live_init(&live, UNIT_MANAGER_SYSTEM);
        live.spec.memory_bytes = MIB(500);
        live.spec.data_bytes = MIB(40);
        live_run_shell(&live, "tail /dev/zero || send failed");
        live_start(&live);
        live_wait_frames(&live, 1);
        g_assert_cmpstr(live_frame(&live, 0), ==, "failed");
        live_wait(&live, &live.stopped);
        g_assert_cmpint(live.stop.end, ==, UNIT_END_EXITED);
}

static void test_fork_bomb(void) {
        g_auto(Live) live = { .frames = NULL };
        CgroupReading reading;

        if (!live_is_possible(UNIT_MANAGER_SYSTEM))
                return;
        live_init(&live, UNIT_MANAGER_SYSTEM);
        live.spec.tasks = 24;
        live_run_shell(&live, "send up; (bomb() { while :; do sleep 60 & bomb & done; }; bomb) <&- >&- & "
                              "read line; "
                              /* no "send": that forks, and there is no task left */
                              "printf 'CWX1\\006\\0\\0\\0usable'; read line");
        live_start(&live);
        live_wait_frames(&live, 1);
        live_wait(&live, &live.started);
        for (;;) {
                g_assert_cmpint(sandbox_unit_read_usage(live.unit, &reading), ==, 0);
                g_assert_true(reading.tasks.enforced);
                g_assert_cmpuint(reading.tasks.limit, ==, 24);
                g_assert_cmpuint(reading.tasks.usage, <=, 24);
                if (reading.tasks.usage == 24)
                        break;
                g_assert_cmpint(sd_event_run(live.event, 1000), >=, 0);
        }
        g_assert_cmpint(channel_send(live.channel, "\n", 1), ==, 0);
        live_wait_frames(&live, 2);
        g_assert_cmpstr(live_frame(&live, 1), ==, "usable");
        sandbox_unit_kill(live.unit);
        live_wait(&live, &live.stopped);
        g_assert_false(live.stop.stuck);
}

static void test_cpu_quota(void) {
        g_auto(Live) live = { .frames = NULL };
        CgroupReading reading;

        if (!live_is_possible(UNIT_MANAGER_SYSTEM))
                return;
        live_init(&live, UNIT_MANAGER_SYSTEM);
        live.spec.cpu_percent = 25;
        live_run_shell(&live, "send up; read line");
        live_start(&live);
        live_wait_frames(&live, 1);
        live_wait(&live, &live.started);
        g_assert_cmpint(sandbox_unit_read_usage(live.unit, &reading), ==, 0);
        if (reading.cpu.enforced)
                g_assert_cmpuint(reading.cpu.limit, ==, 250000);
        else
                g_test_message("cpu: %s", reading.cpu.reason);
        sandbox_unit_kill(live.unit);
        live_wait(&live, &live.stopped);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/live-system/B01-walls-hold", test_walls_hold);
        g_test_add_func("/live-system/never-as-root", test_never_as_root);
        g_test_add_func("/live-system/SY-11-memory-limit", test_memory_limit);
        g_test_add_func("/live-system/data-limit", test_data_limit);
        g_test_add_func("/live-system/SY-12-fork-bomb", test_fork_bomb);
        g_test_add_func("/live-system/cpu-quota", test_cpu_quota);
        return g_test_run();
}
