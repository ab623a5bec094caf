/* SPDX-License-Identifier: MIT */
#include "service/policy-explain.h"

#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "policy/core-call.h"
#include "policy/tool-name.h"
#include "schema/schema.h"
#include "service/policy-view.h"
#include "service/selection-view.h"

/* One call that is supposed, and all that a decision about it needs. */
typedef struct Supposed {
        Service *service;
        const ExplainRequest *request;
        Session nobody;        /* in place of a session when there is none */
        Selection *all;        /* what it may use */
        const Session *session;
        Registration *tool;    /* NULL for a core tool */
        Plugin *caller;        /* of a core tool */
        Jdoc *arguments;
        char *policy_name;
        ApprovalKeys keys;
        DecisionInput input;
} Supposed;

static void supposed_done(Supposed *supposed) {
        jdoc_free(supposed->arguments);
        approval_keys_done(&supposed->keys);
        selection_free(supposed->all);
        g_free(supposed->policy_name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Supposed, supposed_done)

/* ---- what is asked ---- */

static int read_session(Supposed *supposed, sd_bus_error *reterr) {
        const ExplainRequest *request = supposed->request;
        const SelectionLists lists = {};
        DecisionInput *input = &supposed->input;
        int r;

        r = selection_new(&lists, "", &supposed->all, reterr);
        if (r < 0)
                return r;
        supposed->nobody = (Session) {
                .id = (char *) "none", .client = (char *) "", .label = (char *) "", .workspace = (char *) "", .model = (char *) "",
                .mode = MODE_AGENT, .posture = supposed->service->config->posture, .selection = supposed->all,
        };
        supposed->session = request->session ?: &supposed->nobody;
        input->session = supposed->session->id;
        input->mode = request->mode ? mode_from_string(request->mode) : supposed->session->mode;
        input->posture = request->posture ? posture_from_string(request->posture) : supposed->session->posture;
        input->full_access = input->posture == POSTURE_FULL_ACCESS;
        input->workspace = supposed->session->workspace[0] ? supposed->session->workspace : NULL;
        if (input->mode < 0)
                return errors_set(reterr, ERROR_INVALID_OPTION, "There is no mode '%s'; known are agent, plan and operate.", request->mode);
        if (input->posture < 0)
                return errors_set(reterr, ERROR_INVALID_OPTION,
                                  "There is no posture '%s'; known are ask, auto-review, full-access and never.", request->posture);
        return 0;
}

static int read_arguments(Supposed *supposed, sd_bus_error *reterr) {
        const char *text = supposed->request->arguments;
        const JdocLimits limits = {
                .bytes_max = CALL_ARGUMENTS_BYTES_MAX, .depth_max = JSON_DEPTH_MAX, .nodes_max = JSON_NODES_MAX,
        };
        JdocError error = {};

        if (jdoc_parse(text, strlen(text), &limits, &supposed->arguments, &error) < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The arguments are not strict JSON: %s at line %zu, column %zu.",
                                  error.message, error.line, error.column);
        if (!jval_is(jdoc_root(supposed->arguments), J_OBJECT))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The arguments must be a JSON object.");
        supposed->input.arguments = jdoc_root(supposed->arguments);
        return 0;
}

static int read_tool(Supposed *supposed, sd_bus_error *reterr) {
        const ExplainRequest *request = supposed->request;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        DecisionInput *input = &supposed->input;
        int r;

        input->tool = request->tool;
        r = selection_find(supposed->session->selection, supposed->service->registry, REGISTRATION_TOOL, request->tool, &supposed->tool,
                           &error);
        if (r < 0 && r != -ENODATA) {
                (void) sd_bus_error_move(reterr, &error);
                return r;
        }
        if (request->from) {
                r = plugin_set_find(supposed->service->plugins, request->from, &supposed->caller, reterr);
                if (r < 0)
                        return r;
                input->caller_plugin = plugin_get_id(supposed->caller);
        } else if (!supposed->tool)
                return errors_set(reterr, ERROR_NO_SUCH_TOOL,
                                  "There is no plugin's tool '%.128s'. To suppose a call of a core tool, say which plugin would make it.",
                                  request->tool);

        input->kind = supposed->tool ? TOOL_EXTENSION : TOOL_CORE;
        input->requirement = supposed->tool ? REQUIREMENT_REQUIRED : REQUIREMENT_AUTO;
        if (supposed->tool) {
                input->plugin = owner_get_plugin_id(supposed->tool->owner);
                input->build = owner_get_content_hash(supposed->tool->owner);
        }
        return 0;
}

static void make_keys(Supposed *supposed) {
        const DecisionInput *input = &supposed->input;
        const BuildScope build = { .plugin = input->plugin, .content_hash = input->build };
        const BuildScope caller = {
                .plugin = input->caller_plugin,
                .content_hash = supposed->caller ? plugin_get_content_hash(supposed->caller) : NULL,
        };
        const ApprovalSubject subject = {
                .tool = supposed->policy_name,
                .build = supposed->tool ? &build : NULL,
                .called_from = supposed->caller ? &caller : NULL,
        };

        /* What has no keys has no grants either. */
        if (approval_keys_make(&subject, input->arguments, &supposed->keys) < 0)
                return;
        supposed->input.keys = &supposed->keys;
        supposed->input.grants = supposed->service->grants;
}

static int suppose(Supposed *supposed, sd_bus_error *reterr) {
        uint64_t now = 0;
        int r;

        r = read_session(supposed, reterr);
        if (r >= 0)
                r = read_arguments(supposed, reterr);
        if (r >= 0)
                r = read_tool(supposed, reterr);
        if (r < 0)
                return r;

        (void) sd_event_now(supposed->service->event, CLOCK_MONOTONIC, &now);
        supposed->input.now_usec = now;
        supposed->policy_name = supposed->tool ? g_strdup(supposed->request->tool)
                                               : tool_alias_resolve(supposed->request->tool, supposed->input.arguments);
        policy_view_fill(supposed->service, supposed->session, &supposed->input);
        make_keys(supposed);
        return 0;
}

/* ---- the report ---- */

typedef struct Listeners {
        JWriter *writer;
        unsigned n;
} Listeners;

static void write_listener(Registration *listener, void *userdata) {
        Listeners *listeners = userdata;

        listeners->n++;
        if (!listeners->writer)
                return;
        jwriter_begin_object(listeners->writer);
        jwriter_member_string(listeners->writer, "plugin", owner_get_plugin_id(listener->owner));
        jwriter_member_string(listeners->writer, "label", listener->description ?: "");
        jwriter_end_object(listeners->writer);
}

static unsigned count_listeners(const Supposed *supposed) {
        Listeners listeners = {};

        selection_foreach(supposed->session->selection, supposed->service->registry, REGISTRATION_HOOK, write_listener, &listeners);
        return listeners.n;
}

/* What a layer without a step of its own has to say. */
static char *silent_words(const Supposed *supposed, DecisionLayer layer) {
        const DecisionInput *input = &supposed->input;

        switch (layer) {
        case LAYER_CONFIGURATION:
                return g_strdup_printf("the posture is %s%s; nothing tightens it", posture_to_string(input->posture),
                                       supposed->request->posture ? ", as supposed" : "");
        case LAYER_ADMISSION:
                return g_strdup_printf("the mode is %s, and no list keeps the tool out", mode_to_string(input->mode));
        case LAYER_HOOKS:
                return count_listeners(supposed) == 0
                                ? g_strdup("nobody listens")
                                : g_strdup_printf("not asked in a dry run: %u would be, and may refuse, ask or change the arguments",
                                                  count_listeners(supposed));
        case LAYER_RULES:
                return g_strdup_printf("none of %zu rules is about this call", rule_set_length(input->rules));
        case LAYER_AUTO_REVIEW:
                return g_strdup("neither blocked, nor destructive, nor publishing");
        case LAYER_REPOSITORY_LAW:
                return input->workspace ? g_strdup("the workspace says nothing about this call") : g_strdup("there is no workspace");
        case LAYER_APPROVAL:
                return g_strdup("nobody needs to be asked");
        default:
                return g_strdup(supposed->tool ? "the plugin's own sandbox; 'codewhalectl show' describes it"
                                               : "a unit of its own with the workspace as its only view");
        }
}

static bool has_steps(const Trace *trace, DecisionLayer layer) {
        for (size_t i = 0; i < trace_length(trace); i++)
                if (trace_step(trace, i)->layer == layer)
                        return true;

        return false;
}

static void write_layers(const Supposed *supposed, const Decision *decision, JWriter *writer) {
        const TraceStep *last = trace_last(decision->trace);
        bool reached = true;

        jwriter_key(writer, "layers");
        jwriter_begin_array(writer);
        for (DecisionLayer layer = 0; layer < _DECISION_LAYER_MAX; layer++) {
                g_autofree char *silent = NULL;

                jwriter_begin_object(writer);
                jwriter_member_uint(writer, "number", layer + 1u);
                jwriter_member_string(writer, "layer", decision_layer_to_string(layer));
                jwriter_member_boolean(writer, "reached", reached);
                jwriter_member_boolean(writer, "decided", last && last->layer == layer);
                jwriter_key(writer, "steps");
                trace_write_layer(decision->trace, layer, writer);
                if (reached && !has_steps(decision->trace, layer)) {
                        silent = silent_words(supposed, layer);
                        jwriter_member_string(writer, "says", silent);
                }
                jwriter_end_object(writer);
                /* Nothing is looked at behind a refusal. */
                if (decision->verdict == VERDICT_DENY && last && last->layer == layer)
                        reached = false;
        }
        jwriter_end_array(writer);
}

static void write_arguments(const Supposed *supposed, JWriter *writer) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *reason = NULL;
        const Schema *schema = NULL;
        bool valid = true;

        if (supposed->tool && registration_use_schema(supposed->tool, &schema, &error) < 0) {
                valid = false;
                reason = g_strdup(error.message);
        }
        if (schema) {
                valid = schema_validate(schema, supposed->input.arguments) == SCHEMA_VALID;
                reason = valid ? NULL : schema_explain(schema, supposed->input.arguments);
        }
        jwriter_member_boolean(writer, "arguments_valid", valid);
        if (reason)
                jwriter_member_string(writer, "arguments_reason", reason);
}

