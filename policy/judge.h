/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of one decision while it is made: what decision.c carries through the layers of judge-layers.c.
 */

#include "policy/auto-review.h"
#include "policy/command.h"
#include "policy/core-call.h"
#include "policy/decision.h"
#include "policy/repository-law.h"
#include "policy/rules.h"
#include "policy/tool-name.h"

/* One input as the layers look at it: the final one, and the one before a hook revised it. */
typedef struct JudgedInput {
        Jval arguments;
        char *policy_name;
        ToolCategory category;
        Command *command; /* NULL when it is no shell call */
} JudgedInput;

typedef struct Judge {
        const DecisionInput *input;
        Trace *trace;
        JudgedInput inputs[2]; /* [0] is what would run */
        size_t n_inputs;
        bool nested;
        CoreCallClass class; /* of a nested call */
        Posture posture;
        Requirement requirement;
        bool forced;         /* no grant and no posture may answer */
        bool held;           /* forced by a rule, the floor or a law: what Full Access refuses and does not ask about */
        bool hook_ask;       /* no allow rule may take it back */
        /* A limit made it Ask. What the posture before that would have refused stays refused: a limit opens no cards. */
        bool was_auto_review, was_full_access;
        CallOutcome refused; /* _OUTCOME_INVALID while nothing refused */
} Judge;

/** judge_refuse() - leave a deny in the trace and end the decision with this outcome; returns false for
 * brevity */
bool judge_refuse(Judge *judge, DecisionLayer layer, CallOutcome outcome, const char *source,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/** judge_refuse_at() - the same, and where what refused is written; NULL for nowhere */
bool judge_refuse_at(Judge *judge, DecisionLayer layer, CallOutcome outcome, const char *source, const char *at,
                const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The layers in their order. Each returns whether the decision goes on. */
bool judge_configuration(Judge *judge);
bool judge_admission(Judge *judge);
bool judge_hooks(Judge *judge);
bool judge_baseline(Judge *judge);
bool judge_rules(Judge *judge);
bool judge_auto_review(Judge *judge);
bool judge_law(Judge *judge);
