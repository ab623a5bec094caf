/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "sandbox/report.h"
#include "service/host-handshake.h"
#include "service/host-launch.h"
#include "service/host-process.h"

#define EXIT_LOCK 70 /* host/README.md */

struct HostProcess {
        const HostContext *context;
        Plugin *plugin;
        HostTier tier;
        uint64_t unit_generation;
        const HostProcessEvents *events;
        void *userdata;

        HostStage stage;
        HostExpectation expected; /* of the hello */
        StagedCopy *staged;       /* kept on the disk for as long as this runs */
        SandboxUnit *unit;
        char *unit_name;
        Rpc *rpc;
        bool hello;
        sd_event_source *timer; /* of the handshake; later: its last moments; then: a deferred end */
        char *report;
        char *lock;
        HostEnd end;
        char *reason;
        bool generic_reason; /* nobody knows more than that it ended, until its unit tells */
        bool stopping; /* by host_process_stop() */
        bool lost;
        bool ended;
};

static const char *const host_stage_table[_HOST_STAGE_MAX] = {
        [HOST_STAGE_START] = "start",
        [HOST_STAGE_SANDBOX] = "sandbox",
        [HOST_STAGE_HANDSHAKE] = "handshake",
        [HOST_STAGE_ACTIVATION] = "activation",
        [HOST_STAGE_RUNNING] = "running",
};

const char *host_stage_to_string(HostStage stage) {
        return host_stage_table[stage];
}

static void process_set_reason(HostProcess *process, const char *reason) {
        /* The first cause is the true one; what follows is its echo. */
        if (!process->reason)
                process->reason = g_strdup(reason);
}

static void process_lose(HostProcess *process) {
        if (process->lost)
                return;

        process->lost = true;
        process->timer = sd_event_source_disable_unref(process->timer);
        process->generic_reason = !process->reason;
        process_set_reason(process, "the host ended");
        /* First the news, so that whoever's call fails now can say why. */
        process->events->lost(process, process->userdata);
        process->rpc = rpc_free(process->rpc);
}

static int on_ended(sd_event_source *source, void *userdata) {
        HostProcess *process = userdata;

        (void) source;
        process->timer = sd_event_source_disable_unref(process->timer);
        process->events->ended(process, process->userdata);
        return 0;
}

/* Tells the end from the loop, so that nobody is freed below their own feet. */
static void process_end(HostProcess *process) {
        process_lose(process);
        if (process->ended)
                return;

        process->ended = true;
        process->timer = sd_event_source_disable_unref(process->timer);
        (void) sd_event_add_defer(process->context->event, &process->timer, on_ended, process);
}

/* Something is wrong: whatever runs must go. */
static void process_break(HostProcess *process, const char *reason) {
        process_set_reason(process, reason);
        process_lose(process);
        if (process->unit)
                sandbox_unit_kill(process->unit);
        else
                process_end(process);
}

static int on_handshake_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        HostProcess *process = userdata;

        (void) source;
        (void) usec;
        process_break(process, "the host did not become ready within 30 s");
        return 0;
}

static void on_initialized(const RpcAnswer *answer, void *userdata) {
        HostProcess *process = userdata;

        if (answer->outcome == RPC_OUTCOME_CLOSED)
                return;
        if (answer->outcome != RPC_OUTCOME_RESULT)
                process_break(process, answer->message ?: "the host refused to be initialized");
}

static void process_on_hello(HostProcess *process, Jval params) {
        g_autofree char *reason = NULL, *initialize = NULL;
        size_t size;

        if (process->hello) {
                rpc_violate(process->rpc, "a second host/hello");
                return;
        }
        process->hello = true;
        if (host_hello_check(params, &process->expected, &reason) < 0) {
                process_break(process, reason);
                return;
        }
        process->lock = host_hello_lock(params);

        initialize = host_initialize_params(&size);
        if (rpc_call(process->rpc, 0, "host/initialize", initialize, size, HOST_HANDSHAKE_MSEC, on_initialized, process, NULL) < 0)
                process_break(process, "the host could not be initialized");
}

static void process_on_ready(HostProcess *process) {
        if (!process->hello || process->stage == HOST_STAGE_RUNNING) {
                rpc_violate(process->rpc, "host/ready out of turn");
                return;
        }

        process->stage = HOST_STAGE_RUNNING;
        process->timer = sd_event_source_disable_unref(process->timer);
        if (process->plugin)
                runtime_selector_pin(process->context->runtime);
        process->events->ready(process, process->userdata);
}

static void on_notification(Rpc *rpc, const WireMethod *method, Jval params, void *userdata) {
        HostProcess *process = userdata;

        (void) rpc;
        if (method->id == WIRE_HELLO)
                process_on_hello(process, params);
        else if (method->id == WIRE_READY)
                process_on_ready(process);
        else
                process->events->notification(process, method, params, process->userdata);
}

