/* SPDX-License-Identifier: MIT */
#include <stdarg.h>

#include "policy/admission.h"
#include "policy/judge.h"

bool judge_refuse(Judge *judge, DecisionLayer layer, CallOutcome outcome, const char *source,
                const char *format, ...) {
        g_autofree char *why = NULL;
        va_list arguments;

        va_start(arguments, format);
        why = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        trace_add(judge->trace, layer, VERDICT_DENY, source, "%s", why);
        judge->refused = outcome;
        return false;
}

bool judge_refuse_at(Judge *judge, DecisionLayer layer, CallOutcome outcome, const char *source, const char *at,
                const char *format, ...) {
        g_autofree char *why = NULL;
        va_list arguments;

        va_start(arguments, format);
        why = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        (void) judge_refuse(judge, layer, outcome, source, "%s", why);
        trace_at(judge->trace, at);
        return false;
}

/* A question that no grant and no posture answers. */
static void judge_force(Judge *judge) {
        judge->requirement = REQUIREMENT_REQUIRED;
        judge->forced = true;
        judge->held = true;
}

static void tighten(Judge *judge, const PostureLimit *limit, const char *source, const char *who) {
        Posture tight = limit->set ? posture_tighten(judge->posture, limit->posture) : judge->posture;

        if (tight == judge->posture)
                return;
        trace_add(judge->trace, LAYER_CONFIGURATION, VERDICT_NOTE, source, "%s tightens %s to %s", who,
                        posture_to_string(judge->posture), posture_to_string(tight));
        trace_at(judge->trace, limit->at);
        judge->was_auto_review |= judge->posture == POSTURE_AUTO_REVIEW;
        judge->was_full_access |= judge->posture == POSTURE_FULL_ACCESS;
        judge->posture = tight;
}

bool judge_configuration(Judge *judge) {
        const DecisionInput *input = judge->input;
        Posture plain;

        if (input->unreadable_rules)
                return judge_refuse(judge, LAYER_CONFIGURATION, OUTCOME_REFUSED_BY_POLICY, "permissions", "%s",
                                input->unreadable_rules);
        if (input->unreadable_settings)
                return judge_refuse(judge, LAYER_CONFIGURATION, OUTCOME_REFUSED_BY_POLICY, "configuration",
                                "nothing runs while the configuration can't be read: %s", input->unreadable_settings);

        plain = posture_effective(input->posture, input->full_access, true);

        judge->posture = posture_effective(input->posture, input->full_access, !input->no_standing);
        if (judge->posture != plain)
                trace_add(judge->trace, LAYER_CONFIGURATION, VERDICT_NOTE, "provenance",
                                "the input can't inherit standing authority: %s counts as %s for this call",
                                posture_to_string(plain), posture_to_string(judge->posture));

        tighten(judge, &input->admin_posture, "administrator", "the administrator");
        tighten(judge, &input->project_posture, "project", "the project");
        return true;
}

static bool plan_blocks(const Judge *judge, const JudgedInput *judged) {
        if (judge->input->kind == TOOL_EXTENSION)
                return true;
        if (judge->input->capabilities & (TOOL_WRITES | TOOL_PROCESS | TOOL_EXECUTES))
                return true;

        switch (judged->category) {
        case CATEGORY_SAFE:
        case CATEGORY_NETWORK:
        case CATEGORY_MCP_READ:
                return false;
        default:
                /* What is unknown may write. */
                return true;
        }
}

static bool judge_admission_of(Judge *judge, const JudgedInput *judged) {
        const DecisionInput *input = judge->input;
        const char *why, *at;

        if (judge->nested && core_call_refused(input->tool, judged->arguments, input->kind == TOOL_EXTENSION,
                                             &why))
                return judge_refuse(judge, LAYER_ADMISSION, OUTCOME_REFUSED_BY_POLICY, "refused-list", "%s",
                                why);
        if (input->admission && !admission_check(input->admission, input->tool, judged->policy_name, &why, &at))
                return judge_refuse_at(
                                judge, LAYER_ADMISSION, OUTCOME_REFUSED_BY_POLICY, "admission", at, "%s", why);
        if (input->project_admission &&
                        !admission_check(input->project_admission, input->tool, judged->policy_name, &why, &at))
                return judge_refuse_at(
                                judge, LAYER_ADMISSION, OUTCOME_REFUSED_BY_POLICY, "project", at, "%s", why);
        if (input->mode == MODE_PLAN && plan_blocks(judge, judged))
                return judge_refuse(judge, LAYER_ADMISSION, OUTCOME_REFUSED_BY_POLICY, "mode:plan",
                                "plan mode blocks %s",
                                input->kind == TOOL_EXTENSION ? "extension tools"
                                                              : "writes, commands and unknown tools");
        return true;
}

