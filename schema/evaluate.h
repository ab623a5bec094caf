/* SPDX-License-Identifier: MIT */
#pragma once

/* Shows a value to a compiled schema. The same code gives the verdict (and stops at the first reason against) and, when a
 * report is wanted, collects all reasons. */

#include "schema/model.h"
#include "schema/report.h"
#include "schema/track.h"

/* The resources that led to where we are, innermost first. */
typedef struct Scope {
        const Resource *resource;
        const struct Scope *outer;
} Scope;

typedef struct Evaluator {
        const Schema *schema;
        const Jdoc *doc;
        uint64_t steps; /* that are left */
        unsigned nesting;
        bool careful; /* dynamic scope or annotations are kept */
        bool undecided; /* the budget ended or an expression gave up; what is returned then means nothing */
        const Scope *scope;
        Report *report;   /* NULL: only the verdict is wanted */
        GArray *applied;  /* Applied: NULL unless annotations are wanted */
} Evaluator;

/* A subschema that held for a value. */
typedef struct Applied {
        const Subschema *sub;
        const Jnode *node;
} Applied;

/**
 * evaluate() - whether a value is as a subschema wants it
 * @track: NULL, or where to note which parts of it have been looked at
 */
bool evaluate(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track);

/** evaluate_quietly() - the same, without reasons: for what may fail */
bool evaluate_quietly(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track);

/* The groups of rules */
bool evaluate_number(Evaluator *evaluator, const Subschema *sub, const Jnode *node);
bool evaluate_string(Evaluator *evaluator, const Subschema *sub, const Jnode *node);
bool evaluate_values(Evaluator *evaluator, const Subschema *sub, const Jnode *node);
bool evaluate_array(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track);
bool evaluate_object(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track);
bool evaluate_apply(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track);
bool evaluate_unevaluated(Evaluator *evaluator, const Subschema *sub, const Jnode *node, const Track *track);

/** evaluate_is_integer() - whether a number is whole */
bool evaluate_is_integer(const Jdoc *doc, const Jnode *node);

/** evaluator_give_up() - ends the validation without a verdict; false */
bool evaluator_give_up(Evaluator *evaluator);

static inline bool evaluator_spend(Evaluator *evaluator, uint64_t steps) {
        if (G_UNLIKELY(evaluator->steps < steps))
                return evaluator_give_up(evaluator);
        evaluator->steps -= steps;
        return true;
}

/* Notes a reason against the value. Returns whether to look for more of them. */
static inline bool evaluator_object(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Problem problem,
                const void *detail) {
        if (G_LIKELY(!evaluator->report))
                return false;
        report_add(evaluator->report, (Reason) { sub, node, problem, detail });
        return true;
}

/* A branch must be walked to its end when more than its verdict is wanted. */
static inline bool evaluator_is_thorough(const Evaluator *evaluator, const Track *track) {
        return track || evaluator->applied;
}
