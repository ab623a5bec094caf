/* SPDX-License-Identifier: MIT */
#include <assert.h>

#include "policy/decision.h"
#include "policy/judge.h"

void decision_done(Decision *decision) {
        decision->trace = trace_free(decision->trace);
}

/* ---- carrying an input through the layers ---- */

static void judge_look_at(Judge *judge, Jval arguments) {
        JudgedInput *judged = &judge->inputs[judge->n_inputs++];
        const char *text;

        judged->arguments = arguments;
        if (judge->input->kind == TOOL_EXTENSION) {
                /* A plugin's tool is no alias of anything, whatever it is called. */
                judged->policy_name = g_ascii_strdown(judge->input->tool, -1);
                return;
        }

        judged->policy_name = tool_alias_resolve(judge->input->tool, arguments);
        judged->category = tool_category(judged->policy_name);
        if (judged->category == CATEGORY_SHELL) {
                text = jval_text(jval_member(arguments, "command"));
                /* No readable command is an unclear one, not none. */
                judged->command = command_parse(text ? text : "'");
        }
}

static void judge_init(Judge *judge, const DecisionInput *input) {
        assert(input->tool);
        assert(input->session);

        *judge = (Judge){
                .input = input,
                .trace = trace_new(),
                .nested = input->caller_plugin,
                .refused = _OUTCOME_INVALID,
                .posture = input->posture,
        };
        judge_look_at(judge, input->arguments);
        if (!jval_is(input->original, J_ABSENT))
                judge_look_at(judge, input->original);
}

static void judge_done(Judge *judge) {
        for (size_t i = 0; i < judge->n_inputs; i++) {
                g_free(judge->inputs[i].policy_name);
                (void) command_free(judge->inputs[i].command);
        }
        judge->trace = trace_free(judge->trace);
}

static void judge_report(Judge *judge, Decision *ret, Verdict verdict, CallOutcome outcome) {
        *ret = (Decision){
                .verdict = verdict,
                .outcome = outcome,
                .posture = judge->posture,
                .forced = judge->forced,
                .trace = g_steal_pointer(&judge->trace),
        };
}

/* ---- layer 8 ---- */

static bool is_denied_in_session(const DecisionInput *input) {
        return input->grants && input->keys &&
               grant_table_is_denied(input->grants, input->session, input->keys);
}

static const Grant *find_grant(const DecisionInput *input) {
        return input->grants && input->keys ? grant_table_find(input->grants, input->session, input->keys,
                                                              input->now_usec)
                                            : NULL;
}

static unsigned possible_offers(const Judge *judge) {
        const DecisionInput *input = judge->input;

        if (judge->forced || !input->keys)
                return 0;
        return GRANT_OFFER(GRANT_ARGUMENTS) |
               (input->kind == TOOL_EXTENSION && input->keys->any ? GRANT_OFFER(GRANT_TOOL) : 0);
}

static void report_card(Judge *judge, Decision *ret) {
        unsigned offers = possible_offers(judge);

        if (judge->input->headless) {
                (void) judge_refuse(judge, LAYER_APPROVAL, OUTCOME_NO_APPROVER, "nobody",
                                "a person must be asked and nobody is there to answer");
                judge_report(judge, ret, VERDICT_DENY, OUTCOME_NO_APPROVER);
                return;
        }
        trace_add(judge->trace, LAYER_APPROVAL, VERDICT_ASK, "card", "%s",
                        judge->forced ? "a person must answer; no grant counts" : "a person must answer");
        judge_report(judge, ret, VERDICT_ASK, _OUTCOME_INVALID);
        ret->offers = offers;
}

static void report_approved(Judge *judge, const Grant *grant, Decision *ret) {
        g_autofree char *source = NULL;

        if (grant && judge->posture != POSTURE_FULL_ACCESS) {
                source = g_strdup_printf("grant:%" G_GUINT64_FORMAT, grant->id);
                trace_add(judge->trace, LAYER_APPROVAL, VERDICT_ALLOW, source, "granted before by %s: %s",
                                *grant->giver != '\0' ? grant->giver : "a person", grant->words);
                judge_report(judge, ret, VERDICT_ALLOW, OUTCOME_ALLOWED);
                ret->grant_id = grant->id;
                return;
        }
        source = g_strdup_printf("posture:%s", posture_to_string(judge->posture));
        trace_add(judge->trace, LAYER_APPROVAL, VERDICT_ALLOW, source,
                        "the posture asks nobody for ordinary requests");
        judge_report(judge, ret, VERDICT_ALLOW, OUTCOME_ALLOWED);
}

