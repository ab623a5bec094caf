/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "policy/provenance.h"
#include "service/approval-card.h"
#include "service/grant-keeper.h"
#include "service/core-call.h"
#include "service/policy-view.h"

/* The steps of one tool call (design 6). Nothing is sent to the host before every listener answered, the decision is
 * made and, where it asks, a person said yes to exactly these arguments. */

/* ---- the arguments ---- */

static int parse_arguments(const char *text, size_t size, Jdoc **ret, sd_bus_error *reterr) {
        const JdocLimits limits = {
                .bytes_max = CALL_ARGUMENTS_BYTES_MAX, .depth_max = JSON_DEPTH_MAX, .nodes_max = JSON_NODES_MAX,
        };
        JdocError error = {};
        int r;

        if (size > CALL_ARGUMENTS_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "Arguments may have at most %zu bytes.", CALL_ARGUMENTS_BYTES_MAX);
        r = jdoc_parse(text, size, &limits, ret, &error);
        if (r < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The arguments are not strict JSON: %s at line %zu, column %zu.",
                                  error.message, error.line, error.column);
        return 0;
}

/* Which core tool a nested call means depends on its arguments, so that is found out together with whether they fit. */
static int validate_arguments(const Invocation *invocation, const Jdoc *arguments, sd_bus_error *reterr) {
        const char *name = invocation->target->name;
        g_autofree char *reasons = NULL;
        const Schema *schema;
        int r;

        if (!jval_is(jdoc_root(arguments), J_OBJECT))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The arguments of '%s' must be a JSON object.", name);
        if (invocation->nested) {
                r = core_call_resolve(invocation->nested, jdoc_root(arguments), reterr);
                if (r < 0)
                        return r;
                schema = invocation->nested->tool->schema;
        } else {
                r = registration_use_schema(invocation->target, &schema, reterr);
                if (r < 0)
                        return r;
        }
        if (!schema || schema_validate(schema, jdoc_root(arguments)) == SCHEMA_VALID)
                return 0;

        reasons = schema_explain(schema, jdoc_root(arguments));
        return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The arguments do not fit the schema of '%s': %s", name,
                          reasons ?: "judging them took too many steps");
}

/* Puts a listener's revision in the place of the arguments. It is judged like any other input. */
static int adopt_revision(Invocation *invocation, sd_bus_error *reterr) {
        g_autofree char *text = NULL;
        g_autoptr(Jdoc) doc = NULL;
        const char *revision;
        size_t size;
        int r;

        revision = invocation->fold ? hook_fold_revision(invocation->fold, &size) : NULL;
        if (!revision)
                return 0;

        text = g_strndup(revision, size);
        r = parse_arguments(text, size, &doc, reterr);
        if (r >= 0)
                r = validate_arguments(invocation, doc, reterr);
        if (r < 0)
                return r;

        invocation->original = g_realloc(g_steal_pointer(&invocation->input), invocation->input_size + 1);
        invocation->original[invocation->input_size] = '\0';
        jdoc_free(invocation->arguments);
        r = jdoc_parse(invocation->original, invocation->input_size, NULL, &invocation->original_arguments, NULL);
        invocation->input = g_steal_pointer(&text);
        invocation->input_size = size;
        invocation->arguments = g_steal_pointer(&doc);
        return r;
}

/* ---- the decision ---- */

static void fill_decision_input(const Invocation *invocation, DecisionInput *ret) {
        const Session *session = invocation->session;
        const Registration *tool = invocation->target;
        uint64_t now = 0;

        (void) sd_event_now(invocation->service->event, CLOCK_MONOTONIC, &now);
        *ret = (DecisionInput) {
                .session = session->id,
                .posture = session->posture,
                .full_access = session->posture == POSTURE_FULL_ACCESS,
                .no_standing = !provenance_has_standing(invocation->provenance),
                .mode = session->mode,
                .headless = false, /* whether somebody is there is found out when the card opens */
                .workspace = session->workspace[0] ? session->workspace : NULL,
                .kind = TOOL_EXTENSION,
                .tool = tool->name,
                .plugin = owner_get_plugin_id(tool->owner),
                .build = owner_get_content_hash(tool->owner),
                .requirement = REQUIREMENT_REQUIRED,
                .arguments = jdoc_root(invocation->arguments),
                .original = invocation->original_arguments ? jdoc_root(invocation->original_arguments) : (Jval) {},
                .hooks = invocation->fold,
                .grants = invocation->service->grants,
                .keys = &invocation->keys,
                .now_usec = now,
        };
        policy_view_fill(invocation->service, session, ret);
        if (invocation->nested)
                core_call_fill_decision(invocation->nested, ret);
}

