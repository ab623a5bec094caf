/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "sandbox/channel.h"
#include "sandbox/report.h"
#include "sandbox/unit.h"
#include "service/core-builtin-table.h"
#include "service/core-builtin.h"
#include "service/host-launch.h"

typedef struct Builtin {
        const HostContext *context;
        GPtrArray *jobs; /* CoreJob, in the order in which they came */
        uint64_t last_generation;
} Builtin;

/* One call: it waits for its turn, runs in its unit, and ends when nothing of that is left. */
typedef struct CoreJob {
        Builtin *builtin;
        HostLaunch *launch;
        char *workspace;
        bool runs;  /* a command, which may leave something behind */
        bool alone; /* no other call that changes the workspace may run beside it */
        char *request;
        size_t request_size;
        CoreDone done;
        void *userdata; /* NULL together with @done when nobody waits any more */

        SandboxUnit *unit;
        Channel *channel;
        bool reported; /* the walls were judged; the downloader's unit has no launcher that could tell */
        sd_event_source *timer;
        char *answer;
        size_t answer_size;
        const char *error_name;
        char *error;
} CoreJob;

static void builtin_begin_next(Builtin *builtin);

static void job_free(void *data) {
        CoreJob *job = data;

        sd_event_source_disable_unref(job->timer);
        channel_free(job->channel);
        sandbox_unit_free(job->unit);
        host_launch_free(job->launch);
        g_free(job->workspace);
        g_free(job->request);
        g_free(job->answer);
        g_free(job->error);
        g_free(job);
}

/* The first thing that went wrong is the cause; the rest is its echo. */
static void job_blame(CoreJob *job, const char *error_name, const char *text) {
        if (job->error)
                return;
        job->error_name = error_name;
        job->error = g_strdup(text);
}

/* Tells, when somebody still wants to hear it, and lets the next one begin. Frees the job. */
static void job_finish(CoreJob *job) {
        Builtin *builtin = job->builtin;
        CoreAnswer answer = { .json = job->answer, .size = job->answer_size };
        CoreDone done = job->done;

        if (!job->answer) {
                job_blame(job, ERROR_EXECUTION_FAILED, "the tool ended without an answer");
                answer.error_name = job->error_name;
                answer.error_message = job->error;
        }
        g_ptr_array_set_free_func(builtin->jobs, NULL);
        g_ptr_array_remove(builtin->jobs, job);
        g_ptr_array_set_free_func(builtin->jobs, job_free);
        job->done = NULL;
        if (done)
                done(&answer, job->userdata);
        job_free(job);
        builtin_begin_next(builtin);
}

/* ---- the unit ---- */

static void on_report(CoreJob *job, const uint8_t *payload, size_t size) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(SandboxReport) report = NULL;
        int r;

        job->reported = true;
        r = sandbox_report_parse((const char *) payload, size, &report, &error);
        if (r >= 0)
                r = sandbox_report_judge(report, &error);
        if (r >= 0)
                r = channel_send(job->channel, LAUNCHER_GO_PAYLOAD, strlen(LAUNCHER_GO_PAYLOAD));
        if (r >= 0)
                r = channel_send(job->channel, job->request, job->request_size);
        if (r >= 0)
                return;

        job_blame(job, ERROR_SANDBOX_REFUSED, error.message ?: "the launcher went away");
        sandbox_unit_kill(job->unit);
}

static void on_frame(Channel *channel, const uint8_t *payload, size_t size, void *userdata) {
        CoreJob *job = userdata;

        (void) channel;
        if (!job->reported) {
                on_report(job, payload, size);
                return;
        }
        if (!job->answer) {
                job->answer = g_strndup((const char *) payload, size);
                job->answer_size = size;
        }
        /* It has said what it had to say, and ends. What a command left behind goes now, not when systemd gets to it. */
        if (job->runs)
                sandbox_unit_kill(job->unit);
}

static void on_closed(Channel *channel, int error, const char *reason, void *userdata) {
        CoreJob *job = userdata;

        (void) channel;
        if (error < 0 && !job->answer)
                job_blame(job, ERROR_EXECUTION_FAILED, reason);
        sandbox_unit_stop(job->unit);
}

static const ChannelEvents channel_events = {
        .frame = on_frame,
        .closed = on_closed,
};

