/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "policy/tool-name.h"
#include "service/core-operand.h"
#include "service/core-call.h"
#include "service/core-result.h"

void core_call_free(CoreCall *call) {
        core_operand_reader_free(call->reader);
        g_clear_pointer(&call->operands, g_ptr_array_unref);
        g_free(call->name);
        g_free(call->policy_name);
        g_free(call->input);
        core_gate_unref(call->gate);
        g_free(call);
}

/* ---- the end ---- */

/* Whether it was the posture, or a person before, that said no: to the extension that is a denial, not a refusal. */
static bool was_denied(const Invocation *invocation) {
        const TraceStep *step = invocation->decided ? trace_last(invocation->decision.trace) : NULL;

        return step && step->layer == LAYER_APPROVAL && step->verdict == VERDICT_DENY;
}

static int code_of(const Invocation *invocation, const char *error_name) {
        static const struct {
                const char *name;
                int code;
        } table[] = {
                { ERROR_DENIED, RPC_DENIED },
                { ERROR_TIMED_OUT, RPC_DENIED },
                { ERROR_NO_APPROVER, RPC_DENIED },
                { ERROR_WITHDRAWN, RPC_CANCELLED },
                { ERROR_CANCELLED, RPC_CANCELLED },
                { ERROR_HOOK_DENIED, RPC_REFUSED },
                { ERROR_HOOK_FAILED, RPC_REFUSED },
                { ERROR_CONTENT_CHANGED, RPC_REFUSED },
                { ERROR_INVALID_ARGUMENTS, RPC_INVALID_PARAMS },
                { ERROR_HOST_UNAVAILABLE, RPC_NOT_AVAILABLE },
                { ERROR_NOT_ACTIVE, RPC_NOT_AVAILABLE },
                { ERROR_NOT_SUPPORTED, RPC_NOT_AVAILABLE },
        };

        if (strcmp(error_name, ERROR_REFUSED_BY_POLICY) == 0)
                return was_denied(invocation) ? RPC_DENIED : RPC_REFUSED;
        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                if (strcmp(table[i].name, error_name) == 0)
                        return table[i].code;
        return RPC_EXECUTION_FAILED;
}

static CoreDecision decision_of_running(const Invocation *invocation) {
        return invocation->answered_by ? CORE_DECISION_APPROVED : CORE_DECISION_AUTO;
}

static CoreDecision decision_of(const Invocation *invocation, const char *error_name) {
        if (invocation->state == INVOCATION_EXECUTING)
                return decision_of_running(invocation);
        if (g_strcmp0(error_name, ERROR_TIMED_OUT) == 0)
                return CORE_DECISION_TIMED_OUT;
        switch (code_of(invocation, error_name)) {
        case RPC_DENIED:
                return CORE_DECISION_DENIED;
        case RPC_CANCELLED:
                return CORE_DECISION_CANCELLED;
        default:
                return CORE_DECISION_REFUSED;
        }
}

static void core_call_end(CoreCall *call, const char *json, size_t size, const char *error_name, const char *message) {
        const Invocation *invocation = call->invocation;
        const bool ran = invocation->state == INVOCATION_EXECUTING, not_run = g_strcmp0(error_name, ERROR_CONTENT_CHANGED) == 0;
        const CoreCallEnd end = {
                .json = json,
                .size = size,
                .code = json ? 0 : code_of(invocation, error_name),
                .message = message,
                .decision = decision_of(invocation, error_name),
                .status = json              ? (core_result_is_error(json, size) ? CORE_STATUS_FAILED : CORE_STATUS_OK)
                          : ran && !not_run ? CORE_STATUS_FAILED
                                            : CORE_STATUS_REFUSED,
        };

        core_gate_finished(call->gate, call, &end);
}

static void on_done(const InvocationAnswer *answer, void *userdata) {
        core_call_end(userdata, answer->result, answer->result_size, answer->error_name, answer->error_message);
}

/* ---- the beginning ---- */

int core_call_resolve(CoreCall *call, Jval input, sd_bus_error *reterr) {
        const SessionCore *core = core_gate_core(call->gate);

        call->tool = core->gone ? NULL : core_tools_find(core->tools, call->name, input);
        if (call->tool && !session_core_offers(core, call->tool))
                call->tool = NULL;
        if (!call->tool)
                return errors_set(reterr, ERROR_NO_SUCH_TOOL, core->gone ? "The core was taken back; it had '%s'."
                                                                         : "The core of this session has no tool '%s'.", call->name);
        g_free(call->policy_name);
        call->policy_name = tool_alias_resolve(call->name, input);
        return 0;
}

/* The extension is the target's owner: what ends the extension ends the call, and it is its authority that is verified. */
static Registration *target_of(const CoreCall *call, const Registration *caller) {
        Registration *target = g_new0(Registration, 1);

        *target = (Registration) {
                .n_ref = 1,
                .kind = REGISTRATION_TOOL,
                .owner = owner_ref(caller->owner),
                .entry = caller->entry,
                .name = g_strdup(call->name),
                .folded = g_ascii_strdown(call->name, -1),
        };
        return target;
}