static void report_refused(Judge *judge, Decision *ret, Disposition disposition) {
        static const char *const words[_DISPOSITION_MAX] = {
                [DISPOSITION_SESSION_DENIED] = "a person denied this call for the session",
                [DISPOSITION_AUTO_REVIEW_HOLD] = "it needs approval, and Auto-Review opens no cards",
                [DISPOSITION_FULL_ACCESS_HOLD] = "it is held for a person, and Full Access opens no cards for that",
                [DISPOSITION_NEVER] = "it needs approval, and the posture is Never",
        };
        CallOutcome outcome = disposition == DISPOSITION_SESSION_DENIED ? OUTCOME_DENIED
                                                                        : OUTCOME_REFUSED_BY_POLICY;
        g_autofree char *source =
                        disposition == DISPOSITION_SESSION_DENIED
                                        ? g_strdup("session-denial")
                                        : g_strdup_printf("posture:%s", posture_to_string(judge->posture));

        (void) judge_refuse(judge, LAYER_APPROVAL, outcome, source, "%s", words[disposition]);
        judge_report(judge, ret, VERDICT_DENY, outcome);
}

/* Under which posture a request that exists is disposed of. */
static Posture judge_disposing_posture(const Judge *judge) {
        if (judge->posture != POSTURE_ASK)
                return judge->posture;
        if (judge->was_auto_review)
                return POSTURE_AUTO_REVIEW;
        return judge->was_full_access && judge->held && !judge->nested ? POSTURE_FULL_ACCESS : POSTURE_ASK;
}

static void judge_approval(Judge *judge, Decision *ret) {
        const Grant *grant = find_grant(judge->input);
        const DispositionInput input = {
                .posture = judge_disposing_posture(judge),
                .granted = grant,
                .denied = is_denied_in_session(judge->input),
                .forced = judge->forced,
                .extension_origin = judge->nested,
        };
        Disposition disposition;

        /* No request at all, unless a person said no to exactly this. */
        if (!input.denied && !judge->forced &&
                        posture_resolve(judge->posture, judge->requirement) == RESOLUTION_ALLOW) {
                if (judge->requirement == REQUIREMENT_AUTO)
                        judge_report(judge, ret, VERDICT_ALLOW, OUTCOME_ALLOWED);
                else
                        report_approved(judge, NULL, ret);
                return;
        }

        disposition = posture_dispose(&input);
        if (disposition == DISPOSITION_CARD)
                report_card(judge, ret);
        else if (disposition == DISPOSITION_APPROVE)
                report_approved(judge, grant, ret);
        else
                report_refused(judge, ret, disposition);
}

/* ---- the whole ---- */

typedef bool (*JudgeLayer)(Judge *judge);

static bool judge_layers(Judge *judge, const JudgeLayer *layers, size_t length) {
        for (size_t i = 0; i < length; i++)
                if (!layers[i](judge))
                        return false;

        return true;
}

void decision_admit(const DecisionInput *input, Decision *ret) {
        static const JudgeLayer layers[] = { judge_configuration, judge_admission };
        Judge judge;

        judge_init(&judge, input);
        if (judge_layers(&judge, layers, G_N_ELEMENTS(layers)))
                judge_report(&judge, ret, VERDICT_ALLOW, OUTCOME_ALLOWED);
        else
                judge_report(&judge, ret, VERDICT_DENY, judge.refused);
        judge_done(&judge);
}

void decision_make(const DecisionInput *input, Decision *ret) {
        static const JudgeLayer layers[] = {
                judge_configuration,
                judge_admission,
                judge_hooks,
                judge_baseline,
                judge_rules,
                judge_auto_review,
                judge_law,
        };
        Judge judge;

        judge_init(&judge, input);
        if (judge_layers(&judge, layers, G_N_ELEMENTS(layers)))
                judge_approval(&judge, ret);
        else
                judge_report(&judge, ret, VERDICT_DENY, judge.refused);
        judge_done(&judge);
}

char *decision_why(const Decision *decision) {
        static const char *const words[] = { "Allowed", "A person must be asked", "Refused" };
        const TraceStep *step = trace_last(decision->trace);

        if (!step)
                return g_strdup_printf("%s.", words[decision->verdict]);
        return g_strdup_printf("%s: %s (%s).", words[decision->verdict], step->why, step->source);
}