bool judge_admission(Judge *judge) {
        for (size_t i = 0; i < judge->n_inputs; i++)
                if (!judge_admission_of(judge, &judge->inputs[i]))
                        return false;

        return true;
}

bool judge_hooks(Judge *judge) {
        const HookFold *hooks = judge->input->hooks;
        g_autofree char *source = NULL;

        if (!hooks)
                return true;
        if (hook_fold_revision(hooks, NULL)) {
                g_autofree char *revisor = g_strdup_printf("hook:%s", hook_fold_revisor(hooks));

                trace_add(judge->trace, LAYER_HOOKS, VERDICT_NOTE, revisor, "it revised the input");
        }

        source = g_strdup_printf("hook:%s", hook_fold_label(hooks) ? hook_fold_label(hooks) : "");
        switch (hook_fold_verdict(hooks)) {
        case HOOK_NO_VERDICT:
                return judge_refuse(judge, LAYER_HOOKS, OUTCOME_HOOK_FAILED, source, "%s",
                                hook_fold_receipt(hooks));
        case HOOK_DENY:
                return judge_refuse(judge, LAYER_HOOKS, OUTCOME_HOOK_DENIED, source, "%s",
                                hook_fold_receipt(hooks));
        case HOOK_ASK:
                judge->hook_ask = true;
                trace_add(judge->trace, LAYER_HOOKS, VERDICT_ASK, source, "%s", hook_fold_receipt(hooks));
                break;
        default:
                break;
        }
        return true;
}

static void baseline_nested(Judge *judge) {
        CoreCallClass class = CORE_CALL_AUTO_ELIGIBLE;

        /* The harder of the two inputs counts. */
        for (size_t i = 0; i < judge->n_inputs; i++)
                class = MAX(class, core_call_classify(judge->input->tool, judge->inputs[i].arguments,
                                                   judge->input->capabilities));
        if (class == CORE_CALL_AUTO_ELIGIBLE &&
                        (judge->input->requirement != REQUIREMENT_AUTO || judge->input->never_bypassable))
                class = CORE_CALL_ORDINARY;

        judge->class = class;
        judge->requirement = class == CORE_CALL_AUTO_ELIGIBLE ? REQUIREMENT_AUTO : REQUIREMENT_REQUIRED;
        judge->forced = class == CORE_CALL_FORCED;
        trace_add(judge->trace, LAYER_BASELINE,
                        class == CORE_CALL_AUTO_ELIGIBLE ? VERDICT_ALLOW : VERDICT_ASK, "core-call",
                        class == CORE_CALL_FORCED
                                        ? "an extension's shell or network call needs a person every time"
                        : class == CORE_CALL_ORDINARY
                                        ? "an extension's call of this core tool needs approval"
                                        : "reading in the workspace needs no approval");
}

bool judge_baseline(Judge *judge) {
        if (judge->input->kind == TOOL_EXTENSION) {
                judge->requirement = REQUIREMENT_REQUIRED;
                trace_add(judge->trace, LAYER_BASELINE, VERDICT_ASK, "extension-tool",
                                "a plugin's tool always needs approval%s",
                                judge->input->claims_read_only ? ", whatever it claims about itself" : "");
        } else if (judge->nested)
                baseline_nested(judge);
        else {
                judge->requirement = judge->input->requirement;
                trace_add(judge->trace, LAYER_BASELINE,
                                judge->requirement == REQUIREMENT_AUTO ? VERDICT_ALLOW : VERDICT_ASK,
                                "core-tool", "the tool's own requirement is %s",
                                requirement_to_string(judge->requirement));
        }

        /* A hook's question is put on top. In Ask it forces a card; elsewhere the posture decides about it.
         */
        if (judge->hook_ask) {
                judge->requirement = REQUIREMENT_REQUIRED;
                judge->forced |= judge->posture == POSTURE_ASK;
        }
        return true;
}

