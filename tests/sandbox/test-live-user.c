/* SPDX-License-Identifier: MIT */

/* The sandbox beside a real user manager; tests/integration/test_sandbox.py runs each of these. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "live.h"
#include "sandbox/probe.h"

static char *runtime_path(const char *name) {
        return g_build_filename(g_getenv("XDG_RUNTIME_DIR"), name, NULL);
}

/* The control beside each "can't be reached": from outside it can. */
static void assert_reachable(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
        g_assert_cmpint(connect(fd, (struct sockaddr *) &address, sizeof(address)), ==, 0);
}

static int listen_abstract(const char *name) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        memcpy(address.sun_path + 1, name, strlen(name));
        g_assert_cmpint(bind(fd, (struct sockaddr *) &address,
                                        (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                                                        strlen(name))),
                        ==, 0);
        g_assert_cmpint(listen(fd, 5), ==, 0);
        return fd;
}

static void walls_hold(bool over_all_mounts) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *bus = runtime_path("bus"), *manager = runtime_path("systemd/private");
        const char *sockets[] = { bus, manager, "/run/dbus/system_bus_socket", NULL };
        const char *abstract[] = { "codewhale-test-live", NULL };
        const char *hidden[] = { g_get_home_dir(), g_getenv("XDG_RUNTIME_DIR"), "/etc/passwd", "/root",
                NULL };
        _cleanup_close_ int listening = listen_abstract(abstract[0]);
        g_auto(Live) live = { .frames = NULL };

        (void) listening;
        for (size_t i = 0; sockets[i]; i++)
                assert_reachable(sockets[i]);
        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        if (over_all_mounts)
                live.spec.root = NULL;
        live.spec.sockets = sockets;
        live.spec.abstract = abstract;
        live.spec.hidden = hidden;
        live_run_shell(&live, "send hello; read line");
        live_start(&live);
        live_wait_frames(&live, 1);
        g_assert_cmpstr(live_frame(&live, 0), ==, "hello");
        live_wait(&live, &live.started);
        g_test_message("launcher %" G_GUINT64_FORMAT
                       " us, landlock %u; from the call to the report %d us, to the "
                       "runtime's first byte %d us",
                        live.report->took_usec, live.report->landlock,
                        (int) (live.report_usec - live.start_usec),
                        (int) (live.frame_usec - live.start_usec));
        if (sandbox_report_judge(live.report, &error) < 0)
                g_error("%s", error.message);

        sandbox_unit_stop(live.unit);
        live_wait(&live, &live.stopped);
        g_assert_cmpint(live.stop.end, ==, UNIT_END_STOPPED);
        g_assert_true(live.stop.requested);
        live_wait(&live, &live.closed);
        g_assert_cmpint(live.close_error, ==, 0);
}

static void test_walls_hold(void) {
        walls_hold(false);
}

/* Where the folder that the root is otherwise laid over can't be made */
static void test_walls_hold_over_all_mounts(void) {
        walls_hold(true);
}

