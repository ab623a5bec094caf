/* SPDX-License-Identifier: MIT */

/* The life of a unit beside a real user manager; tests/integration/test_sandbox.py runs each of these. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "live.h"
#include "sandbox/probe.h"
static void test_ends(void) {
        static const struct {
                const char *script;
                UnitEnd end;
                int status;
                const char *cause;
        } cases[] = {
                { "exit 0", UNIT_END_EXITED, 0, "status 0" },
                { "exit 7", UNIT_END_EXITED, 7, "status 7" },
                /* systemd's own number, but the runtime's own exit: counts as the plugin's */
                { "exit 226", UNIT_END_EXITED, 226, "status 226" },
                { "kill -SEGV $$", UNIT_END_SIGNAL, SIGSEGV, "SIGSEGV" },
                { "kill -ABRT $$", UNIT_END_SIGNAL, SIGABRT, "SIGABRT" },
                /* cut off from the bus it can't be told from "systemctl stop" */
                { "kill -TERM $$", UNIT_END_STOPPED, SIGTERM, "from outside" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(Live) live = { .frames = NULL };

                if (!live_is_possible(UNIT_MANAGER_USER))
                        return;
                live_init(&live, UNIT_MANAGER_USER);
                live_run_shell(&live, cases[i].script);
                live_start(&live);
                live_wait(&live, &live.stopped);
                g_assert_cmpint(live.stop.end, ==, cases[i].end);
                g_assert_cmpint(live.stop.status, ==, cases[i].status);
                g_assert_false(live.stop.requested || live.stop.stuck);
                g_assert_nonnull(strstr(live.cause, cases[i].cause));
        }
}

/* Crashed and failed units are forgotten: nothing piles up in the manager. */
static void test_nothing_is_left(void) {
        g_autofree char *output = NULL;

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        for (unsigned i = 0; i < 12; i++) {
                g_auto(Live) live = { .frames = NULL };

                live_init(&live, UNIT_MANAGER_USER);
                if (i % 2)
                        live.spec.plugin_tree = "/nonexistent/plugin";
                live_run_shell(&live, i % 3 ? "exit 1" : "kill -SEGV $$");
                live_start(&live);
                live_wait(&live, i % 2 ? &live.failed : &live.stopped);
        }
        g_assert_true(g_spawn_command_line_sync(
                        "systemctl --user list-units --all --no-legend --plain 'codewhale-host-test*'",
                        &output, NULL, NULL, NULL));
        g_assert_cmpstr(output, ==, "");
}

static void test_survivors(void) {
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live_run_shell(&live,
                        "trap '' TERM HUP; (setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 60; done' "
                        "<&- >&- 2>&- &) ; send forked; exit 0");
        live_start(&live);
        live_wait(&live, &live.stopped); /* on_stopped() checks that the control group is empty */
        g_assert_cmpint(live.frames->len, ==, 1);
        g_assert_false(live.stop.stuck);
        g_assert_cmpint(live.stop.end, ==, UNIT_END_EXITED);
        g_assert_cmpint(live.stop.status, ==, 0);
}

static void test_deaf(void) {
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live_run_shell(&live, "trap '' TERM; send deaf; while :; do sleep 60; done");
        live_start(&live);
        live_wait_frames(&live, 1);
        live_wait(&live, &live.started);
        sandbox_unit_stop(live.unit);
        live_wait(&live, &live.stopped);
        g_assert_true(live.stop.end == UNIT_END_STOPPED || live.stop.end == UNIT_END_TIMEOUT);
        g_assert_cmpint(live.stop.status, ==, SIGKILL);
        g_assert_true(live.stop.requested);
}

static void test_kill(void) {
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live_run_shell(&live, "trap '' TERM; send deaf; while :; do sleep 60; done");
        live_start(&live);
        live_wait_frames(&live, 1);
        sandbox_unit_kill(live.unit);
        live_wait(&live, &live.stopped);
        g_assert_cmpint(live.stop.status, ==, SIGKILL);
        g_assert_cmpint(live.stop.end, ==, UNIT_END_STOPPED);
}

static void test_setup_fails(void) {
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live.spec.plugin_tree = "/nonexistent/plugin";
        live_run_shell(&live, "true");
        live_start(&live);
        live_wait(&live, &live.failed);
        g_assert_cmpint(live.failure.stage, ==, UNIT_STAGE_SETUP);
        g_assert_true(live.failure.is_setup_failure);
        g_assert_nonnull(strstr(live.cause, "226"));
        g_assert_nonnull(strstr(live.cause, "NAMESPACE"));
        live_wait(&live, &live.closed);
        g_assert_null(live.report);
}