void core_call_start(CoreCall *call) {
        Invocation *outer = core_gate_outer(call->gate);
        g_autoptr(Registration) target = target_of(call, outer->target);
        const InvocationRequest request = {
                .session = outer->session,
                .client = outer->client,
                .client_exe = outer->client_exe,
                .client_unit = outer->client_unit,
                .client_uid = outer->client_uid,
                .name = call->name,
                .input = call->input,
                .input_size = call->input_size,
                .agent_id = outer->agent_id,
                .origin_turn_id = outer->origin_turn_id,
                .provenance = outer->provenance,
        };
        Invocation *invocation = invocation_new(outer->service, &request, target, CORE_RUN_MSEC_MAX, on_done, call);

        invocation->nested = call;
        invocation->parent = g_strdup(outer->call_id);
        call->invocation = invocation;
        tool_call_begin(invocation);
        invocation->starting = false;
        if (!invocation->over)
                return;
        /* It ended while nobody could be told. */
        core_call_end(call, NULL, 0, invocation->error_name, invocation->error_message);
        invocation_drop(invocation);
}

/* ---- the decision ---- */

void core_call_fill_decision(const CoreCall *call, DecisionInput *ret) {
        ret->kind = TOOL_CORE;
        ret->tool = call->name;
        ret->caller_plugin = ret->plugin;
        ret->plugin = NULL;
        ret->build = NULL;
        ret->requirement = call->tool->requirement;
        ret->capabilities = call->tool->capabilities;
}

/* ---- the person ---- */

/* Nobody is asked about files that could be others by the time of the answer. */
static void refuse_unbound(Invocation *invocation, const char *why) {
        invocation_note_envelope(invocation, "operands", why);
        invocation_fail(invocation, ERROR_REFUSED_BY_POLICY, "%s", why);
}

static void on_operands(int r, GPtrArray *operands, const char *error, void *userdata) {
        CoreCall *call = userdata;

        call->reader = core_operand_reader_free(call->reader);
        if (r < 0) {
                refuse_unbound(call->invocation, error);
                return;
        }
        call->operands = operands;
        tool_call_open_card(call->invocation);
}

/* The next of those that want to ask. What they name is looked at only now: it may have been changed by the one before. */
void core_call_ask(CoreCall *call) {
        Invocation *invocation = call->invocation;
        const char *workspace = invocation->session->workspace;
        g_autoptr(GPtrArray) names = NULL;
        bool shell = tool_category(call->policy_name) == CATEGORY_SHELL, all = true;

        invocation->state = INVOCATION_APPROVAL;
        if (!core_gate_take_card(call->gate, call))
                return;
        if (workspace[0])
                names = core_operand_names(call->policy_name, workspace, jdoc_root(invocation->arguments), &all);
        if (!all) {
                refuse_unbound(invocation, CORE_OPERANDS_TOO_MANY);
                return;
        }
        if (!names || names->len == 0) {
                tool_call_open_card(invocation);
                return;
        }
        if (core_operand_read(invocation->service->event, workspace, names, shell, on_operands, call, &call->reader) < 0)
                invocation_fail(invocation, ERROR_IO, "The files that the call names can't be read.");
}

void core_call_answered(CoreCall *call) {
        core_gate_give_card(call->gate, call);
}

/* ---- running ---- */

static void on_core_answer(const CoreAnswer *answer, void *userdata) {
        CoreCall *call = userdata;
        Invocation *invocation = call->invocation;
        g_autofree char *json = NULL, *reason = NULL;
        g_autoptr(Jdoc) doc = NULL;
        size_t size;

        call->job = NULL;
        if (!answer->json) {
                invocation_fail(invocation, answer->error_name, "%s", answer->error_message);
                return;
        }
        if (jdoc_parse(answer->json, answer->size, NULL, &doc, NULL) < 0)
                reason = g_strdup("it is not JSON");
        else if (core_result_refusal(jdoc_root(doc))) {
                /* Behind the walls it was found that what was approved is not there any more. */
                invocation_fail(invocation, ERROR_CONTENT_CHANGED, "Refused: %s.", core_result_refusal(jdoc_root(doc)));
                return;
        }
        if (!reason)
                (void) core_result_shape(jdoc_root(doc), &json, &size, &reason);
        if (reason)
                invocation_fail(invocation, ERROR_EXECUTION_FAILED, "The answer of core tool '%s' can't be used: %s.", call->name, reason);
        else
                invocation_succeed(invocation, json, size);
}

void core_call_execute(CoreCall *call) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        SessionCore *core = core_gate_core(call->gate);
        Invocation *invocation = call->invocation;
        const Workspace *folder = invocation->session->folder;
        struct stat st = {};

        if (folder)
                (void) fstat(workspace_get_fd(folder), &st);
        const CoreRequest request = {
                .call_id = invocation->call_id,
                .parent = invocation->parent,
                .plugin = owner_get_plugin_id(invocation->target->owner),
                .tool = call->tool,
                .name = call->name,
                .input = invocation->input,
                .input_size = invocation->input_size,
                .workspace = invocation->session->workspace,
                .device = st.st_dev,
                .inode = st.st_ino,
                .operands = call->operands,
        };

        invocation->state = INVOCATION_EXECUTING;
        core_gate_runs(call->gate, call, decision_of_running(invocation));
        if (core->gone)
                invocation_fail(invocation, ERROR_HOST_UNAVAILABLE, "The core of this session was taken back.");
        else if (core->backend->start(core->core, &request, on_core_answer, call, &call->job, &error) < 0)
                invocation_fail(invocation, error.name ?: ERROR_HOST_UNAVAILABLE, "%s", error.message ?: "The core can't run it.");
}

void core_call_stop(CoreCall *call) {
        void *job = g_steal_pointer(&call->job);

        call->reader = core_operand_reader_free(call->reader);
        if (job)
                core_gate_core(call->gate)->backend->cancel(job);
}