/* ---- the rules ---- */

static void on_rules_read(void *userdata) {
        Invocation *invocation = userdata;

        invocation->wait = overlay_wait_free(invocation->wait);
        if (!invocation->over)
                invocation->after_wait(invocation);
}

/* Whether the rules of the workspace are being read just now; then @step comes again when they were. */
static bool awaits_rules(Invocation *invocation, void (*step)(Invocation *invocation)) {
        policy_view_wait(invocation->service, invocation->session, on_rules_read, invocation, &invocation->wait);
        invocation->after_wait = step;
        return invocation->wait != NULL;
}

static int make_keys(Invocation *invocation) {
        ApprovalSubject subject;
        BuildScope build;

        invocation_subject(invocation, &build, &subject);
        return approval_keys_make(&subject, jdoc_root(invocation->arguments), &invocation->keys);
}

static void fail_decided(Invocation *invocation) {
        g_autofree char *why = decision_why(&invocation->decision);

        invocation_fail(invocation, call_outcome_error(invocation->decision.outcome) ?: ERROR_REFUSED_BY_POLICY, "%s", why);
}

/* ---- execution ---- */

static void on_tool_answer(const RpcAnswer *answer, void *userdata) {
        Invocation *invocation = userdata;
        g_autofree char *json = NULL, *reason = NULL;
        size_t size;

        invocation->rpc_call = NULL;
        if (invocation->over)
                return;
        if (answer->outcome != RPC_OUTCOME_RESULT)
                invocation_fail_answer(invocation, answer);
        else if (tool_result_shape(invocation, answer->result, &json, &size, &reason) < 0)
                invocation_fail(invocation, ERROR_EXECUTION_FAILED, "The result of '%s' can't be used: %s.", invocation->target->name,
                                reason);
        else
                invocation_succeed(invocation, json, size);
}

static char *tool_params(const Invocation *invocation, size_t *ret_size) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "call_id", invocation->call_id);
        jwriter_key(&writer, "input");
        jwriter_raw(&writer, invocation->input, invocation->input_size);
        if (invocation->gate)
                jwriter_member_string(&writer, "ticket", core_gate_ticket(invocation->gate));
        invocation_write_context(invocation, &writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, ret_size);
}

/* The folder that the session holds is still the one its path leads to; else the call ends. */
static bool check_workspace(Invocation *invocation) {
        const Workspace *folder = invocation->session->folder;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (!folder || workspace_check(folder, &error) >= 0)
                return true;
        invocation_note_envelope(invocation, "workspace", error.message);
        invocation_fail(invocation, error.name, "%s", error.message);
        return false;
}

/* The last check and the frame. Between the two nothing can happen: both are in one turn of the loop. */
static void tool_call_send(Invocation *invocation) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *params = NULL;
        size_t size;
        Rpc *rpc;
        int r;

        if (!check_workspace(invocation) || !invocation_verify(invocation))
                return;
        if (validate_arguments(invocation, invocation->arguments, &error) < 0) {
                invocation_note_envelope(invocation, "schema", error.message);
                invocation_fail(invocation, error.name, "%s", error.message);
                return;
        }
        if (invocation->nested) {
                core_call_execute(invocation->nested);
                return;
        }

        invocation->state = INVOCATION_EXECUTING;
        invocation->gate = core_gate_open(invocation);
        params = tool_params(invocation, &size);
        rpc = invocation_rpc(invocation->service, invocation->target);
        r = rpc ? rpc_call(rpc, 0, "tool/call", params, size, invocation_left_msec(invocation), on_tool_answer, invocation,
                           &invocation->rpc_call) : -ENOTCONN;
        if (r == -EBUSY || r == -ENOBUFS)
                invocation_fail(invocation, ERROR_BUSY, "'%s' has too many calls waiting already.", invocation->target->name);
        else if (r < 0)
                invocation_fail(invocation, ERROR_HOST_UNAVAILABLE, "'%s' can't be reached: %s.", invocation->target->name,
                                g_strerror(-r));
}

/* What may not run does not wake its host either. Where the host is awake the frame goes out in this very turn of the loop, after the
 * last check, and the same check before that would tell nothing more. */
static void tool_call_execute(Invocation *invocation) {
        if (invocation_rpc(invocation->service, invocation->target) || invocation_verify(invocation))
                invocation_with_host(invocation, tool_call_send);
}

/* ---- the person ---- */