static void test_launcher_is_missing(void) {
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live.spec.launcher = live.bundle; /* is there, and is no program */
        live_run_shell(&live, "true");
        live_start(&live);
        live_wait(&live, &live.failed);
        g_assert_cmpint(live.failure.stage, ==, UNIT_STAGE_SETUP);
        g_assert_true(live.failure.is_setup_failure);
        g_assert_nonnull(strstr(live.cause, "EXEC"));
}

static void test_runtime_is_missing(void) {
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live.spec.runtime = "/usr/bin/no-such-runtime";
        live_start(&live);
        live_wait(&live, &live.stopped);
        g_assert_cmpint(live.stop.status, ==, LAUNCHER_EXIT_EXEC);
        g_assert_nonnull(strstr(live.cause, "runtime could not be executed"));
}

static void test_stopped_at_once(void) {
        for (unsigned turns = 0; turns < 6; turns++) {
                g_auto(Live) live = { .frames = NULL };

                if (!live_is_possible(UNIT_MANAGER_USER))
                        return;
                live_init(&live, UNIT_MANAGER_USER);
                live_run_shell(&live, "sleep 60");
                live_start(&live);
                for (unsigned i = 0; i < turns; i++)
                        g_assert_cmpint(sd_event_run(live.event, 2000), >=, 0);
                sandbox_unit_stop(live.unit);
                while (!live.failed && !live.stopped)
                        g_assert_cmpint(sd_event_run(live.event, 1000000), >=, 0);
                if (live.failed)
                        g_assert_cmpint(live.failure.error, ==, -ECANCELED);
                else
                        g_assert_cmpint(live.stop.end, ==, UNIT_END_STOPPED);
        }
}

static void test_freed_while_running(void) {
        g_auto(Live) live = { .frames = NULL };
        g_autofree char *cgroup = NULL;

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live_run_shell(&live, "trap '' TERM; send up; while :; do sleep 60; done");
        live_start(&live);
        live_wait_frames(&live, 1);
        live_wait(&live, &live.started);
        cgroup = g_strdup(sandbox_unit_cgroup(live.unit));
        g_assert_cmpint(cgroup_count_processes(cgroup), >, 0);
        live.unit = sandbox_unit_free(live.unit);
        live_wait(&live, &live.closed);
        for (unsigned i = 0; cgroup_count_processes(cgroup) > 0; i++) {
                g_assert_cmpuint(i, <, 1000);
                g_assert_cmpint(sd_event_run(live.event, 10000), >=, 0);
        }
        g_assert_false(live.stopped || live.failed);
}

/* A unit's life goes on while its manager reads its files anew or executes itself again. */
static void test_manager_changes(const void *data) {
        g_autofree char *command = g_strdup_printf("systemctl --user %s", (const char *) data);
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live_run_shell(&live, "send up; read line; exit 9");
        live_start(&live);
        live_wait_frames(&live, 1);
        live_wait(&live, &live.started);
        for (unsigned i = 0; i < 3; i++) {
                int64_t until = g_get_monotonic_time() + 700000;

                g_assert_cmpint(system(command), ==, 0);
                while (g_get_monotonic_time() < until)
                        g_assert_cmpint(sd_event_run(live.event, 50000), >=, 0);
                g_assert_true(unit_manager_is_ready(live.manager));
                g_assert_true(sandbox_unit_is_running(live.unit));
        }
        g_assert_cmpint(channel_send(live.channel, "\n", 1), ==, 0);
        live_wait(&live, &live.stopped);
        g_assert_cmpint(live.stop.end, ==, UNIT_END_EXITED);
        g_assert_cmpint(live.stop.status, ==, 9);
}

static void test_limits_are_read_back(void) {
        g_auto(Live) live = { .frames = NULL };
        CgroupReading reading;

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live.spec.memory_bytes = MIB(96);
        live.spec.data_bytes = MIB(800);
        live_run_shell(&live, "send up; read line");
        live_start(&live);
        live_wait_frames(&live, 1);
        live_wait(&live, &live.started);
        g_assert_cmpuint(live.report->data_bytes, ==, MIB(800));
        g_assert_cmpuint(live.report->files, ==, 4096);
        g_assert_cmpint(sandbox_unit_read_usage(live.unit, &reading), ==, 0);
        if (reading.memory.enforced)
                g_assert_cmpuint(reading.memory.limit, ==, MIB(96));
        else
                g_assert_nonnull(strstr(reading.memory.reason, "memory controller is not delegated"));
        g_test_message("memory: %s", reading.memory.enforced ? "enforced" : reading.memory.reason);
        g_test_message("tasks: %s", reading.tasks.enforced ? "enforced" : reading.tasks.reason);
        g_test_message("cpu: %s", reading.cpu.enforced ? "enforced" : reading.cpu.reason);
        sandbox_unit_kill(live.unit);
        live_wait(&live, &live.stopped);
}