static void on_request(Rpc *rpc, const WireMethod *method, uint64_t id, Jval params, void *userdata) {
        HostProcess *process = userdata;

        if (process->stage != HOST_STAGE_RUNNING)
                rpc_violate(rpc, "a request before host/ready");
        else
                process->events->request(process, method, id, params, process->userdata);
}

static void on_cancelled(Rpc *rpc, uint64_t id, void *userdata) {
        HostProcess *process = userdata;

        (void) rpc;
        process->events->cancelled(process, id, process->userdata);
}

static void on_launcher(Rpc *rpc, const char *payload, size_t size, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(SandboxReport) report = NULL;
        HostProcess *process = userdata;
        const char *source;
        g_autoptr(Jdoc) doc = NULL;
        size_t source_size;

        if (sandbox_report_parse(payload, size, &report, &error) < 0) {
                process_break(process, error.message ?: "the launcher sent no report");
                return;
        }
        (void) jdoc_parse(payload, size, NULL, &doc, NULL);
        source = jval_source(jval_member(jdoc_root(doc), "params"), &source_size);
        process->report = source ? g_strndup(source, source_size) : g_strndup(payload, size);

        if (sandbox_report_judge(report, &error) < 0) {
                process_break(process, error.message ?: "a wall of the sandbox does not hold");
                return;
        }
        process->stage = HOST_STAGE_HANDSHAKE;
        if (rpc_send_raw(rpc, LAUNCHER_GO_PAYLOAD, strlen(LAUNCHER_GO_PAYLOAD)) < 0)
                process_break(process, "the launcher went away");
}

static int on_lingers(sd_event_source *source, uint64_t usec, void *userdata) {
        HostProcess *process = userdata;

        (void) source;
        (void) usec;
        process->timer = sd_event_source_disable_unref(process->timer);
        sandbox_unit_stop(process->unit);
        return 0;
}

static void on_closed(Rpc *rpc, bool violation, const char *reason, void *userdata) {
        HostProcess *process = userdata;

        (void) rpc;
        if (violation) {
                g_autofree char *text = g_strdup_printf(PROTOCOL_VIOLATION ": %s", reason);

                process_break(process, text);
                return;
        }
        /* It closed its end, so it is ending; how, its unit tells, unless a stop of ours covers that (S17). */
        process_lose(process);
        if (process->unit)
                (void) sd_event_add_time_relative(process->context->event, &process->timer, CLOCK_MONOTONIC,
                                                  HOST_LINGER_MSEC * UINT64_C(1000), 0, on_lingers, process);
}

static const RpcEvents rpc_events = {
        .launcher = on_launcher,
        .request = on_request,
        .notification = on_notification,
        .cancelled = on_cancelled,
        .closed = on_closed,
};

static void on_unit_started(SandboxUnit *unit, void *userdata) {
        HostProcess *process = userdata;

        (void) unit;
        if (process->stage < HOST_STAGE_SANDBOX)
                process->stage = HOST_STAGE_SANDBOX;
}

static void on_unit_failed(SandboxUnit *unit, const UnitFailure *failure, void *userdata) {
        HostProcess *process = userdata;

        (void) unit;
        process->stage = failure->stage == UNIT_STAGE_SETUP ? HOST_STAGE_SANDBOX : HOST_STAGE_START;
        process_set_reason(process, failure->cause);
        process_end(process);
}

/* The host ends like that when it would not run extensions on this runtime. */
static char *explain_lock(const HostProcess *process, const UnitStop *stop) {
        bool bun = g_strcmp0(process->expected.runtime, "bun") == 0;

        if (process->stage != HOST_STAGE_HANDSHAKE || stop->end != UNIT_END_EXITED || stop->status != EXIT_LOCK)
                return NULL;
        return g_strdup_printf("%s %s can't be locked: the host's self test found a door open, which its log names.%s",
                               bun ? "Bun" : "Node", process->expected.version,
                               bun ? " Set [extension_host] runtime = \"node\"." : "");
}

static void on_unit_stopped(SandboxUnit *unit, const UnitStop *stop, void *userdata) {
        HostProcess *process = userdata;
        g_autofree char *lock = explain_lock(process, stop);

        (void) unit;
        if (stop->stuck) {
                g_free(process->reason);
                process->reason = g_strdup_printf("stuck: %u of its processes did not end after SIGKILL", stop->n_left);
        }
        if (!stop->requested)
                process->end = (HostEnd) { .kind = stop->end, .status = stop->status };
        if (process->generic_reason && !stop->requested)
                g_clear_pointer(&process->reason, g_free);
        process_set_reason(process, lock ?: stop->cause);
        process_end(process);
}

static const SandboxUnitEvents unit_events = {
        .started = on_unit_started,
        .failed = on_unit_failed,
        .stopped = on_unit_stopped,
};