static void give_grant(Invocation *invocation, const ApprovalAnswer *answer) {
        ApprovalSubject subject;
        BuildScope build;

        invocation_subject(invocation, &build, &subject);
        const GrantGift gift = {
                .session = invocation->session->id,
                .subject = &subject,
                .keys = &invocation->keys,
                .offers = invocation->decision.offers,
                .call_id = invocation->call_id,
        };

        invocation->grant = grant_keeper_give(invocation->service->keeper, &gift, answer);
}

/* What a person said beyond this one call. */
static void remember_answer(Invocation *invocation, const ApprovalAnswer *answer) {
        bool more = answer->scope && strcmp(answer->scope, APPROVAL_ONCE) != 0;

        if (answer->outcome == APPROVAL_ALLOWED && more)
                give_grant(invocation, answer);
        else if (answer->outcome == APPROVAL_DENIED && more)
                (void) grant_table_deny(invocation->service->grants, invocation->session->id, &invocation->keys);
}

static void tool_call_approved(Invocation *invocation) {
        if (!awaits_rules(invocation, tool_call_approved))
                tool_call_execute(invocation);
}

static void on_decided(Approval *approval, const ApprovalAnswer *answer, void *userdata) {
        Invocation *invocation = userdata;
        g_autofree char *by = answer->who ? actor_describe(answer->who) : NULL;
        g_autofree char *source = by ? g_strdup_printf("person:%s", by) : g_strdup("nobody");
        bool allowed = answer->outcome == APPROVAL_ALLOWED;
        static const char *const errors[_APPROVAL_OUTCOME_MAX] = {
                [APPROVAL_DENIED] = ERROR_DENIED,
                [APPROVAL_TIMED_OUT] = ERROR_TIMED_OUT,
                [APPROVAL_NO_APPROVER] = ERROR_NO_APPROVER,
                [APPROVAL_WITHDRAWN] = ERROR_WITHDRAWN,
        };
        static const char *const texts[_APPROVAL_OUTCOME_MAX] = {
                [APPROVAL_DENIED] = "A person denied",
                [APPROVAL_TIMED_OUT] = "Nobody answered in time to",
                [APPROVAL_NO_APPROVER] = "The last approver left before anybody answered to",
                [APPROVAL_WITHDRAWN] = "The question was withdrawn before anybody answered to",
        };

        (void) approval;
        invocation->card = NULL;
        if (invocation->over)
                return;
        if (invocation->nested)
                core_call_answered(invocation->nested);

        invocation->answered_by = g_steal_pointer(&by);
        trace_add(invocation->decision.trace, LAYER_APPROVAL, allowed ? VERDICT_ALLOW : VERDICT_DENY, source, "card %s: %s%s%s",
                  invocation->card_id, approval_outcome_to_string(answer->outcome), answer->scope ? ", scope " : "",
                  answer->scope ?: "");
        remember_answer(invocation, answer);
        if (!allowed) {
                invocation_fail(invocation, errors[answer->outcome], "%s the call of '%s'.", texts[answer->outcome],
                                invocation->target->name);
                return;
        }
        tool_call_approved(invocation);
}

void tool_call_open_card(Invocation *invocation) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(ApprovalCard) card = {};
        Service *service = invocation->service;

        /* Nobody is asked about bytes that are no longer those that were reviewed. */
        if (!invocation_verify(invocation))
                return;
        approval_card_make(invocation, &card);
        const ApprovalRequest request = {
                .requester = invocation->client,
                .requester_exe = invocation->client_exe,
                .requester_unit = invocation->client_unit,
                .requester_uid = invocation->client_uid,
                .kind = invocation->nested ? "core-call" : "tool-call",
                .call_id = invocation->call_id,
                .session = invocation->session->id,
                .plugin = owner_get_plugin_id(invocation->target->owner),
                .tool = invocation->target->name,
                .title = card.title,
                .card = card.json,
                .digest = card.digest,
                .scopes = (const char *const *) card.scopes->pdata,
                .arguments = invocation->input,
                .arguments_size = invocation->input_size,
                .timeout_msec = service->config->approval_timeout_msec,
        };

        invocation->state = INVOCATION_APPROVAL;
        if (approval_open(service->approvals, &request, on_decided, invocation, &invocation->card, &error) < 0) {
                trace_add(invocation->decision.trace, LAYER_APPROVAL, VERDICT_DENY, "approvals", "%s", error.message);
                invocation_fail(invocation, error.name, "%s", error.message);
                return;
        }
        invocation->card_id = g_strdup_printf("%" G_GUINT64_FORMAT, approval_get_id(invocation->card));
}

