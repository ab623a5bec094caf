/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "fake-manager.h"
#include "sandbox/unit.h"

/* One unit beside the fake manager. */
typedef struct Trial {
        sd_event *event;
        FakeManager fake;
        UnitManager *manager;
        SandboxUnit *unit;
        SandboxSpec spec;
        int peer;
        char *groups; /* a hierarchy of ordinary files */

        unsigned n_started, n_failed, n_stopped;
        UnitFailure failure;
        UnitStop stop;
        char *cause, *property;
        bool free_when_told;
} Trial;

static void trial_free_unit(Trial *trial) {
        if (trial->free_when_told)
                trial->unit = sandbox_unit_free(trial->unit);
}

static void on_started(SandboxUnit *unit, void *userdata) {
        Trial *trial = userdata;

        g_assert_true(unit == trial->unit);
        g_assert_cmpuint(trial->n_started + trial->n_failed + trial->n_stopped, ==, 0);
        trial->n_started++;
        trial_free_unit(trial);
}

static void on_failed(SandboxUnit *unit, const UnitFailure *failure, void *userdata) {
        Trial *trial = userdata;

        g_assert_true(unit == trial->unit);
        g_assert_cmpuint(trial->n_started + trial->n_failed + trial->n_stopped, ==, 0);
        g_assert_cmpint(failure->error, <, 0);
        trial->n_failed++;
        trial->failure = *failure;
        trial->cause = g_strdup(failure->cause);
        trial->property = g_strdup(failure->property);
        trial_free_unit(trial);
}

static void on_stopped(SandboxUnit *unit, const UnitStop *stop, void *userdata) {
        Trial *trial = userdata;

        g_assert_true(unit == trial->unit);
        g_assert_cmpuint(trial->n_started, ==, 1);
        g_assert_cmpuint(trial->n_failed + trial->n_stopped, ==, 0);
        trial->n_stopped++;
        trial->stop = *stop;
        trial->cause = g_strdup(stop->cause);
        trial_free_unit(trial);
}

static const SandboxUnitEvents unit_events = {
        .started = on_started,
        .failed = on_failed,
        .stopped = on_stopped,
};

static const UnitManagerEvents manager_events = { .ready = NULL };

static void trial_init(Trial *trial) {
        static const char *const environment[] = { "PATH=/usr/bin", "NODE_OPTIONS=", NULL };
        static const char *const arguments[] = { "--no-addons", "/host/codewhale-extension-host.mjs",
                "--tier=plugin", NULL };
        const char *const *keep = environment, *const *words = arguments;

        *trial = (Trial){ .peer = -EBADF };
        g_assert_cmpint(sd_event_new(&trial->event), ==, 0);
        fake_manager_init(&trial->fake, trial->event);
        fake_manager_listen(&trial->fake);
        trial->groups = g_dir_make_tmp("groups-XXXXXX", NULL);
        cgroup_set_root(trial->groups);
        trial->spec = (SandboxSpec){
                .unit = "codewhale-host-a\\x2db-1.service",
                .plugin_id = "a-b",
                .binds_to = "codewhale-extensions.service",
                .launcher = "/usr/libexec/codewhale-host-launcher",
                .runtime = "/opt/node/bin/node",
                .arguments = words,
                .environment = keep,
                .bundle = "/usr/share/host.mjs",
                .plugin_tree = "/home/u/staged",
                .data_directory = "/home/u/data",
        };
        g_assert_cmpint(unit_manager_new(trial->event, UNIT_MANAGER_ADDRESS, trial->fake.address,
                                        &manager_events, NULL, &trial->manager),
                        ==, 0);
}

static void trial_done(Trial *trial) {
        g_autofree char *parent = g_path_get_dirname(trial->groups),
                        *name = g_path_get_basename(trial->groups);
        _cleanup_close_ int fd = safe_open_directory(parent);

        sandbox_unit_free(trial->unit);
        unit_manager_close(trial->manager);
        fake_manager_done(&trial->fake);
        close_fd(&trial->peer);
        sd_event_unref(trial->event);
        cgroup_set_root(NULL);
        (void) safe_remove_tree_at(fd, name);
        g_free(trial->groups);
        g_free(trial->cause);
        g_free(trial->property);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Trial, trial_done)

