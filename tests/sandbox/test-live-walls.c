/* SPDX-License-Identifier: MIT */

/* The walls, tried beside a real user manager; tests/integration/test_sandbox.py runs each of these. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "live.h"

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
                live.spec.root = live.spec.etc = NULL;
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
        live_wait(&live, &live.closed);
        live_wait_end(&live);
        g_assert_cmpint(sandbox_report_judge(live.report, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_SANDBOX_REFUSED);
        g_assert_nonnull(strstr(error.message, "/usr/bin is visible"));
        /* It may be gone before systemd calls it started. */
        if (live.stopped)
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

/* Reading tools only read, writing tools run nothing of what is there, a shell does both; what lies beside it is for none. */
static void workspace_is(WorkspaceAccess access, const char *expected) {
        g_auto(Live) live = { .frames = NULL };
        g_autofree char *workspace = NULL, *file = NULL, *job = NULL, *secret = NULL, *script = NULL;
        const char *hidden[] = { g_get_home_dir(), NULL };

        live_init(&live, UNIT_MANAGER_USER);
        workspace = g_build_filename(live.directory, "work space", NULL);
        file = g_build_filename(workspace, "file", NULL);
        job = g_build_filename(workspace, "job", NULL);
        secret = g_build_filename(live.directory, "secret", NULL);
        g_assert_cmpint(g_mkdir_with_parents(workspace, 0755), ==, 0);
        g_assert_true(g_file_set_contents(file, "seen", -1, NULL));
        g_assert_true(g_file_set_contents(job, "#!/bin/sh\nexit 0\n", -1, NULL));
        g_assert_true(g_file_set_contents(secret, "not for it", -1, NULL));
        g_assert_cmpint(chmod(job, 0755), ==, 0);
        /* As for a core tool: there is no bundle and no data. */
        live.spec.bundle = live.spec.plugin_tree = live.spec.data_directory = NULL;
        live.spec.workspace = workspace;
        live.spec.workspace_access = access;
        live.spec.hidden = hidden; /* the home on the way to it shows nothing else */
        script = g_strdup_printf("did=\"$(cat '%s')\"; echo -n >> '%s' && did=\"$did written\"; '%s' && did=\"$did run\"; "
                                 "cat '%s' && did=\"$did secret\"; send \"$did\"", file, file, job, secret);
        live_run_shell(&live, script);
        live_start(&live);
        live_wait_frames(&live, 1);
        g_assert_cmpstr(live_frame(&live, 0), ==, expected);
        live_wait(&live, &live.stopped);
}

static void test_workspace(void) {
        if (!live_is_possible(UNIT_MANAGER_USER))
                return;
        workspace_is(WORKSPACE_RUN, "seen written run");
workspace_is(WORKSPACE_READ, "seen");
        workspace_is(WORKSPACE_WRITE, "seen written");
        workspace_is(WORKSPACE_RUN, "seen written run");
}

/* systemd's own opinion of the walls. What it counts against us is that a user manager runs units as its user, that a JIT maps
 * code, the clock that ProtectClock= lets them read, and that it does not know our empty root and bounded /tmp. */
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
        g_assert_cmpfloat(g_ascii_strtod(word + 2, NULL), <=, 0.7);
        sandbox_unit_kill(live.unit);
        live_wait(&live, &live.stopped);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/live-walls/B01-SY-13-walls-hold", test_walls_hold);
        g_test_add_func("/live-walls/walls-hold-over-all-mounts", test_walls_hold_over_all_mounts);
        g_test_add_func("/live-walls/B02-wall-that-fails", test_wall_that_fails);
        g_test_add_func("/live-walls/nothing-runs-without-the-word", test_nothing_runs_without_the_word);
        g_test_add_func("/live-walls/another-word-is-no-word", test_another_word_is_no_word);
        g_test_add_func("/live-walls/without-landlock", test_without_landlock);
        g_test_add_func("/live-walls/signals-stay-inside", test_signals_stay_inside);
        g_test_add_func("/live-walls/H06-environment", test_environment);
        g_test_add_func("/live-walls/places", test_places);
        g_test_add_func("/live-walls/workspace", test_workspace);
        g_test_add_func("/live-walls/exposure", test_exposure);
        return g_test_run();
}