static void on_started(SandboxUnit *unit, void *userdata) {
        (void) unit;
        (void) userdata;
}

static void on_failed(SandboxUnit *unit, const UnitFailure *failure, void *userdata) {
        CoreJob *job = userdata;

        (void) unit;
        job_blame(job, ERROR_SANDBOX_REFUSED, failure->cause);
        job_finish(job);
}

static void on_stopped(SandboxUnit *unit, const UnitStop *stop, void *userdata) {
        CoreJob *job = userdata;

        (void) unit;
        job_blame(job, ERROR_EXECUTION_FAILED, stop->cause);
        job_finish(job);
}

static const SandboxUnitEvents unit_events = {
        .started = on_started,
        .failed = on_failed,
        .stopped = on_stopped,
};

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        CoreJob *job = userdata;

        (void) source;
        (void) usec;
        job_blame(job, ERROR_DEADLINE_EXCEEDED, "the tool did not end in time");
        sandbox_unit_kill(job->unit);
        return 0;
}

static int job_start_unit(CoreJob *job, sd_bus_error *reterr) {
        sd_event *event = job->builtin->context->event;
        _cleanup_close_ int ours = -EBADF;
        int pair[2], r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        ours = pair[0];
        r = sandbox_unit_start(job->builtin->context->manager, host_launch_spec(job->launch), pair[1], &unit_events, job, &job->unit,
                               reterr);
        if (r >= 0)
                r = channel_new(event, ours, &channel_events, job, &job->channel);
        if (r < 0)
                return r;
        (void) steal_fd(&ours);
        if (job->reported)
                r = channel_send(job->channel, job->request, job->request_size);
        if (r < 0)
                return r;
        return sd_event_add_time_relative(event, &job->timer, CLOCK_MONOTONIC, CORE_RUN_MSEC_MAX * UINT64_C(1000), 0, on_timeout, job);
}

/* ---- turns ---- */

static bool job_may_begin(const CoreJob *job) {
        for (guint i = 0; i < job->builtin->jobs->len; i++) {
                const CoreJob *other = g_ptr_array_index(job->builtin->jobs, i);

                if (other == job)
                        return true;
                if (other->alone && job->alone && strcmp(other->workspace, job->workspace) == 0)
                        return false;
        }
        return true;
}

static int on_unstarted(sd_event_source *source, void *userdata) {
        (void) source;
        job_finish(userdata);
        return 0;
}

/* A start that fails at once is told from the loop like any other end. */
static void job_begin(CoreJob *job) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = job_start_unit(job, &error);

        if (r >= 0)
                return;
        job_blame(job, ERROR_HOST_UNAVAILABLE, error.message ?: g_strerror(-r));
        job->unit = sandbox_unit_free(job->unit);
        job->timer = sd_event_source_disable_unref(job->timer);
        (void) sd_event_add_defer(job->builtin->context->event, &job->timer, on_unstarted, job);
}

static void builtin_begin_next(Builtin *builtin) {
        for (guint i = 0; i < builtin->jobs->len; i++) {
                CoreJob *job = g_ptr_array_index(builtin->jobs, i);

                if (!job->unit && !job->timer && job_may_begin(job))
                        job_begin(job);
        }
}

/* ---- the backend ---- */

static void write_operands(const GPtrArray *operands, JWriter *writer) {
        jwriter_key(writer, "operands");
        jwriter_begin_array(writer);
        for (guint i = 0; operands && i < operands->len; i++) {
                const CoreOperand *operand = g_ptr_array_index(operands, i);

                jwriter_begin_object(writer);
                jwriter_member_string(writer, "path", operand->path);
                jwriter_member_string(writer, "sha256", operand->sha256);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

static char *request_json(const CoreRequest *request, size_t *ret_size) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "tool", request->tool->name);
        jwriter_key(&writer, "input");
        jwriter_raw(&writer, request->input, request->input_size);
        jwriter_key(&writer, "workspace");
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "path", request->workspace);
        jwriter_member_uint(&writer, "device", request->device);
        jwriter_member_uint(&writer, "inode", request->inode);
        jwriter_end_object(&writer);
        write_operands(request->operands, &writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, ret_size);
}

static bool builtin_offers(void *core, const CoreTool *tool) {
        const Builtin *builtin = core;

        return builtin->context->config->web_fetch || !core_builtin_is_web(tool);
}

