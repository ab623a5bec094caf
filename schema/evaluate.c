/* SPDX-License-Identifier: MIT */
#include "common/limits.h"
#include "schema/evaluate.h"

bool evaluator_give_up(Evaluator *evaluator) {
        evaluator->undecided = true;
        evaluator->steps = 0;
        return false;
}

bool evaluate_is_integer(const Jdoc *doc, const Jnode *node) {
        JNumber number;

        if (!(node->tag & JNODE_REAL))
                return true;
        jnumber_parse(doc->text + node->start, node->size, &number);
        return jnumber_is_integer(&number);
}

static inline bool has_type(const Jdoc *doc, const Subschema *sub, const Jnode *node) {
        JType type = jnode_type(node);

        if (G_LIKELY(sub->types & TYPE_BIT(type)))
                return true;
        return type == J_NUMBER && (sub->types & TYPE_INTEGER) && evaluate_is_integer(doc, node);
}

/* Rules that depend on the type of the value. */
static inline bool evaluate_rules(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        switch (jnode_type(node)) {
        case J_NUMBER:
                return !sub->number || evaluate_number(evaluator, sub, node);
        case J_STRING:
                return !sub->string || evaluate_string(evaluator, sub, node);
        case J_ARRAY:
                return !sub->array || evaluate_array(evaluator, sub, node, track);
        case J_OBJECT:
                return !sub->object || evaluate_object(evaluator, sub, node, track);
        default:
                return true;
        }
}

static bool evaluate_all(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        bool ok = true;

        if (!has_type(evaluator->doc, sub, node)) {
                (void) evaluator_object(evaluator, sub, node, PROBLEM_TYPE, NULL);
                /* What else is wrong says nothing when already the type is. */
                return false;
        }
        if (sub->value && !evaluate_values(evaluator, sub, node)) {
                if (!evaluator->report)
                        return false;
                ok = false;
        }
        if (!evaluate_rules(evaluator, sub, node, track)) {
                if (!evaluator->report)
                        return false;
                ok = false;
        }
        if (sub->apply && !evaluate_apply(evaluator, sub, node, track))
                return false;
        return ok;
}

static bool wants_track(const Subschema *sub, const Jnode *node) {
        if (!sub->apply)
                return false;
        return (jnode_type(node) == J_ARRAY && sub->apply->unevaluated_items) ||
                        (jnode_type(node) == J_OBJECT && sub->apply->unevaluated_properties);
}

/* A subschema with "unevaluated…" keeps account of its own; whoever is above it then sees that all was looked at. */
static bool evaluate_tracked(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        size_t count = jnode_count(evaluator->doc, node);
        Track own;
        bool ok;

        if (!evaluator_spend(evaluator, count / 64))
                return false;
        track_init(&own, count);
        ok = evaluate_all(evaluator, sub, node, &own);
        if (ok || evaluator->report)
                ok = evaluate_unevaluated(evaluator, sub, node, &own) && ok;
        if (ok && track)
                track->all = true;
        track_done(&own);
        return ok;
}

static inline bool evaluate_inside(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        return G_UNLIKELY(wants_track(sub, node)) ? evaluate_tracked(evaluator, sub, node, track)
                                                  : evaluate_all(evaluator, sub, node, track);
}

/* Entering a resource matters only where references look for anchors in the resources that led there. */
static bool evaluate_scoped(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        const Scope *outer = evaluator->scope;
        Scope scope = { sub->resource, outer };
        bool ok;

        if (outer && outer->resource == sub->resource)
                return evaluate_inside(evaluator, sub, node, track);
        evaluator->scope = &scope;
        ok = evaluate_inside(evaluator, sub, node, track);
        evaluator->scope = outer;
        return ok;
}

static void note_applied(Evaluator *evaluator, const Subschema *sub, const Jnode *node) {
        Applied applied = { sub, node };

        g_array_append_val(evaluator->applied, applied);
}

/* Annotations of whatever failed are forgotten. */
static bool evaluate_noted(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        guint before = evaluator->applied->len;
        bool ok;

        note_applied(evaluator, sub, node);
        ok = sub->trivial || evaluate_scoped(evaluator, sub, node, track);
        if (!ok)
                g_array_set_size(evaluator->applied, before);
        return ok;
}

/* The way of everything that is not plain. */
static bool evaluate_nested(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        bool ok;

        if (++evaluator->nesting > SCHEMA_NESTING_MAX)
                return evaluator_give_up(evaluator);
        if (G_UNLIKELY(evaluator->applied))
                ok = evaluate_noted(evaluator, sub, node, track);
        else if (evaluator->schema->dynamic)
                ok = evaluate_scoped(evaluator, sub, node, track);
        else
                ok = evaluate_inside(evaluator, sub, node, track);
        evaluator->nesting--;
        return ok;
}

bool evaluate(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        if (sub->trivial && !evaluator->applied)
                return true;
        if (!evaluator_spend(evaluator, 1))
                return false;
        if (G_LIKELY(sub->plain && !evaluator->careful)) {
                if (G_LIKELY(has_type(evaluator->doc, sub, node)))
                        return evaluate_rules(evaluator, sub, node, track);
                return evaluator_object(evaluator, sub, node, PROBLEM_TYPE, NULL) && false;
        }
        if (sub->never)
                return evaluator_object(evaluator, sub, node, PROBLEM_FALSE, NULL) && false;
        return evaluate_nested(evaluator, sub, node, track);
}

bool evaluate_quietly(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        Report *report = evaluator->report;
        bool ok;

        evaluator->report = NULL;
        ok = evaluate(evaluator, sub, node, track);
        evaluator->report = report;
        return ok;
}