/* ---- the flow ---- */

/* What a listener made of the arguments does not fit the tool: its doing, in the record too. */
static void refuse_revision(Invocation *invocation, const char *why) {
        g_autofree char *source = g_strdup_printf("hook:%s", hook_fold_revisor(invocation->fold));

        invocation->decision.trace = trace_new();
        invocation->decided = true;
        trace_add(invocation->decision.trace, LAYER_HOOKS, VERDICT_DENY, source, "it revised the input to something that can't be used: %s",
                  why);
        invocation_fail(invocation, ERROR_HOOK_FAILED, "A listener changed the arguments to something that can't be used: %s", why);
}

void tool_call_decide(Invocation *invocation) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        DecisionInput input;

        if (awaits_rules(invocation, tool_call_decide))
                return;
        if (adopt_revision(invocation, &error) < 0) {
                refuse_revision(invocation, error.message);
                return;
        }
        if (make_keys(invocation) < 0) {
                invocation_fail(invocation, ERROR_REFUSED_BY_POLICY, "The call can't be named for approval.");
                return;
        }

        fill_decision_input(invocation, &input);
        decision_make(&input, &invocation->decision);
        invocation->decided = true;
        invocation->grant = invocation->decision.grant_id;
        switch (invocation->decision.verdict) {
        case VERDICT_ALLOW:
                tool_call_execute(invocation);
                break;
        case VERDICT_ASK:
                if (invocation->nested)
                        core_call_ask(invocation->nested);
                else
                        tool_call_open_card(invocation);
                break;
        default:
                fail_decided(invocation);
                break;
        }
}

void tool_call_reconsider(Invocation *invocation) {
        g_auto(Decision) fresh = {};
        DecisionInput input;

        if (invocation->state != INVOCATION_APPROVAL || invocation->over || !invocation->arguments)
                return;

        fill_decision_input(invocation, &input);
        decision_make(&input, &fresh);
        if (fresh.verdict != VERDICT_DENY)
                return;
        decision_done(&invocation->decision);
        invocation->decision = fresh;
        fresh = (Decision) {};
        fail_decided(invocation);
}

/* Refuses what no listener and no person could rescue, before anybody is bothered. */
static bool tool_call_admit(Invocation *invocation) {
        g_auto(Decision) decision = {};
        DecisionInput input;

        if (!check_workspace(invocation))
                return false;
        fill_decision_input(invocation, &input);
        decision_admit(&input, &decision);
        if (decision.verdict != VERDICT_DENY)
                return true;

        invocation->decision = decision;
        decision = (Decision) {};
        invocation->decided = true;
        fail_decided(invocation);
        return false;
}

static void tool_call_enter(Invocation *invocation) {
        if (!awaits_rules(invocation, tool_call_enter) && tool_call_admit(invocation))
                tool_hooks_begin(invocation);
}

void tool_call_begin(Invocation *invocation) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        r = parse_arguments(invocation->input, invocation->input_size, &invocation->arguments, &error);
        if (r >= 0)
                r = validate_arguments(invocation, invocation->arguments, &error);
        if (r < 0)
                invocation_fail(invocation, error.name, "%s", error.message);
        else
                tool_call_enter(invocation);
}

int invocation_start_tool(
                Service *service, const InvocationRequest *request, InvocationDone done, void *userdata, Invocation **ret,
                sd_bus_error *reterr) {
        Invocation *invocation;
        Registration *tool;
        int r;

        r = invocation_find(service, request, REGISTRATION_TOOL, &tool, reterr);
        if (r < 0)
                return r;
        if (!service->decisions)
                return errors_set(reterr, ERROR_IO, "Nothing runs while decisions can't be recorded; see 'codewhalectl doctor'.");

        invocation = invocation_new(service, request, tool, TOOL_DEADLINE_MSEC, done, userdata);
        r = parse_arguments(invocation->input, invocation->input_size, &invocation->arguments, reterr);
        if (r >= 0)
                r = validate_arguments(invocation, invocation->arguments, reterr);
        if (r < 0) {
                invocation_drop(invocation);
                return r;
        }

        if (request->origin == INVOCATION_ORIGIN_PROGRAM)
                invocation_fail(invocation, ERROR_REFUSED_BY_POLICY,
                                "'%s' belongs to a plugin and can't be called from within a program; call it by itself.", tool->name);
        else
                tool_call_enter(invocation);
        return invocation_started(invocation, ret, reterr);
}