static void trial_start(Trial *trial) {
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
        trial->peer = fds[0];
        g_assert_cmpint(sandbox_unit_start(trial->manager, &trial->spec, fds[1], &unit_events, trial,
                                        &trial->unit, NULL),
                        ==, 0);
        g_assert_cmpuint(trial->n_started + trial->n_failed, ==, 0);
}

/* Runs the loop until a counter is no longer zero. */
static void trial_wait(Trial *trial, const unsigned *counter) {
        int64_t begin = g_get_monotonic_time();

        while (*counter == 0) {
                g_assert_cmpint(g_get_monotonic_time() - begin, <, 30000000);
                g_assert_cmpint(sd_event_run(trial->event, 1000000), >=, 0);
        }
}

/* What is under way gets done. */
static void trial_settle(Trial *trial) {
        for (unsigned i = 0; i < 200; i++)
                g_assert_cmpint(sd_event_run(trial->event, 300), >=, 0);
}

static void trial_processes(Trial *trial, const char *processes) {
        g_autofree char *folder = g_build_filename(trial->groups, "unified", "fake.service", NULL);
        g_autofree char *file = g_build_filename(folder, "cgroup.procs", NULL);

        trial->fake.control_group = "/fake.service";
        g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
        g_assert_true(g_file_set_contents(file, processes, -1, NULL));
}

static void test_all_walls_are_asked_for(void) {
        g_auto(Trial) trial;
        size_t n;
        const Wall *walls = walls_get(&n);

        trial_init(&trial);
        trial_start(&trial);
        trial_wait(&trial, &trial.n_started);
        for (size_t i = 0; i < n; i++)
                g_assert_true(fake_manager_was_given(&trial.fake, walls[i].property));
        g_assert_cmpstr(trial.fake.unit, ==, trial.spec.unit);
        g_assert_true(fake_manager_was_given(&trial.fake, "StandardInputFileDescriptor"));
        g_assert_true(fake_manager_was_given(&trial.fake, "StandardOutputFileDescriptor"));
        g_assert_true(fake_manager_was_given(&trial.fake, "ExecStart"));
        g_assert_false(fake_manager_was_given(&trial.fake, "ExecStartEx")); /* systemd 252 can't read it back */
        g_assert_true(fake_manager_was_given(&trial.fake, "MemoryMax"));
        g_assert_true(fake_manager_was_given(&trial.fake, "LimitDATA"));
        g_assert_true(fake_manager_was_given(&trial.fake, "TasksMax"));
        g_assert_false(fake_manager_was_given(&trial.fake, "User"));
        g_assert_false(fake_manager_was_given(&trial.fake, "CPUQuotaPerSecUSec"));
        g_assert_cmpstr(g_hash_table_lookup(trial.fake.texts, "BindsTo"), ==,
                        "codewhale-extensions.service");
        g_assert_cmpstr(g_hash_table_lookup(trial.fake.texts, "Slice"), ==, "codewhale.slice");
        g_assert_cmpstr(g_hash_table_lookup(trial.fake.texts, "NoExecPaths"), ==, "+/plugin,+/data");
        g_assert_cmpstr(g_hash_table_lookup(trial.fake.texts, "WorkingDirectory"), ==, "/data");
        g_assert_cmpstr(g_hash_table_lookup(trial.fake.texts, "Environment"), ==,
                        "PATH=/usr/bin,NODE_OPTIONS=");
        g_assert_cmpuint(sandbox_unit_refused_walls(trial.unit).rows, ==, 0);
}

/* Nothing is asked for that was not given, and a root brings nothing along. */
static void test_root(void) {
        for (int given = 0; given <= 1; given++) {
                g_auto(Trial) trial;

                trial_init(&trial);
                trial.spec.root = given ? "/home/u/sandbox" : NULL;
                trial.spec.etc = given ? "/home/u/sandbox-etc" : NULL;
                trial_start(&trial);
                trial_wait(&trial, &trial.n_started);
                g_assert_cmpstr(g_hash_table_lookup(trial.fake.texts, "RootDirectory"), ==, trial.spec.root);
                g_assert_cmpint(fake_manager_was_given(&trial.fake, "MountAPIVFS"), ==, given);
                g_assert_true(fake_manager_was_given(&trial.fake, "TemporaryFileSystem"));
                g_assert_cmpstr(g_hash_table_lookup(trial.fake.texts, "ProtectSystem"), ==, given ? "full" : "yes");
        }
}

