/* SPDX-License-Identifier: MIT */
#pragma once

/* What rules, the auto-review and a law make of one call, for tests of each of them. */

#include <glib.h>
#include <string.h>

#include "policy/auto-review.h"
#include "policy/decision.h"
#include "policy/repository-law.h"
#include "policy/rules.h"
#include "test-json.h"

/* Reads {"rule":[...],"commands":{...}}; what is wrong goes into @document. */
static inline int load_rules(RuleSet *rules, RuleSource source, const char *json, PolicyDocument *document) {
        g_autoptr(Jdoc) doc = parse_json(json);
        Jval root = jdoc_root(doc);

        return rule_set_load(rules, source, jval_member(root, "rule"), jval_member(root, "commands"), document);
}

static inline void load_more(RuleSet *rules, RuleSource source, const char *json) {
        g_auto(PolicyDocument) document = {};
        int r = load_rules(rules, source, json, &document);
        g_autofree char *words = policy_document_words(&document);

        if (r < 0)
                g_error("%s: %s", json, words);
}

static inline RuleSet *load(RuleSource source, const char *json) {
        RuleSet *rules = rule_set_new();

        load_more(rules, source, json);
        return rules;
}

/* What a client's call of a core tool comes to. */
typedef struct Probe {
        const char *tool;
        const char *arguments;
        const char *original; /* NULL: nobody revised */
        Posture posture;
        Requirement requirement;
        const RuleSet *rules;
        const RepositoryLaw *law;
        const AutoReview *review;
        const char *caller;
        bool extension;
        const char *build;
        bool never_bypassable;
        const HookFold *hooks;
        bool background;
        bool headless;
} Probe;

static inline Verdict probe(const Probe *probe, char **ret_source) {
        g_autoptr(Jdoc) arguments = parse_json(probe->arguments ? probe->arguments : "{}");
        g_autoptr(Jdoc) original = probe->original ? parse_json(probe->original) : NULL;
        g_auto(Decision) decision = {};
        const DecisionInput input = {
                .session = "s",
                .workspace = "/w",
                .kind = probe->extension ? TOOL_EXTENSION : TOOL_CORE,
                .tool = probe->tool,
                .plugin = probe->extension ? "counter" : NULL,
                .build = probe->extension ? (probe->build ? probe->build : "aaaa") : NULL,
                .caller_plugin = probe->caller,
                .posture = probe->posture,
                .requirement = probe->requirement,
                .never_bypassable = probe->never_bypassable,
                .arguments = jdoc_root(arguments),
                .original = original ? jdoc_root(original) : (Jval){},
                .rules = probe->rules,
                .law = probe->law,
                .review = probe->review,
                .hooks = probe->hooks,
                .background = probe->background,
                .headless = probe->headless,
        };

        decision_make(&input, &decision);
        if (ret_source)
                *ret_source = trace_last(decision.trace) ? g_strdup(trace_last(decision.trace)->source)
                                                         : NULL;
        return decision.verdict;
}