/* A wall that does not hold: the launcher says so and refuses by itself, whatever the service would say. */
static void test_wall_that_fails(void) {
        const char *hidden[] = { "/usr/bin", NULL };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(Live) live = { .frames = NULL };
        g_autofree char *marker = NULL;

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        marker = g_build_filename(live.data, "ran", NULL);
        live.spec.hidden = hidden;
        live_run_shell(&live, "touch /data/ran");
        live_start(&live);
        live_wait(&live, &live.stopped);
        live_wait(&live, &live.closed);
        g_assert_cmpint(sandbox_report_judge(live.report, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_SANDBOX_REFUSED);
        g_assert_nonnull(strstr(error.message, "/usr/bin is visible"));
        g_assert_cmpint(live.stop.status, ==, LAUNCHER_EXIT_REFUSED);
        g_assert_false(g_file_test(marker, G_FILE_TEST_EXISTS));
}

static void test_nothing_runs_without_the_word(void) {
        g_auto(Live) live = { .frames = NULL };
        g_autofree char *marker = NULL;

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        marker = g_build_filename(live.data, "ran", NULL);
        live.hold = true;
        live_run_shell(&live, "touch /data/ran");
        live_start(&live);
        live_wait(&live, &live.started);
        while (!live.report)
                g_assert_cmpint(sd_event_run(live.event, 1000000), >=, 0);
        live.channel = channel_free(live.channel);
        live_wait(&live, &live.stopped);
        g_assert_cmpint(live.stop.status, ==, LAUNCHER_EXIT_CHANNEL);
        g_assert_false(g_file_test(marker, G_FILE_TEST_EXISTS));
}

static void test_another_word_is_no_word(void) {
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live.hold = true;
        live_run_shell(&live, "touch /data/ran");
        live_start(&live);
        while (!live.report)
                g_assert_cmpint(sd_event_run(live.event, 1000000), >=, 0);
        g_assert_cmpint(channel_send(live.channel, "{}", 2), ==, 0);
        live_wait(&live, &live.stopped);
        g_assert_cmpint(live.stop.status, ==, LAUNCHER_EXIT_FRAME);
}

/* Older kernels have no Landlock, or one that does not know signals: the launcher's filter takes its place.
 */
static void test_without_landlock(void) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live.spec.without_landlock = true;
        live_run_shell(&live, "kill -0 $$ && send own; kill -0 $PPID || send parent; sh -c 'kill "
                              "-0 $$' || send child");
        live_start(&live);
        live_wait_frames(&live, 3);
        g_assert_cmpuint(live.report->landlock, ==, 0);
        g_assert_cmpint(sandbox_report_judge(live.report, &error), ==, 0);
        g_assert_cmpstr(live_frame(&live, 0), ==, "own");
        g_assert_cmpstr(live_frame(&live, 1), ==, "parent");
        g_assert_cmpstr(live_frame(&live, 2), ==, "child");
        live_wait(&live, &live.stopped);
}