static void test_optional_property_refused(void) {
        static const char *const refused[] = { "ProcSubset", "ProtectClock", "MemorySwapMax", NULL };
        g_auto(Trial) trial;
        WallSet without;
        size_t n;
        const Wall *walls = walls_get(&n);

        trial_init(&trial);
        trial.fake.refused = refused;
        trial_start(&trial);
        trial_wait(&trial, &trial.n_started);
        g_assert_cmpuint(trial.fake.n_starts, ==, 4);
        without = sandbox_unit_refused_walls(trial.unit);
        for (size_t i = 0; i < n; i++)
                g_assert_cmpint(wall_set_has(&without, i), ==, g_strv_contains(refused, walls[i].property));
        for (size_t i = 0; refused[i]; i++)
                g_assert_false(fake_manager_was_given(&trial.fake, refused[i]));
        g_assert_true(fake_manager_was_given(
                        &trial.fake, "ProtectProc")); /* a name that begins alike stays */
}

static void assert_refusal_ends(const char *const *refused) {
        g_auto(Trial) trial;

        trial_init(&trial);
        trial.fake.refused = refused;
        trial_start(&trial);
        trial_wait(&trial, &trial.n_failed);
        g_assert_cmpint(trial.failure.stage, ==, UNIT_STAGE_REQUEST);
        g_assert_true(trial.failure.is_setup_failure);
        g_assert_cmpstr(trial.property, ==, refused[0]);
        g_assert_nonnull(strstr(trial.cause, refused[0]));
        g_assert_cmpuint(trial.fake.n_starts, ==, 1);
}

static void test_security_property_refused(void) {
        size_t n;
        const Wall *walls = walls_get(&n);

        for (size_t i = 0; i < n; i++) {
                const char *refused[] = { walls[i].property, NULL };

                if (walls[i].security)
                        assert_refusal_ends(refused);
        }
}

static void test_request_refused(void) {
        g_auto(Trial) trial;

        trial_init(&trial);
        trial.fake.refusal = "Unit was already loaded or has a fragment file.";
        trial_start(&trial);
        trial_wait(&trial, &trial.n_failed);
        g_assert_cmpint(trial.failure.stage, ==, UNIT_STAGE_REQUEST);
        g_assert_null(trial.property);
        g_assert_nonnull(strstr(trial.cause, "already loaded"));
}

static void test_set_up_fails(void) {
        g_auto(Trial) trial;

        trial_init(&trial);
        trial.fake.job_result = NULL;
        trial_start(&trial);
        trial_wait(&trial, &trial.fake.n_starts);
        trial_settle(&trial);
        fake_manager_state(&trial.fake, "failed", "exit-code", CLD_EXITED, 226);
        fake_manager_job(&trial.fake, "failed");
        trial_wait(&trial, &trial.n_failed);
        g_assert_cmpint(trial.failure.stage, ==, UNIT_STAGE_SETUP);
        g_assert_true(trial.failure.is_setup_failure);
        g_assert_nonnull(strstr(trial.cause, "NAMESPACE"));
}

static void test_job_results(void) {
        static const char *const results[] = { "failed", "canceled", "timeout", "dependency", "skipped",
                "invalid" };

        for (size_t i = 0; i < G_N_ELEMENTS(results); i++) {
                g_auto(Trial) trial;

                trial_init(&trial);
                trial.fake.job_result = results[i];
                trial_start(&trial);
                trial_wait(&trial, &trial.n_failed);
                g_assert_true(trial.failure.is_setup_failure);
                g_assert_nonnull(strstr(trial.cause, results[i]));
        }
}

