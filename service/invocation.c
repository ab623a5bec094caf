/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "common/sha256.h"
#include "service/core-call.h"
#include "service/host-usage.h"
#include "service/ledger.h"
#include "service/selection-view.h"

static const char *const invocation_state_table[_INVOCATION_STATE_MAX] = {
        [INVOCATION_HOOKS] = "hooks",
        [INVOCATION_APPROVAL] = "approval",
        [INVOCATION_STARTING] = "starting",
        [INVOCATION_EXECUTING] = "executing",
};

unsigned invocation_count_for(const Service *service, const Plugin *plugin) {
        unsigned n = 0;

        for (size_t i = 0; i < service->invocations->len; i++) {
                const Invocation *invocation = g_ptr_array_index(service->invocations, i);

                n += owner_get_plugin(invocation->target->owner) == plugin;
        }
        return n;
}

InvocationOrigin invocation_origin_from_string(const char *word) {
        static const char *const words[_INVOCATION_ORIGIN_MAX] = {
                [INVOCATION_ORIGIN_MODEL] = "model",
                [INVOCATION_ORIGIN_SUB_AGENT] = "sub-agent",
                [INVOCATION_ORIGIN_PROGRAM] = "program",
        };

        for (InvocationOrigin i = 0; i < _INVOCATION_ORIGIN_MAX; i++)
                if (strcmp(words[i], word) == 0)
                        return i;
        return _INVOCATION_ORIGIN_INVALID;
}

const char *invocation_get_call_id(const Invocation *invocation) {
        return invocation->call_id;
}

const char *invocation_get_state(const Invocation *invocation) {
        return invocation_state_table[invocation->state];
}

