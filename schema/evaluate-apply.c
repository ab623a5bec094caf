/* SPDX-License-Identifier: MIT */

/* Keywords that show the same value to other subschemas. */

#include "schema/evaluate.h"

/* Follows "$dynamicRef": the outermost resource on the way here that has the anchor wins. */
static const Subschema *dynamic_target(Evaluator *evaluator, const DynamicRef *dynamic) {
        const Subschema *target = dynamic->target;

        if (!dynamic->name)
                return target;
        for (const Scope *scope = evaluator->scope; scope; scope = scope->outer)
                for (size_t i = 0; i < scope->resource->dynamic->len; i++) {
                        const DynamicAnchor *anchor = &g_array_index(scope->resource->dynamic, DynamicAnchor, i);

                        if (!evaluator_spend(evaluator, 1))
                                return NULL;
                        if (anchor->name == dynamic->name)
                                target = anchor->target;
                }
        return target;
}

static bool evaluate_references(Evaluator *evaluator, const Applicators *apply, const Jnode *node, Track *track) {
        const Subschema *target;
        bool ok = true;

        if (apply->reference && !evaluate(evaluator, apply->reference, node, track)) {
                if (!evaluator->report)
                        return false;
                ok = false;
        }
        if (apply->dynamic.target) {
                target = dynamic_target(evaluator, &apply->dynamic);
                if (!target || !evaluate(evaluator, target, node, track))
                        ok = false;
        }
        return ok;
}

/* One alternative: what it looked at counts only when it holds. */
static bool evaluate_branch(Evaluator *evaluator, const Subschema *branch, const Jnode *node, Track *track) {
        Track own;
        bool ok;

        if (!track)
                return evaluate(evaluator, branch, node, NULL);
        if (!evaluator_spend(evaluator, track->n_words / 4))
                return false;
        track_init(&own, track->n_words * 64);
        ok = evaluate(evaluator, branch, node, &own);
        if (ok)
                track_merge(track, &own);
        track_done(&own);
        return ok;
}

/* How many alternatives hold. Stops at @enough unless more than the verdict is wanted. With a report, @nearest gets the
 * reasons of the alternative that came closest. */
static size_t count_branches(Evaluator *evaluator, SubschemaList list, const Jnode *node, Track *track, size_t enough,
                Report *nearest) {
        Report *report = evaluator->report;
        size_t held = 0;

        for (size_t i = 0; i < list.count && !evaluator->undecided; i++) {
                Report own;

                if (report) {
                        report_init(&own);
                        evaluator->report = &own;
                }
                held += evaluate_branch(evaluator, list.items[i], node, track);
                evaluator->report = report;
                if (report) {
                        if (i == 0 || report_is_nearer(&own, nearest, node)) {
                                Report further = *nearest;

                                *nearest = own;
                                own = further;
                        }
                        report_done(&own);
                }
                if (held == enough && !evaluator_is_thorough(evaluator, track))
                        break;
        }
        return held;
}

static bool evaluate_any(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        Report nearest = {};
        size_t held = count_branches(evaluator, sub->apply->any, node, track, 1, &nearest);

        if (held == 0 && evaluator_object(evaluator, sub, node, PROBLEM_ANY, NULL))
                report_append(evaluator->report, &nearest);
        report_done(&nearest);
        return held > 0;
}

static bool evaluate_one(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        Report nearest = {};
        size_t held = count_branches(evaluator, sub->apply->one, node, track, 2, &nearest);

        if (held == 0 && evaluator_object(evaluator, sub, node, PROBLEM_ONE_NONE, NULL))
                report_append(evaluator->report, &nearest);
        if (held > 1)
                (void) evaluator_object(evaluator, sub, node, PROBLEM_ONE_MANY, NULL);
        report_done(&nearest);
        return held == 1;
}

static bool evaluate_every(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        bool ok = true;

        for (size_t i = 0; i < sub->apply->all.count; i++)
                if (!evaluate(evaluator, sub->apply->all.items[i], node, track)) {
                        if (!evaluator->report)
                                return false;
                        ok = false;
                }
        return ok;
}

static bool evaluate_inverse(Evaluator *evaluator, const Subschema *sub, const Jnode *node) {
        guint before = evaluator->applied ? evaluator->applied->len : 0;
        bool held = evaluate_quietly(evaluator, sub->apply->inverse, node, NULL);

        if (evaluator->applied)
                g_array_set_size(evaluator->applied, before);
        if (held)
                (void) evaluator_object(evaluator, sub, node, PROBLEM_NOT, NULL);
        return !held && !evaluator->undecided;
}

static bool evaluate_condition(Evaluator *evaluator, const Applicators *apply, const Jnode *node, Track *track) {
        Report *report = evaluator->report;
        const Subschema *next;
        bool held;

        evaluator->report = NULL;
        held = evaluate_branch(evaluator, apply->condition, node, track);
        evaluator->report = report;
        if (evaluator->undecided)
                return false;
        next = held ? apply->consequence : apply->alternative;
        return !next || evaluate(evaluator, next, node, track);
}

bool evaluate_apply(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        const Applicators *apply = sub->apply;
        bool all = evaluator->report;
        bool ok = evaluate_references(evaluator, apply, node, track);

        if (!ok && !all)
                return false;
        if (apply->all.count > 0 && !evaluate_every(evaluator, sub, node, track)) {
                if (!all)
                        return false;
                ok = false;
        }
        if (apply->any.count > 0 && !evaluate_any(evaluator, sub, node, track)) {
                if (!all)
                        return false;
                ok = false;
        }
        if (apply->one.count > 0 && !evaluate_one(evaluator, sub, node, track)) {
                if (!all)
                        return false;
                ok = false;
        }
        if (apply->inverse && !evaluate_inverse(evaluator, sub, node)) {
                if (!all)
                        return false;
                ok = false;
        }
        if (apply->condition && !evaluate_condition(evaluator, apply, node, track))
                ok = false;
        return ok;
}

/* What nothing beside it has looked at must be as "unevaluated…" says. */
bool evaluate_unevaluated(Evaluator *evaluator, const Subschema *sub, const Jnode *node, const Track *track) {
        bool object = jnode_type(node) == J_OBJECT, ok = true;
        const Subschema *rest = object ? sub->apply->unevaluated_properties : sub->apply->unevaluated_items;
        Problem problem = object ? PROBLEM_UNEVALUATED_PROPERTY : PROBLEM_UNEVALUATED_ITEM;
        size_t count = jnode_count(evaluator->doc, node);
        const Jnode *at = node + 1;

        if (track->all)
                return true;
        for (size_t i = 0; i < count; i++, at = jnode_next(object ? at + 1 : at)) {
                if (track_has(track, i))
                        continue;
                if (rest->never) {
                        if (!evaluator_object(evaluator, sub, node, problem, at))
                                return false;
                        ok = false;
                } else if (!evaluate(evaluator, rest, object ? at + 1 : at, NULL)) {
                        if (!evaluator->report)
                                return false;
                        ok = false;
                }
        }
        return ok;
}