/* With Landlock the sandbox signals its own children and nobody else. */
static void test_signals_stay_inside(void) {
        g_autofree char *script = g_strdup_printf("sleep 100 & kill -0 $! && send child; kill -0 %d || send "
                                                  "test; kill -0 -1 || send all; kill -0 1 || send init",
                        (int) getpid());
        g_auto(Live) live = { .frames = NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live_run_shell(&live, script);
        live_start(&live);
        live_wait_frames(&live, 1);
        if (live.report->landlock < 6) {
                g_test_skip("this kernel's Landlock does not know signals");
                return;
        }
        live_wait(&live, &live.closed);
        g_assert_cmpuint(live.frames->len, >=, 3);
        g_assert_cmpstr(live_frame(&live, 0), ==, "child");
        g_assert_cmpstr(live_frame(&live, 1), ==, "test");
        g_assert_cmpstr(live_frame(&live, live.frames->len - 1), ==, "init");
        live_wait(&live, &live.stopped);
}

static void test_environment(void) {
        g_auto(Live) live = { .frames = NULL };
        const char *environment[] = { "PATH=/usr/bin", "NODE_OPTIONS=", "TRICKY=a b $HOME %h \"q\" \\",
                NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live.spec.environment = environment;
        live_run_shell(&live, "send \"$(tr '\\0' '\\n' < /proc/$$/environ)\"; "
                              "send \"$TRICKY\"; send '$HOME %h'");
        live_start(&live);
        live_wait_frames(&live, 3);
        g_assert_cmpstr(live_frame(&live, 0), ==,
                        "PATH=/usr/bin\nNODE_OPTIONS=\nTRICKY=a b $HOME %h \"q\" \\");
        g_assert_cmpstr(live_frame(&live, 1), ==, "a b $HOME %h \"q\" \\");
        g_assert_cmpstr(live_frame(&live, 2), ==, "$HOME %h");
        live_wait(&live, &live.stopped);
}

static void test_places(void) {
        g_auto(Live) live = { .frames = NULL };
        g_autofree char *written = NULL, *content = NULL;

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        written = g_build_filename(live.data, "kept", NULL);
        live_run_shell(&live, "send \"$(pwd)\"; echo yes > kept; echo no > /plugin/x || send plugin; "
                              "echo no > /host/x || send host; cat /host/codewhale-extension-host.mjs "
                              ">/dev/null && send bundle; umask > /tmp/umask; read mask < /tmp/umask; "
                              "send $mask");
        live_start(&live);
        live_wait_frames(&live, 5);
        g_assert_cmpstr(live_frame(&live, 0), ==, "/data");
        g_assert_cmpstr(live_frame(&live, 1), ==, "plugin");
        g_assert_cmpstr(live_frame(&live, 2), ==, "host");
        g_assert_cmpstr(live_frame(&live, 3), ==, "bundle");
        g_assert_cmpstr(live_frame(&live, 4), ==, "0077");
        live_wait(&live, &live.stopped);
        g_assert_true(g_file_get_contents(written, &content, NULL, NULL));
        g_assert_cmpstr(content, ==, "yes\n");
}

static void test_workspace(void) {
        g_auto(Live) live = { .frames = NULL };
        g_autofree char *workspace = NULL, *file = NULL, *script = NULL;
        const char *hidden[] = { g_get_home_dir(), NULL };

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        workspace = g_build_filename(live.directory, "work space", NULL);
        file = g_build_filename(workspace, "file", NULL);
        g_assert_cmpint(g_mkdir_with_parents(workspace, 0755), ==, 0);
        g_assert_true(g_file_set_contents(file, "seen", -1, NULL));
        live.spec.workspace = workspace;
        live.spec.hidden = hidden; /* the home on the way to it shows nothing else */
        script = g_strdup_printf("send \"$(cat '%s')\"; echo no > '%s' || send read-only", file, file);
        live_run_shell(&live, script);
        live_start(&live);
        live_wait_frames(&live, 2);
        g_assert_cmpstr(live_frame(&live, 0), ==, "seen");
        g_assert_cmpstr(live_frame(&live, 1), ==, "read-only");
        live_wait(&live, &live.stopped);
}

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

/* systemd's own opinion of the walls. What it counts against us is that a user manager runs units as its
 * user, that a JIT maps code, and that it does not know our empty root and bounded /tmp. */
static void test_exposure(void) {
        g_auto(Live) live = { .frames = NULL };
        g_autofree char *command = NULL, *output = NULL;
        const char *word;

        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        live_init(&live, UNIT_MANAGER_USER);
        live_run_shell(&live, "send up; read line");
        live_start(&live);
        live_wait_frames(&live, 1);
        command = g_strdup_printf("systemd-analyze --user security --no-pager '%s'", live.unit_name);
        g_assert_true(g_spawn_command_line_sync(command, &output, NULL, NULL, NULL));
        for (char **lines = g_strsplit(output, "\n", -1), **line = lines; *line; line++)
                if (strstr(*line, "✗") || strstr(*line, "Overall"))
                        g_test_message("%s", *line);
        word = strstr(output, "Overall exposure level");
        g_assert_nonnull(word);
        word = strstr(word, ": ");
        g_assert_nonnull(word);
        g_assert_cmpfloat(g_ascii_strtod(word + 2, NULL), <=, 0.8);
        sandbox_unit_kill(live.unit);
        live_wait(&live, &live.stopped);
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
        g_test_add_func("/live-user/B01-SY-13-walls-hold", test_walls_hold);
        g_test_add_func("/live-user/walls-hold-over-all-mounts", test_walls_hold_over_all_mounts);
        g_test_add_func("/live-user/B02-wall-that-fails", test_wall_that_fails);
        g_test_add_func("/live-user/nothing-runs-without-the-word", test_nothing_runs_without_the_word);
        g_test_add_func("/live-user/another-word-is-no-word", test_another_word_is_no_word);
        g_test_add_func("/live-user/without-landlock", test_without_landlock);
        g_test_add_func("/live-user/signals-stay-inside", test_signals_stay_inside);
        g_test_add_func("/live-user/H06-environment", test_environment);
        g_test_add_func("/live-user/places", test_places);
        g_test_add_func("/live-user/workspace", test_workspace);
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
        g_test_add_func("/live-user/exposure", test_exposure);
        g_test_add_func("/live-user/node", test_node);
        return g_test_run();
}
