/* SPDX-License-Identifier: MIT */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "sandbox/unit-name.h"

#define WAIT_USEC UINT64_C(30000000)

const char *live_launcher(void) {
        const char *given = g_getenv("CODEWHALE_LAUNCHER");

        return given ? given : LAUNCHER_PATH;
}

bool live_is_possible(UnitManagerKind kind) {
        g_autofree char *path =
                        g_strdup_printf("%s/systemd/private", g_getenv("XDG_RUNTIME_DIR") ?: "/nonexistent");

        if (kind == UNIT_MANAGER_SYSTEM && geteuid() == 0 && access("/run/systemd/private", F_OK) == 0)
                return true;
        if (kind == UNIT_MANAGER_USER && geteuid() != 0 && access(path, F_OK) == 0)
                return true;

        g_test_skip("no such manager of systemd here");
        return false;
}

static void on_frame(Channel *channel, const uint8_t *payload, size_t size, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Live *live = userdata;

        if (live->report) {
                if (live->frames->len == 0)
                        live->frame_usec = g_get_monotonic_time();
                g_ptr_array_add(live->frames, g_bytes_new(payload, size));
                return;
        }
        live->report_usec = g_get_monotonic_time();
        if (sandbox_report_parse((const char *) payload, size, &live->report, &error) < 0)
                g_error("%s: %.*s", error.message, (int) size, (const char *) payload);
        for (size_t i = 0; i < live->report->n_checks; i++)
                g_test_message("%s: %s (%s)", live->report->checks[i].name,
                                live->report->checks[i].held ? "held" : "NOT HELD",
                                live->report->checks[i].detail);
        if (!live->hold)
                (void) channel_send(channel, LAUNCHER_GO_PAYLOAD, strlen(LAUNCHER_GO_PAYLOAD));
}

static void on_closed(Channel *channel, int error, const char *reason, void *userdata) {
        Live *live = userdata;

        (void) channel;

        if (error < 0)
                g_test_message("the channel ended: %s (%s)", reason, strerror(-error));
        live->closed = true;
        live->close_error = error;
}

static const ChannelEvents channel_events = {
        .frame = on_frame,
        .closed = on_closed,
};

static void on_started(SandboxUnit *unit, void *userdata) {
        Live *live = userdata;

        g_assert_true(sandbox_unit_is_running(unit));
        g_assert_false(live->failed || live->stopped || live->started);
        live->started = true;
        live->started_usec = g_get_monotonic_time();
}

static void on_failed(SandboxUnit *unit, const UnitFailure *failure, void *userdata) {
        Live *live = userdata;

        (void) unit;

        g_assert_false(live->failed || live->stopped || live->started);
        live->failed = true;
        live->failure = *failure;
        live->cause = g_strdup(failure->cause);
        g_test_message("failed at %s: %s", unit_stage_to_string(failure->stage), failure->cause);
}

static void on_stopped(SandboxUnit *unit, const UnitStop *stop, void *userdata) {
        Live *live = userdata;
        const char *cgroup = sandbox_unit_cgroup(unit);

        g_assert_true(live->started);
        g_assert_false(live->failed || live->stopped);
        g_assert_false(sandbox_unit_is_running(unit));
        live->stopped = true;
        live->stop = *stop;
        live->cause = g_strdup(stop->cause);
        if (!stop->stuck && cgroup)
                g_assert_cmpint(cgroup_count_processes(cgroup), ==, 0);
        g_test_message("stopped (%s, %s, status %d): %s", unit_end_to_string(stop->end), stop->result,
                        stop->status, stop->cause);
}

static const SandboxUnitEvents unit_events = {
        .started = on_started,
        .failed = on_failed,
        .stopped = on_stopped,
};

static void on_lost(UnitManager *manager, int error, const char *reason, void *userdata) {
        (void) manager;
        (void) userdata;

        g_test_message("manager lost: %s (%s)", reason, strerror(-error));
}

static const UnitManagerEvents manager_events = {
        .lost = on_lost,
};

static char *make_directory(const char *parent, const char *name) {
        char *path = g_build_filename(parent, name, NULL);

        g_assert_cmpint(mkdir(path, 0755), ==, 0);
        return path;
}