/* ---- rules ---- */

static char *rule_name(const Rule *rule) {
        return g_strdup_printf("rule:%s:%s", rule_source_to_string(rule->source), rule->id);
}

static const char *rule_why(const Rule *rule, const char *otherwise) {
        return rule->why ? rule->why : otherwise;
}

/* Whether a rule may take the question away. It must be about exactly what it lets through: for a plugin's
 * tool the plugin and its build, for a nested call the plugin that makes it. */
static bool rule_may_allow(const Judge *judge, const Rule *rule) {
        if (judge->forced || judge->hook_ask || judge->input->never_bypassable)
                return false;
        if (judge->input->kind == TOOL_EXTENSION)
                return rule->plugin && rule->build && rule->source >= RULE_USER;
        return !judge->nested || (rule->caller && rule->source >= RULE_USER);
}

static bool apply_rule(Judge *judge, const Rule *rule, bool is_original) {
        g_autofree char *source = rule_name(rule);
        const char *about = is_original ? " (about the input before a hook revised it)" : "";

        switch (rule->outcome) {
        case RULE_DENY:
                return judge_refuse_at(judge, LAYER_RULES, OUTCOME_REFUSED_BY_POLICY, source, rule->at, "%s%s",
                                rule_why(rule, "a rule denies it"), about);
        case RULE_ASK:
                judge_force(judge);
                trace_add(judge->trace, LAYER_RULES, VERDICT_ASK, source, "%s%s",
                                rule_why(rule, "a rule asks every time"), about);
                trace_at(judge->trace, rule->at);
                return true;
        default:
                if (is_original)
                        return true;
                if (rule_may_allow(judge, rule)) {
                        judge->requirement = REQUIREMENT_AUTO;
                        trace_add(judge->trace, LAYER_RULES, VERDICT_ALLOW, source, "%s",
                                        rule_why(rule, "a rule allows it"));
                } else
                        trace_add(judge->trace, LAYER_RULES, VERDICT_NOTE, source,
                                        "the rule allows it, but can't take this question away");
                trace_at(judge->trace, rule->at);
                return true;
        }
}

static bool judge_rules_of(Judge *judge, size_t index) {
        const JudgedInput *judged = &judge->inputs[index];
        const DecisionInput *input = judge->input;
        const RuleSubject subject = {
                .name = input->tool,
                .policy_name = judged->policy_name,
                .plugin = input->plugin,
                .build = input->build,
                .caller = input->caller_plugin,
                .arguments = judged->arguments,
                .workspace = input->workspace,
                .is_shell = judged->command,
                .is_core = input->kind == TOOL_CORE,
        };
        RuleMatch match;

        rule_set_match(input->rules, &subject, &match);
        if (match.denied_command) {
                g_autofree char *source = g_strdup_printf(
                                "rule:%s:commands.deny", rule_source_to_string(match.denied_by));

                return judge_refuse_at(judge, LAYER_RULES, OUTCOME_REFUSED_BY_POLICY, source, match.denied_at,
                                "the command, or a part of it, begins with \"%s\"", match.denied_command);
        }
        if (match.rule && !apply_rule(judge, match.rule, index > 0))
                return false;
        if (match.unclear_command) {
                judge_force(judge);
                trace_add(judge->trace, LAYER_RULES, VERDICT_ASK, "rule:commands",
                                "the command can't be taken apart, so no rule about commands can be ruled "
                                "out");
        }
        if (!match.rule && match.trusted_command && index == 0 && !judge->nested && !judge->forced &&
                        !judge->hook_ask && !input->never_bypassable) {
                judge->requirement = REQUIREMENT_AUTO;
                trace_add(judge->trace, LAYER_RULES, VERDICT_ALLOW, "rule:commands.trust",
                                "the command begins with \"%s\"", match.trusted_command);
                trace_at(judge->trace, match.trusted_at);
        }
        return true;
}

bool judge_rules(Judge *judge) {
        if (!judge->input->rules)
                return true;

        for (size_t i = 0; i < judge->n_inputs; i++)
                if (!judge_rules_of(judge, i))
                        return false;
        return true;
}

/* ---- auto-review ---- */