static void write_then(const Decision *decision, JWriter *writer) {
        static const char *const words[] = {
                [VERDICT_ALLOW] = "It would run, and nobody would be asked.",
                [VERDICT_ASK] = "A card would open: a person decides, and without an approver the call fails at once.",
                [VERDICT_DENY] = "It would be refused; nobody would be asked.",
        };
        g_autofree char *why = decision_why(decision);

        jwriter_member_string(writer, "verdict", verdict_to_string(decision->verdict));
        if (decision->outcome >= 0)
                jwriter_member_string(writer, "outcome", call_outcome_to_string(decision->outcome));
        jwriter_member_string(writer, "why", why);
        jwriter_member_string(writer, "then", words[decision->verdict]);
        jwriter_member_boolean(writer, "forced", decision->forced);
        jwriter_key(writer, "offers");
        jwriter_begin_array(writer);
        for (GrantWidth width = 0; width < _GRANT_WIDTH_MAX; width++)
                if (decision->offers & GRANT_OFFER(width))
                        jwriter_string(writer, grant_width_to_string(width));
        jwriter_end_array(writer);
}

static char *report(const Supposed *supposed, const Decision *decision) {
        const DecisionInput *input = &supposed->input;
        g_auto(JWriter) writer = {};
        Listeners listeners = { .writer = &writer };

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "tool", input->tool);
        jwriter_member_string(&writer, "policy_name", supposed->policy_name);
        jwriter_member_string(&writer, "kind", supposed->tool ? "plugin-tool" : "core-tool");
        if (input->plugin)
                jwriter_member_string(&writer, "plugin", input->plugin);
        if (input->build)
                jwriter_member_string(&writer, "build", input->build);
        if (input->caller_plugin)
                jwriter_member_string(&writer, "from", input->caller_plugin);
        jwriter_member_string(&writer, "session", supposed->session->id);
        jwriter_member_string(&writer, "posture", posture_to_string(decision->posture));
        jwriter_member_string(&writer, "mode", mode_to_string(input->mode));
        jwriter_member_string(&writer, "workspace", supposed->session->workspace);
        write_arguments(supposed, &writer);
        write_then(decision, &writer);
        write_layers(supposed, decision, &writer);
        jwriter_key(&writer, "listeners");
        jwriter_begin_array(&writer);
        selection_foreach(supposed->session->selection, supposed->service->registry, REGISTRATION_HOOK, write_listener, &listeners);
        jwriter_end_array(&writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

int policy_explain(Service *service, const ExplainRequest *request, char **ret_json, sd_bus_error *reterr) {
        g_auto(Supposed) supposed = { .service = service, .request = request };
        g_auto(Decision) decision = {};
        int r;

        r = suppose(&supposed, reterr);
        if (r < 0)
                return r;

        decision_make(&supposed.input, &decision);
        *ret_json = report(&supposed, &decision);
        return 0;
}