static int process_start_unit(HostProcess *process, const Runtime *runtime, sd_bus_error *reterr) {
        g_autoptr(HostLaunch) launch = NULL;
        _cleanup_close_ int ours = -EBADF;
        int pair[2], r;

        r = host_launch_prepare(process->context, process->plugin, process->staged, process->tier, runtime,
                                process->unit_generation, &launch, reterr);
        if (r < 0)
                return r;
        host_launch_expect(launch, runtime, process->tier, &process->expected);
        process->unit_name = g_strdup(host_launch_unit(launch));

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        ours = pair[0];
        r = sandbox_unit_start(process->context->manager, host_launch_spec(launch), pair[1], &unit_events, process, &process->unit,
                               reterr);
        if (r < 0)
                return r;
        return rpc_new(process->context->event, steal_fd(&ours), process->tier, &rpc_events, process, &process->rpc);
}

static void on_runtime(const Runtime *runtime, const char *why, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        HostProcess *process = userdata;
        int r;

        if (!runtime) {
                process_set_reason(process, why);
                process_end(process);
                return;
        }
        r = process_start_unit(process, runtime, &error);
        if (r < 0)
                process_break(process, error.message ?: g_strerror(-r));
}

HostProcess *host_process_new(
                const HostContext *context, Plugin *plugin, HostTier tier, uint64_t unit_generation, const HostProcessEvents *events,
                void *userdata) {
        HostProcess *process = g_new0(HostProcess, 1);
        StagedCopy *staged = plugin ? plugin_get_staged(plugin) : NULL;

        *process = (HostProcess) {
                .context = context,
                .plugin = plugin ? plugin_ref(plugin) : NULL,
                .tier = tier,
                .unit_generation = unit_generation,
                .events = events,
                .userdata = userdata,
                .end = { .kind = _UNIT_END_INVALID, .status = -1 },
                .staged = staged ? staged_copy_ref(staged) : NULL,
        };
        (void) sd_event_add_time_relative(context->event, &process->timer, CLOCK_MONOTONIC, HOST_HANDSHAKE_MSEC * 1000, 0,
                                          on_handshake_timeout, process);
        runtime_selector_select(context->runtime, on_runtime, process);
        return process;
}

void host_process_set_events(HostProcess *process, const HostProcessEvents *events, void *userdata) {
        process->events = events;
        process->userdata = userdata;
}

HostProcess *host_process_free(HostProcess *process) {
        if (!process)
                return NULL;

        runtime_selector_forget(process->context->runtime, process);
        sd_event_source_disable_unref(process->timer);
        rpc_free(process->rpc);
        sandbox_unit_free(process->unit);
        staged_copy_unref(process->staged);
        plugin_unref(process->plugin);
        host_expectation_done(&process->expected);
        g_free(process->unit_name);
        g_free(process->report);
        g_free(process->lock);
        g_free(process->reason);
        g_free(process);
        return NULL;
}

void host_process_stop(HostProcess *process, const char *reason) {
        process->stopping = true;
        process_set_reason(process, reason);
        if (process->rpc)
                rpc_cancel_all(process->rpc, reason);
        runtime_selector_forget(process->context->runtime, process);
        process_lose(process);
        if (process->unit)
                sandbox_unit_stop(process->unit);
        else
                process_end(process);
}

void host_process_kill(HostProcess *process, const char *reason) {
        process_break(process, reason);
}

Rpc *host_process_rpc(const HostProcess *process) {
        return process->stage == HOST_STAGE_RUNNING && !process->lost ? process->rpc : NULL;
}

HostStage host_process_stage(const HostProcess *process) {
        return process->stage;
}

bool host_process_was_stopped(const HostProcess *process) {
        return process->stopping;
}

RuntimeKind host_process_runtime(const HostProcess *process) {
        return runtime_kind_from_string(process->expected.runtime);
}

const char *host_process_reason(const HostProcess *process) {
        return process->reason;
}

HostEnd host_process_end(const HostProcess *process) {
        return process->end;
}

bool host_process_is_crash(const HostProcess *process) {
        return !process->stopping && process->stage == HOST_STAGE_RUNNING;
}

const char *host_process_unit(const HostProcess *process) {
        return process->unit_name;
}

const char *host_process_report(const HostProcess *process) {
        return process->report;
}

const char *host_process_lock(const HostProcess *process) {
        return process->lock;
}

int host_process_count_refused_tasks(const HostProcess *process, uint64_t *ret) {
        return process->unit ? sandbox_unit_count_refused_tasks(process->unit, ret) : -ENODATA;
}

int host_process_read_usage(const HostProcess *process, CgroupReading *ret) {
        return process->unit ? sandbox_unit_read_usage(process->unit, ret) : -ENODATA;
}