static int builtin_start(
                void *core, const CoreRequest *request, CoreDone done, void *userdata, void **ret_job, sd_bus_error *reterr) {
        Builtin *builtin = core;
        const CoreLaunch launch = {
                .tool = request->tool->name,
                .plugin_id = request->plugin,
                .workspace = request->workspace,
                .access = core_builtin_access(request->tool),
        };
        CoreJob *job;
        int r;

        r = core_builtin_workspace(builtin->context, request->workspace, reterr);
        if (r < 0)
                return r;
        /* It may have been switched off while somebody was asked. */
        if (!builtin_offers(builtin, request->tool))
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "The core tool '%s' is off: set web_fetch = true under [core] in "
                                                               "config.toml.", request->tool->name);

        job = g_new0(CoreJob, 1);
        job->reported = core_builtin_is_web(request->tool);
        r = (job->reported ? host_launch_web : host_launch_core)(
                        builtin->context, &launch, ++builtin->last_generation, &job->launch, reterr);
        if (r < 0) {
                job_free(job);
                return r;
        }
        job->builtin = builtin;
        job->workspace = g_strdup(request->workspace);
        job->runs = launch.access == WORKSPACE_RUN;
        job->alone = launch.access != WORKSPACE_READ || (request->operands && request->operands->len > 0);
        job->request = request_json(request, &job->request_size);
        job->done = done;
        job->userdata = userdata;
        g_ptr_array_add(builtin->jobs, job);
        *ret_job = job;
        if (job_may_begin(job))
                job_begin(job);
        return 0;
}

static void builtin_cancel(void *data) {
        CoreJob *job = data;

        job->done = NULL;
        job->userdata = NULL;
        if (job->unit)
                sandbox_unit_kill(job->unit);
        else if (!job->timer)
                g_ptr_array_remove(job->builtin->jobs, job);
}

static void builtin_free(void *core) {
        Builtin *builtin = core;

        g_ptr_array_unref(builtin->jobs);
        g_free(builtin);
}

static const CoreBackend builtin_backend = {
        .start = builtin_start,
        .cancel = builtin_cancel,
        .free = builtin_free,
        .offers = builtin_offers,
};

SessionCore *core_builtin_new(const HostContext *context) {
        g_autoptr(CoreTools) tools = core_builtin_tools();
        Builtin *builtin = g_new0(Builtin, 1);

        builtin->context = context;
        builtin->jobs = g_ptr_array_new_with_free_func(job_free);
        /* As with hosts: unit names are never used again, over restarts of the service either. */
        builtin->last_generation = (uint64_t) g_get_real_time() / 1000;
        return session_core_new("built-in", tools, &builtin_backend, builtin);
}

/* ---- workspaces ---- */

static bool is_below(const char *path, const char *folder) {
        size_t size = strlen(folder);

        return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == '\0' || size == 1);
}

int core_builtin_workspace(const HostContext *context, const char *workspace, sd_bus_error *reterr) {
        static const char *const system_folders[] = {
                "/boot", "/dev", "/etc", "/host", "/lib", "/lib64", "/bin", "/proc", "/run", "/runtime", "/sbin", "/sys", "/usr",
        };
        const char *const ours[] = { g_get_home_dir(), codewhale_home_get_path(context->home, HOME_ROOT) };
        char path[PATH_MAX];

        if (workspace[0] != '/')
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "The session has no workspace.");
        /* What is checked here by its text is bound by its text: both must mean the same folder. */
        if (!realpath(workspace, path))
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "The workspace %s can't be used: %s.", workspace, g_strerror(errno));
        if (strcmp(path, workspace) != 0)
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "The workspace %s is another way to write %s; name that one.", workspace,
                                  path);
        for (size_t i = 0; i < G_N_ELEMENTS(system_folders); i++)
                if (is_below(path, system_folders[i]) || is_below(system_folders[i], path))
                        return errors_set(reterr, ERROR_NOT_SUPPORTED, "The workspace %s holds a part of the system.", path);
        for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
                if (is_below(ours[i], path))
                        return errors_set(reterr, ERROR_NOT_SUPPORTED, "The workspace %s holds %s.", path,
                                          i == 0 ? "the whole home" : "the state of this service");
        if (is_below(path, ours[1]))
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "The workspace %s lies in the state of this service.", path);
        return 0;
}