static void test_results(void) {
        static const struct {
                const char *active;
                const char *result;
                int code;
                int status;
                UnitEnd end;
        } cases[] = {
                { "inactive", "success", CLD_EXITED, 0, UNIT_END_EXITED },
                { "failed", "exit-code", CLD_EXITED, 65, UNIT_END_EXITED },
                { "failed", "exit-code", CLD_EXITED, 226, UNIT_END_EXITED },
                { "failed", "signal", CLD_KILLED, SIGSEGV, UNIT_END_SIGNAL },
                { "failed", "core-dump", CLD_DUMPED, SIGABRT, UNIT_END_SIGNAL },
                { "failed", "signal", CLD_KILLED, SIGKILL, UNIT_END_SIGNAL },
                { "failed", "oom-kill", CLD_KILLED, SIGKILL, UNIT_END_MEMORY },
                { "failed", "oom-kill", CLD_EXITED, 1, UNIT_END_MEMORY },
                { "failed", "timeout", CLD_KILLED, SIGKILL, UNIT_END_TIMEOUT },
                { "inactive", "success", CLD_KILLED, SIGTERM, UNIT_END_STOPPED },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(Trial) trial;

                trial_init(&trial);
                trial_start(&trial);
                trial_wait(&trial, &trial.n_started);
                fake_manager_state(&trial.fake, cases[i].active, cases[i].result, cases[i].code,
                                cases[i].status);
                trial_wait(&trial, &trial.n_stopped);
                g_assert_cmpint(trial.stop.end, ==, cases[i].end);
                g_assert_cmpint(trial.stop.status, ==, cases[i].status);
                g_assert_false(trial.stop.requested);
        }
}

/* The main process can be gone before the job's end is told. */
static void test_ends_before_job(void) {
        g_auto(Trial) trial;

        trial_init(&trial);
        trial.fake.job_result = NULL;
        trial_start(&trial);
        trial_wait(&trial, &trial.fake.n_starts);
        trial_settle(&trial);
        fake_manager_state(&trial.fake, "inactive", "success", CLD_EXITED, 0);
        trial_settle(&trial);
        g_assert_cmpuint(trial.n_started + trial.n_failed + trial.n_stopped, ==, 0);
        fake_manager_job(&trial.fake, "done");
        trial_wait(&trial, &trial.n_stopped);
        g_assert_cmpuint(trial.n_started, ==, 1);
}

static void test_another_job(void) {
        g_auto(Trial) trial;

        trial_init(&trial);
        trial.fake.job_result = NULL;
        trial_start(&trial);
        trial_wait(&trial, &trial.fake.n_starts);
        trial_settle(&trial);
        g_assert_cmpint(sd_bus_emit_signal(trial.fake.bus, "/org/freedesktop/systemd1",
                                        "org.freedesktop.systemd1.Manager", "JobRemoved", "uoss", 8,
                                        "/org/freedesktop/systemd1/job/8", "other.service", "failed"),
                        >=, 0);
        trial_settle(&trial);
        g_assert_cmpuint(trial.n_started + trial.n_failed, ==, 0);
        fake_manager_job(&trial.fake, "done");
        trial_wait(&trial, &trial.n_started);
}

static void test_survivors_are_killed(void) {
        g_auto(Trial) trial;

        trial_init(&trial);
        trial_processes(&trial, "17\n");
        trial_start(&trial);
        trial_wait(&trial, &trial.n_started);
        g_assert_cmpstr(sandbox_unit_cgroup(trial.unit), ==, "/fake.service");

        /* the main process is gone, the rest is not: it gets killed without a wait */
        fake_manager_state(&trial.fake, "deactivating", "success", CLD_EXITED, 0);
        trial_wait(&trial, &trial.fake.n_kills);
        g_assert_cmpint(trial.fake.signal, ==, SIGKILL);

        /* systemd says it is over; but somebody is still there */
        fake_manager_state(&trial.fake, "inactive", "success", CLD_EXITED, 0);
        trial_settle(&trial);
        g_assert_cmpuint(trial.n_stopped, ==, 0);
        trial_processes(&trial, "");
        trial_wait(&trial, &trial.n_stopped);
        g_assert_false(trial.stop.stuck);
}

static void test_stuck(void) {
        g_auto(Trial) trial;

        trial_init(&trial);
        trial_processes(&trial, "17\n18\n");
        trial_start(&trial);
        trial_wait(&trial, &trial.n_started);
        fake_manager_state(&trial.fake, "failed", "timeout", CLD_KILLED, SIGKILL);
        trial_wait(&trial, &trial.n_stopped);
        g_assert_true(trial.stop.stuck);
        g_assert_cmpuint(trial.stop.n_left, ==, 2);
}