typedef struct Probed {
        bool done;
        int error;
        char *cause;
        size_t n_checks;
        bool memory_known;
} Probed;

static void on_probed(SandboxProbe *probe, const SandboxProbeResult *result, void *userdata) {
        Probed *probed = userdata;

        (void) probe;

        probed->done = true;
        probed->error = result->error;
        probed->cause = g_strdup(result->cause);
        probed->n_checks = result->report ? result->report->n_checks : 0;
        probed->memory_known = result->limits.memory.enforced || result->limits.memory.reason[0];
        g_test_message("probe took %" G_GUINT64_FORMAT " us to its report", result->start_usec);
}

static void test_probe(void) {
        g_autoptr(SandboxProbe) probe = NULL;
        g_auto(Live) live = { .frames = NULL };
        Probed probed = {};

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live_run_shell(&live, "exit 3"); /* is not run */
        g_assert_cmpint(sandbox_probe_new(live.manager, &live.spec, on_probed, &probed, &probe, NULL), ==,
                        0);
        live_wait(&live, &probed.done);
        g_assert_cmpstr(probed.cause, ==, NULL);
        g_assert_cmpint(probed.error, ==, 0);
        g_assert_cmpuint(probed.n_checks, >, 20);
        g_assert_true(probed.memory_known);
}

static void test_probe_fails(void) {
        g_autoptr(SandboxProbe) probe = NULL;
        g_auto(Live) live = { .frames = NULL };
        Probed probed = {};

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live.spec.data_directory = "/nonexistent/data";
        g_assert_cmpint(sandbox_probe_new(live.manager, &live.spec, on_probed, &probed, &probe, NULL), ==,
                        0);
        live_wait(&live, &probed.done);
        g_assert_cmpint(probed.error, <, 0);
        g_assert_nonnull(strstr(probed.cause, "NAMESPACE"));
        g_free(probed.cause);
}

static void test_node(void) {
        const char *node = g_getenv("CODEWHALE_NODE");
        static const char *const arguments[] = { "--max-old-space-size=256", "--no-addons",
                "--input-type=module", "-e",
                "const "
                "h=Buffer.from('CWX1\\x05\\0\\0\\0hello','latin1');process.stdout.write(h);process.stdin."
                "resume()",
                NULL };

        if (!node) {
                g_test_skip("CODEWHALE_NODE does not name a Node");
                return;
        }
        for (unsigned i = 0; i < 5; i++) {
                g_auto(Live) live = { .frames = NULL };

                if (!live_is_possible(UNIT_MANAGER_USER))
                        return;
                live_init(&live, UNIT_MANAGER_USER);
                live.spec.runtime = node;
                live.spec.arguments = arguments;
                live_start(&live);
                live_wait_frames(&live, 1);
                g_test_message("launcher %d us; from the call to the report %d us, to Node's first byte %d "
                               "us",
                                (int) live.report->took_usec, (int) (live.report_usec - live.start_usec),
                                (int) (live.frame_usec - live.start_usec));
                channel_free(g_steal_pointer(&live.channel));
                live_wait(&live, &live.stopped);
                g_assert_cmpint(live.stop.end, ==, UNIT_END_EXITED);
                g_assert_cmpint(live.stop.status, ==, 0);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/live-user/ends", test_ends);
        g_test_add_func("/live-user/SY-01-nothing-is-left", test_nothing_is_left);
        g_test_add_func("/live-user/SY-04-survivors", test_survivors);
        g_test_add_func("/live-user/FR-15-deaf", test_deaf);
        g_test_add_func("/live-user/kill", test_kill);
        g_test_add_func("/live-user/SY-16-set-up-fails", test_setup_fails);
        g_test_add_func("/live-user/launcher-is-no-program", test_launcher_is_missing);
        g_test_add_func("/live-user/runtime-is-missing", test_runtime_is_missing);
        g_test_add_func("/live-user/stopped-at-once", test_stopped_at_once);
        g_test_add_func("/live-user/freed-while-running", test_freed_while_running);
        g_test_add_data_func("/live-user/SY-03-daemon-reload", "daemon-reload", test_manager_changes);
        g_test_add_data_func("/live-user/daemon-reexec", "daemon-reexec", test_manager_changes);
        g_test_add_func("/live-user/SY-11-limits-are-read-back", test_limits_are_read_back);
        g_test_add_func("/live-user/probe", test_probe);
        g_test_add_func("/live-user/B02-probe-fails", test_probe_fails);
        g_test_add_func("/live-user/node", test_node);
        return g_test_run();
}