static uint64_t now_usec(clockid_t clock) {
        struct timespec now;

        (void) clock_gettime(clock, &now);
        return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

Invocation *invocation_new(
                Service *service, const InvocationRequest *request, Registration *target, uint64_t deadline_max_msec,
                InvocationDone done, void *userdata) {
        Invocation *invocation = g_new0(Invocation, 1);

        *invocation = (Invocation) {
                .service = service,
                .session = session_ref(request->session),
                .client = g_strdup(request->client),
                .client_exe = g_strdup(request->client_exe),
                .client_unit = g_strdup(request->client_unit),
                .client_uid = request->client_uid,
                .agent_id = g_strdup(request->agent_id),
                .origin_turn_id = g_strdup(request->origin_turn_id),
                .provenance = g_strdup(request->provenance),
                .origin = request->origin,
                .target = registration_ref(target),
                .deadline_msec = request->deadline_msec ? MIN(request->deadline_msec, deadline_max_msec) : deadline_max_msec,
                .started_usec = now_usec(CLOCK_MONOTONIC),
                .input = g_memdup2(request->input, request->input_size ?: 1),
                .input_size = request->input_size,
                .starting = true,
                .done = done,
                .userdata = userdata,
        };
        ledger_make_id('c', invocation->call_id);
        g_ptr_array_add(service->invocations, invocation);
        return invocation;
}

static void invocation_free(Invocation *invocation) {
        Host *host = host_table_find(invocation->service->hosts, owner_get_plugin(invocation->target->owner));

        invocation_stop_waiting(invocation);
        if (host)
                host_touch(host);
        g_ptr_array_remove_fast(invocation->service->invocations, invocation);
        session_unref(invocation->session);
        registration_unref(invocation->target);
        jdoc_free(invocation->arguments);
        jdoc_free(invocation->original_arguments);
        hook_fold_free(invocation->fold);
        if (invocation->verdicts)
                g_string_free(invocation->verdicts, TRUE);
        g_clear_pointer(&invocation->listeners, g_ptr_array_unref);
        if (invocation->decided)
                decision_done(&invocation->decision);
        approval_keys_done(&invocation->keys);
        g_free(invocation->client);
        g_free(invocation->client_exe);
        g_free(invocation->client_unit);
        g_free(invocation->agent_id);
        g_free(invocation->origin_turn_id);
        g_free(invocation->provenance);
        g_free(invocation->parent);
        g_free(invocation->input);
        g_free(invocation->original);
        g_free(invocation->card_id);
        g_free(invocation->answered_by);
        g_free(invocation->error_name);
        g_free(invocation->error_message);
        g_free(invocation);
}

/* How the call ended as far as permission goes; what happened to an execution is in the record's result. */
static const char *invocation_outcome(const Invocation *invocation) {
        if (invocation->answered_by && invocation->state >= INVOCATION_STARTING)
                return call_outcome_to_string(OUTCOME_APPROVED);
        if (invocation->state >= INVOCATION_STARTING)
                return call_outcome_to_string(OUTCOME_ALLOWED);
        for (int outcome = 0; outcome < _OUTCOME_MAX; outcome++)
                if (g_strcmp0(call_outcome_error(outcome), invocation->error_name) == 0)
                        return call_outcome_to_string(outcome);

        return call_outcome_to_string(OUTCOME_REFUSED_BY_POLICY);
}

static void invocation_record(Invocation *invocation, const char *error_name) {
        Service *service = invocation->service;
        const Registration *target = invocation->target;
        g_autofree char *digest = sha256_hex(invocation->input, invocation->input_size), *original_digest = NULL, *trace = NULL;
        g_autofree char *kept = NULL;
        const char *outcome = invocation_outcome(invocation);
        const bool tool = target->kind == REGISTRATION_TOOL, ran = invocation->state >= INVOCATION_STARTING;

        if (invocation->original)
                original_digest = sha256_hex(invocation->original, strlen(invocation->original));
        if (tool && service->config->keep_arguments)
                kept = g_strndup(invocation->input, invocation->input_size);
        if (invocation->decided)
                trace = trace_to_json(invocation->decision.trace);

        const DecisionRecord record = {
                .time_usec = now_usec(CLOCK_REALTIME),
                .kind = invocation->nested ? "core-call" : tool ? "call" : "command",
                .call = invocation->call_id,
                .parent = invocation->parent,
                .outcome = outcome,
                .session = invocation->session->id,
                .plugin = owner_get_plugin_id(target->owner),
                .build = owner_get_content_hash(target->owner),
                .generation = owner_get_generation(target->owner),
                .tool = target->name,
                .who_unit = invocation->client_unit,
                .who_exe = invocation->client_exe,
                .who_name = invocation->client,
                .who_uid = invocation->client_uid,
                .arguments_digest = digest,
                .original_digest = original_digest,
                .arguments_json = kept,
                .posture = posture_to_string(invocation->session->posture),
                .mode = mode_to_string(invocation->session->mode),
                .provenance = invocation->provenance,
                .card = invocation->card_id,
                .answered_by = invocation->answered_by,
                .grant = invocation->grant,
                .trace_json = trace,
                .hooks = invocation->verdicts ? invocation->verdicts->str : NULL,
                .result = !ran ? NULL : error_name ? error_name + strlen(ERROR_PREFIX) : "ok",
                .note = invocation->error_message,
                .duration_usec = now_usec(CLOCK_MONOTONIC) - invocation->started_usec,
        };
        (void) ledger_write(service, &record);
}

/* Takes back what still runs for this invocation. The callbacks come, and see that it is over. */
static void invocation_stop(Invocation *invocation, const char *reason) {
        RpcCall *rpc_call = g_steal_pointer(&invocation->rpc_call);
        Approval *card = g_steal_pointer(&invocation->card);

        invocation_stop_waiting(invocation);
        invocation->wait = overlay_wait_free(invocation->wait);
        /* First what hangs on this call, while its host can still be answered. */
        invocation->gate = core_gate_close(invocation->gate, reason);
        if (invocation->nested)
                core_call_stop(invocation->nested);
        if (rpc_call)
                rpc_call_cancel(rpc_call, reason);
        if (card)
                approval_withdraw(card, reason);
}

static Host *invocation_host(const Invocation *invocation) {
        return host_table_find(invocation->service->hosts, owner_get_plugin(invocation->target->owner));
}

static void invocation_end(Invocation *invocation, const InvocationAnswer *answer) {
        if (invocation->over)
                return;

        invocation->over = true;
        invocation_stop(invocation, answer->error_message ?: "the call ended");
        invocation_record(invocation, answer->error_name);
        if (invocation->state == INVOCATION_EXECUTING)
                host_count_call(invocation_host(invocation), answer->error_name != NULL);
        if (invocation->starting)
                return;

        invocation->done(answer, invocation->userdata);
        if (!invocation->verifying)
                invocation_free(invocation);
}

void invocation_succeed(Invocation *invocation, const char *result, size_t size) {
        const InvocationAnswer answer = { .call_id = invocation->call_id, .result = result, .result_size = size };

        invocation_end(invocation, &answer);
}

static void invocation_fail_text(Invocation *invocation, const char *error_name, const char *text, bool cancelled) {
        InvocationAnswer answer = { .call_id = invocation->call_id, .cancelled = cancelled };

        if (invocation->over)
                return;
        invocation->error_name = g_strdup(error_name);
        invocation->error_message = sanitize_block(text, ERROR_TEXT_BYTES_MAX, NULL);
        answer.error_name = invocation->error_name;
        answer.error_message = invocation->error_message;
        invocation_end(invocation, &answer);
}

void invocation_fail(Invocation *invocation, const char *error_name, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        /* A reason that it ends with may be a sentence of its own. */
        if (g_str_has_suffix(text, "..") && !g_str_has_suffix(text, "..."))
                text[strlen(text) - 1] = '\0';
        invocation_fail_text(invocation, error_name, text, false);
}

void invocation_cancel(Invocation *invocation, const char *reason) {
        invocation_fail_text(invocation, ERROR_CANCELLED, reason, true);
}

int invocation_started(Invocation *invocation, Invocation **ret, sd_bus_error *reterr) {
        int r;

        invocation->starting = false;
        if (!invocation->over) {
                if (ret)
                        *ret = invocation;
                return 0;
        }

        r = errors_set(reterr, invocation->error_name, "%s", invocation->error_message);
        invocation_free(invocation);
        return r;
}

void invocation_drop(Invocation *invocation) {
        invocation_free(invocation);
}

static int invocation_refuse_unknown(Service *service, RegistrationKind kind, const char *name, sd_bus_error *reterr) {
        Plugin *former = registry_find_former(service->registry, kind, name);
        Host *host = former ? host_table_find(service->hosts, former) : NULL;
        const char *reason = host ? host_get_reason(host) : NULL;
        bool tool = kind == REGISTRATION_TOOL;

        /* The plugin is still switched on, so the name is not gone for good. The words are the host's own (S15). */
        if (host && plugin_get_label(former) == PLUGIN_ACTIVE)
                return errors_set(reterr, ERROR_HOST_UNAVAILABLE, "'%s' can't answer: the host of %s is %s%s%s.", name,
                                  plugin_get_name(former), host_get_state_word(host), reason ? ": " : "", reason ?: "");

        return errors_set(reterr, tool ? ERROR_NO_SUCH_TOOL : ERROR_NO_SUCH_COMMAND,
                          "There is no %s '%s'; 'codewhalectl %s' lists those there are.", tool ? "tool" : "command", name,
                          tool ? "tools" : "commands");
}

int invocation_find(
                Service *service, const InvocationRequest *request, RegistrationKind kind, Registration **ret, sd_bus_error *reterr) {
        int r = selection_find(request->session->selection, service->registry, kind, request->name, ret, reterr);

        return r == -ENODATA ? invocation_refuse_unknown(service, kind, request->name, reterr) : r;
}

Rpc *invocation_rpc(Service *service, const Registration *registration) {
        Host *host = host_table_find(service->hosts, owner_get_plugin(registration->owner));

        return host && host_get_owner(host) == registration->owner && host_is_ready(host) ? host_get_rpc(host) : NULL;
}

static const char *down_reason(const Invocation *invocation) {
        Host *host = invocation_host(invocation);

        return (host ? host_get_reason(host) : NULL) ?: "its host is not running";
}

void invocation_fail_answer(Invocation *invocation, const RpcAnswer *answer) {
        const char *name = invocation->target->name;

        switch (answer->outcome) {
        case RPC_OUTCOME_TIMED_OUT:
                invocation_fail(invocation, ERROR_DEADLINE_EXCEEDED, "'%s' did not answer within %" G_GUINT64_FORMAT " ms.", name,
                                invocation->deadline_msec);
                break;
        case RPC_OUTCOME_CANCELLED:
                invocation_fail(invocation, ERROR_CANCELLED, "The call of '%s' was cancelled: %s.", name, answer->message);
                break;
        case RPC_OUTCOME_CLOSED:
                invocation_fail(invocation, ERROR_HOST_UNAVAILABLE, "'%s' can't answer: %s.", name, down_reason(invocation));
                break;
        case RPC_OUTCOME_ERROR:
                if (answer->code == RPC_NOT_AVAILABLE)
                        invocation_fail(invocation, ERROR_HOST_UNAVAILABLE, "'%s' is no longer available: %s", name, answer->message);
                else if (answer->code == RPC_CANCELLED)
                        invocation_fail(invocation, ERROR_CANCELLED, "The call of '%s' was cancelled by its host.", name);
                else
                        invocation_fail(invocation, ERROR_EXECUTION_FAILED, "'%s' failed: %s", name, answer->message);
                break;
        case RPC_OUTCOME_RESULT:
                g_assert_not_reached();
        }
}

void invocation_subject(const Invocation *invocation, BuildScope *build, ApprovalSubject *ret) {
        const Owner *owner = invocation->target->owner;

        *build = (BuildScope) { .plugin = owner_get_plugin_id(owner), .content_hash = owner_get_content_hash(owner) };
        *ret = (ApprovalSubject) {
                .tool = invocation->nested ? invocation->nested->policy_name : invocation->target->name,
                .build = invocation->nested ? NULL : build,
                .called_from = invocation->nested ? build : NULL,
        };
}

void invocation_note_envelope(Invocation *invocation, const char *source, const char *why) {
        if (!invocation->decided)
                invocation->decision.trace = trace_new();
        invocation->decided = true;
        trace_add(invocation->decision.trace, LAYER_ENVELOPE, VERDICT_DENY, source, "%s", why);
}

bool invocation_verify(Invocation *invocation) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Registration *target = invocation->target;
        int r;

        if (!registration_is_usable(target)) {
                invocation_note_envelope(invocation, "registration", target->gone ?: down_reason(invocation));
                invocation_fail(invocation, ERROR_HOST_UNAVAILABLE, "'%s' is no longer available: %s.", target->name,
                                target->gone ?: down_reason(invocation));
                return false;
        }
        /* It may find the bytes changed, which ends the host and with it this invocation. */
        invocation->verifying = true;
        r = plugin_set_verify(invocation->service->plugins, owner_get_plugin(target->owner),
                              owner_get_state_generation(target->owner), &error);
        invocation->verifying = false;
        if (invocation->over) {
                if (!invocation->starting)
                        invocation_free(invocation);
                return false;
        }
        if (r < 0) {
                invocation_note_envelope(invocation, "receipt", error.message ?: "the plugin may no longer run");
                invocation_fail(invocation, error.name ?: ERROR_NOT_ACTIVE, "%s",
                                error.message ?: "The plugin may no longer run.");
        }
        return r >= 0;
}

void invocation_write_context(const Invocation *invocation, JWriter *writer) {
        jwriter_member_uint(writer, "handle", invocation->target->handle);
        jwriter_member_uint(writer, "deadline_ms", invocation->deadline_msec);
        if (invocation->session->workspace[0])
                jwriter_member_string(writer, "workspace", invocation->session->workspace);
        jwriter_member_string(writer, "session_id", invocation->session->id);
        if (invocation->agent_id)
                jwriter_member_string(writer, "agent_id", invocation->agent_id);
        if (invocation->origin_turn_id)
                jwriter_member_string(writer, "origin_turn_id", invocation->origin_turn_id);
}