static void test_stop(void) {
        g_auto(Trial) trial;

        trial_init(&trial);
        trial_start(&trial);
        trial_wait(&trial, &trial.n_started);
        sandbox_unit_stop(trial.unit);
        sandbox_unit_stop(trial.unit);
        trial_wait(&trial, &trial.fake.n_stops);
        g_assert_cmpuint(trial.fake.n_kills, ==, 0);
        trial_wait(&trial, &trial.fake.n_kills); /* nothing happened: after HOST_KILL_MSEC */
        g_assert_cmpuint(trial.fake.n_stops, ==, 1);
        fake_manager_state(&trial.fake, "failed", "signal", CLD_KILLED, SIGKILL);
        trial_wait(&trial, &trial.n_stopped);
        g_assert_cmpint(trial.stop.end, ==, UNIT_END_STOPPED);
        g_assert_true(trial.stop.requested);
        sandbox_unit_stop(trial.unit); /* harmless */
        sandbox_unit_kill(trial.unit);
}

static void test_manager_comes_late(void) {
        g_auto(Trial) trial;

        trial_init(&trial);
        fake_manager_unlisten(&trial.fake);
        trial_start(&trial);
        trial_settle(&trial);
        g_assert_cmpuint(trial.n_started + trial.n_failed, ==, 0);
        fake_manager_listen(&trial.fake);
        trial_wait(&trial, &trial.n_started);
}

/* The manager was never there, or went away in the middle. */
static void test_stopped_while_waiting(void) {
        for (unsigned i = 0; i < 2; i++) {
                g_auto(Trial) trial;

                trial_init(&trial);
                trial.fake.silent = true;
                if (i == 0)
                        fake_manager_unlisten(&trial.fake);
                trial_start(&trial);
                if (i == 1) {
                        trial_wait(&trial, &trial.fake.n_starts);
                        fake_manager_unlisten(&trial.fake);
                        trial_settle(&trial);
                }
                sandbox_unit_stop(trial.unit);
                g_assert_cmpuint(trial.n_failed, ==, 0);
                trial_wait(&trial, &trial.n_failed);
                g_assert_cmpint(trial.failure.error, ==, -ECANCELED);
        }
}