void live_init(Live *live, UnitManagerKind kind) {
        static unsigned generation;
        static const char *const environment[] = { "PATH=/usr/bin:/bin", "LANG=C.UTF-8",
                "NODE_OPTIONS=", NULL };
        const char *const *keep = environment;
        const char *parent = g_getenv("CODEWHALE_TEST_DIR") ?: g_get_home_dir();

        *live = (Live){ .frames = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref) };
        g_assert_cmpint(sd_event_new(&live->event), ==, 0);
        g_assert_cmpint(unit_manager_new(live->event, kind, NULL, &manager_events, live, &live->manager), ==,
                        0);

        live->directory = g_build_filename(parent, "live-XXXXXX", NULL);
        g_assert_nonnull(mkdtemp(live->directory));
        g_assert_cmpint(chmod(live->directory, 0755), ==, 0);
        live->data = make_directory(live->directory, "data");
        g_assert_cmpint(chmod(live->data, 0777), ==, 0);
        live->plugin = make_directory(live->directory, "plugin");
        live->root = make_directory(live->directory, "root");
        live->etc = make_directory(live->directory, "etc");
        live->bundle = g_build_filename(live->directory, "host.mjs", NULL);
        g_assert_true(g_file_set_contents(live->bundle, "// empty\n", -1, NULL));

        g_assert_cmpint(unit_name_for_host("test-live", (uint64_t) getpid() * 1000 + ++generation,
                                        &live->unit_name),
                        ==, 0);
        live->spec = (SandboxSpec){
                .unit = live->unit_name,
                .plugin_id = "test-live",
                .user = kind == UNIT_MANAGER_SYSTEM ? "nobody" : NULL,
                .root = live->root,
                .etc = live->etc,
                .launcher = live_launcher(),
                .environment = keep,
                .bundle = live->bundle,
                .plugin_tree = live->plugin,
                .data_directory = live->data,
        };
}

void live_done(Live *live) {
        sandbox_unit_free(live->unit);
        channel_free(live->channel);
        unit_manager_close(live->manager);
        sandbox_report_free(live->report);
        g_ptr_array_unref(live->frames);
        if (live->directory) {
                g_autofree char *parent = g_path_get_dirname(live->directory),
                                *name = g_path_get_basename(live->directory);
                _cleanup_close_ int fd = safe_open_directory(parent);

                (void) safe_remove_tree_at(fd, name);
        }
        g_free(live->directory);
        g_free(live->unit_name);
        g_free(live->data);
        g_free(live->plugin);
        g_free(live->root);
        g_free(live->etc);
        g_free(live->bundle);
        g_free(live->script);
        g_free(live->cause);
        sd_event_unref(live->event);
}

static const char shell_send[] =
                "send() { printf \"CWX1\\\\$(printf %03o ${#1})\\\\0\\\\0\\\\0%s\" \"$1\"; }; ";

void live_run_shell(Live *live, const char *script) {
        static const char *arguments[3];

        live->script = g_strconcat(shell_send, script, NULL);
        arguments[0] = "-c";
        arguments[1] = live->script;
        live->spec.runtime = "/usr/bin/sh";
        live->spec.arguments = arguments;
}

void live_start(Live *live) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int fds[2], r;

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
        g_assert_cmpint(channel_new(live->event, fds[0], &channel_events, live, &live->channel), ==, 0);
        live->start_usec = g_get_monotonic_time();
        r = sandbox_unit_start(live->manager, &live->spec, fds[1], &unit_events, live, &live->unit, &error);
        if (r < 0)
                g_error("%s", error.message);
        g_assert_false(live->started || live->failed);
}

void live_wait(Live *live, const bool *flag) {
        int64_t begin = g_get_monotonic_time();

        while (!*flag) {
                if (g_get_monotonic_time() - begin > (int64_t) WAIT_USEC)
                        g_error("nothing happened in half a minute%s%s", live->cause ? ": " : "",
                                        live->cause ?: "");
                if (live->failed && flag != &live->failed && flag != &live->closed)
                        g_error("failed: %s", live->cause);
                g_assert_cmpint(sd_event_run(live->event, 1000000), >=, 0);
        }
}

void live_wait_end(Live *live) {
        const int64_t begin = g_get_monotonic_time();

        while (!live->stopped && !live->failed) {
                g_assert_cmpint(g_get_monotonic_time() - begin, <, (int64_t) WAIT_USEC);
                g_assert_cmpint(sd_event_run(live->event, 1000000), >=, 0);
        }
}

void live_wait_frames(Live *live, unsigned n) {
        bool enough = false;
        int64_t begin = g_get_monotonic_time();

        while (!enough) {
                if (g_get_monotonic_time() - begin > (int64_t) WAIT_USEC || live->failed)
                        g_error("no frame%s%s", live->cause ? ": " : "", live->cause ?: "");
                if (live->stopped && live->closed && live->frames->len < n)
                        g_error("ended with %u frames: %s", live->frames->len, live->cause);
                enough = live->frames->len >= n;
                if (!enough)
                        g_assert_cmpint(sd_event_run(live->event, 1000000), >=, 0);
        }
}

const char *live_frame(Live *live, unsigned index) {
        static char text[65536];
        gsize size;
        const char *bytes;

        g_assert_cmpuint(index, <, live->frames->len);
        bytes = g_bytes_get_data(g_ptr_array_index(live->frames, index), &size);
        g_assert_cmpuint(size, <, sizeof(text));
        memcpy(text, bytes, size);
        text[size] = 0;
        return text;
}