static void review_safe(Judge *judge, const char *why, const char *at) {
        /* It may spare a suggestion in Auto-Review. Never a requirement, a hold, or anything an extension
         * asks for. */
        if (judge->posture != POSTURE_AUTO_REVIEW || judge->requirement != REQUIREMENT_SUGGEST ||
                        judge->forced || judge->hook_ask || judge->nested || judge->input->never_bypassable)
                return;

        judge->requirement = REQUIREMENT_AUTO;
        trace_add(judge->trace, LAYER_AUTO_REVIEW, VERDICT_ALLOW, "auto-review", "%s", why);
        trace_at(judge->trace, at);
}

static bool judge_auto_review_of(Judge *judge, size_t index) {
        const JudgedInput *judged = &judge->inputs[index];
        const ReviewSubject subject = {
                .policy_name = judged->policy_name,
                .category = judge->input->kind == TOOL_CORE ? judged->category : CATEGORY_UNKNOWN,
                .command = judged->command,
        };
        const char *why, *at;

        switch (auto_review_find(judge->input->review, &subject, &why, &at)) {
        case REVIEW_BLOCKED:
                return judge_refuse_at(judge, LAYER_AUTO_REVIEW, OUTCOME_REFUSED_BY_POLICY, "auto-review", at,
                                "the configuration blocks \"%s\"", why);
        case REVIEW_DESTRUCTIVE:
                if (judge->input->background || judge->input->headless)
                        return judge_refuse(judge, LAYER_AUTO_REVIEW, OUTCOME_REFUSED_BY_POLICY,
                                        "auto-review", "%s, and nobody is there to watch", why);
                judge_force(judge);
                trace_add(judge->trace, LAYER_AUTO_REVIEW, VERDICT_ASK, "auto-review", "%s", why);
                return true;
        case REVIEW_PUBLISH:
                if (judge->posture == POSTURE_FULL_ACCESS) {
                        trace_add(judge->trace, LAYER_AUTO_REVIEW, VERDICT_NOTE, "auto-review",
                                        "%s; Full Access skips this question", why);
                        return true;
                }
                judge->requirement = REQUIREMENT_REQUIRED;
                trace_add(judge->trace, LAYER_AUTO_REVIEW, VERDICT_ASK, "auto-review", "%s", why);
                return true;
        case REVIEW_SAFE:
                if (index == 0)
                        review_safe(judge, why, at);
                return true;
        default:
                return true;
        }
}

bool judge_auto_review(Judge *judge) {
        /* Backwards, so that what the input before a revision raised is known when the final one might be
         * spared. */
        for (size_t i = judge->n_inputs; i > 0; i--)
                if (!judge_auto_review_of(judge, i - 1))
                        return false;

        return true;
}

/* ---- repository law ---- */

static bool judge_law_of(Judge *judge, const JudgedInput *judged) {
        bool core = judge->input->kind == TOOL_CORE;
        const LawSubject subject = {
                .policy_name = judged->policy_name,
                .workspace = judge->input->workspace,
                .arguments = judged->arguments,
                .command = judged->command,
                .reads_only = core && (judged->category == CATEGORY_SAFE ||
                                              judged->category == CATEGORY_MCP_READ ||
                                              (judged->command && auto_review_command_is_read_only(judged->command))),
                .extension = !core,
        };
        LawFinding finding = repository_law_find(judge->input->law, &subject);
        g_autofree char *source = NULL;

        if (finding.verdict == VERDICT_ALLOW)
                return true;

        source = g_strdup_printf("law:%s", finding.entry);
        if (finding.verdict == VERDICT_DENY || judge->posture == POSTURE_FULL_ACCESS || judge->was_full_access)
                return judge_refuse_at(judge, LAYER_REPOSITORY_LAW, OUTCOME_REFUSED_BY_POLICY, source, finding.at, "%s%s",
                                finding.why ? finding.why : "the project protects it",
                                finding.verdict == VERDICT_DENY
                                                ? ""
                                                : "; Full Access asks nobody, so it is blocked");

        judge_force(judge);
        trace_add(judge->trace, LAYER_REPOSITORY_LAW, VERDICT_ASK, source, "%s",
                        finding.why ? finding.why : "the project asks for a person");
        trace_at(judge->trace, finding.at);
        return true;
}

bool judge_law(Judge *judge) {
        if (!judge->input->law)
                return true;

        for (size_t i = 0; i < judge->n_inputs; i++)
                if (!judge_law_of(judge, &judge->inputs[i]))
                        return false;
        return true;
}