/* It is executed anew in the middle of a start, and may have read the request, and begun with it, or not. */
static void test_manager_lost_during_start(void) {
        static const struct {
                bool answered;
                const char *active;
                bool job;
                unsigned n_starts, n_failed;
        } cases[] = {
                { false, NULL, false, 2, 0 }, { false, "inactive", true, 1, 0 }, { false, "activating", false, 1, 0 },
                { true, "active", false, 1, 0 }, { true, "inactive", true, 1, 0 }, { true, NULL, false, 1, 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(Trial) trial;

                trial_init(&trial);
                trial.fake.silent = !cases[i].answered;
                trial.fake.job_result = NULL;
                trial_start(&trial);
                trial_wait(&trial, &trial.fake.n_starts);
                trial_settle(&trial);
                fake_manager_unlisten(&trial.fake);
                trial_settle(&trial);
                g_assert_cmpuint(trial.n_started + trial.n_failed, ==, 0);
                trial.fake.silent = false;
                trial.fake.job_result = "done";
                trial.fake.active = cases[i].active;
                trial.fake.job = cases[i].job;
                fake_manager_listen(&trial.fake);
                if (cases[i].job || g_strcmp0(cases[i].active, "activating") == 0) {
                        trial_settle(&trial);
                        trial.fake.job = false;
                        trial.fake.active = "active";
                }
                trial_wait(&trial, cases[i].n_failed ? &trial.n_failed : &trial.n_started);
                g_assert_cmpuint(trial.fake.n_starts, ==, cases[i].n_starts);
                g_assert_true(!trial.n_failed || trial.failure.is_setup_failure);
        }
}

/* The user manager is killed, and the unit with it; nobody is left to tell. */
static void test_manager_lost_with_unit(void) {
        g_auto(Trial) trial;

        trial_init(&trial);
        trial_processes(&trial, "17\n");
        trial_start(&trial);
        trial_wait(&trial, &trial.n_started);
        fake_manager_unlisten(&trial.fake);
        trial_settle(&trial);
        g_assert_cmpuint(trial.n_stopped, ==, 0);
        trial_processes(&trial, "");
        trial_wait(&trial, &trial.n_stopped);
        g_assert_cmpint(trial.stop.end, ==, UNIT_END_MANAGER_LOST);
        g_assert_cmpint(trial.stop.status, ==, -1);
}

static void test_freed_in_callbacks(void) {
        for (unsigned i = 0; i < 3; i++) {
                g_auto(Trial) trial;

                trial_init(&trial);
                trial.free_when_told = i != 1;
                trial.fake.job_result = i == 2 ? "failed" : "done";
                trial_start(&trial);
                trial_wait(&trial, i == 2 ? &trial.n_failed : &trial.n_started);
                if (i == 1) {
                        trial.free_when_told = true;
                        fake_manager_state(&trial.fake, "inactive", "success", CLD_EXITED, 0);
                        trial_wait(&trial, &trial.n_stopped);
                }
                g_assert_null(trial.unit);
                if (i == 0)
                        trial_wait(&trial, &trial.fake.n_kills); /* it still ran */
                trial_settle(&trial);
        }
}

static void test_unusable_specification(void) {
        static const struct {
                const char *launcher;
                const char *runtime;
                const char *data;
                const char *workspace;
                const char *variable;
        } cases[] = {
                { NULL, "/usr/bin/node", "/d", NULL, "A=b" },
                { "launcher", "/usr/bin/node", "/d", NULL, "A=b" },
                { "/l", NULL, "/d", NULL, "A=b" },
                { "/l", "node", "/d", NULL, "A=b" },
                { "/l", "/usr/../bin/node", "/d", NULL, "A=b" },
                { "/l", "/usr/bin/node", "/a//b", NULL, "A=b" },
                { "/l", "/usr/bin/node", "/a/./b", NULL, "A=b" },
                { "/l", "/usr/bin/node", "/a\nb", NULL, "A=b" },
                { "/l", "/usr/bin/node", "/a\xff", NULL, "A=b" },
                { "/l", "/usr/bin/node", "/d", "/", "A=b" },
                { "/l", "/usr/bin/node", "/d", "relative", "A=b" },
                { "/l", "/usr/bin/node", "/d", NULL, "A" },
                { "/l", "/usr/bin/node", "/d", NULL, "=b" },
                { "/l", "/usr/bin/node", "/d", NULL, "A=b\nc" },
                { "/l", "/usr/bin/node", "/d", NULL, "A=\xff" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                const char *environment[] = { cases[i].variable, NULL };
                SandboxSpec spec = {
                        .unit = "x.service",
                        .plugin_id = "x",
                        .launcher = cases[i].launcher,
                        .runtime = cases[i].runtime,
                        .data_directory = cases[i].data,
                        .workspace = cases[i].workspace,
                        .environment = environment,
                };

                g_assert_cmpint(sandbox_spec_check(&spec, false, &error), ==, -EINVAL);
                g_assert_nonnull(error.message);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/unit/all-walls-are-asked-for", test_all_walls_are_asked_for);
        g_test_add_func("/unit/root", test_root);
        g_test_add_func("/unit/SY-05-optional-property-refused", test_optional_property_refused);
        g_test_add_func("/unit/SY-05-security-property-refused", test_security_property_refused);
        g_test_add_func("/unit/request-refused", test_request_refused);
        g_test_add_func("/unit/SY-16-set-up-fails", test_set_up_fails);
        g_test_add_func("/unit/job-results", test_job_results);
        g_test_add_func("/unit/results", test_results);
        g_test_add_func("/unit/ends-before-job", test_ends_before_job);
        g_test_add_func("/unit/another-job", test_another_job);
        g_test_add_func("/unit/SY-04-survivors-are-killed", test_survivors_are_killed);
        g_test_add_func("/unit/SY-04-stuck", test_stuck);
        g_test_add_func("/unit/stop", test_stop);
        g_test_add_func("/unit/manager-comes-late", test_manager_comes_late);
        g_test_add_func("/unit/stopped-while-waiting", test_stopped_while_waiting);
        g_test_add_func("/unit/SY-03-manager-lost-during-start", test_manager_lost_during_start);
        g_test_add_func("/unit/SY-17-manager-lost-with-unit", test_manager_lost_with_unit);
        g_test_add_func("/unit/freed-in-callbacks", test_freed_in_callbacks);
        g_test_add_func("/unit/unusable-specification", test_unusable_specification);
        return g_test_run();
}
