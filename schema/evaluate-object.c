/* SPDX-License-Identifier: MIT */
#include "schema/evaluate.h"

static inline const Property *find_property(
                Evaluator *evaluator, const ObjectRules *rules, const Jdoc *doc, const Jnode *key) {
        uint32_t hash = jnode_hash(key), at = hash & rules->table_mask;
        const Property *property;
        const char *bytes;
        size_t size;

        if (!rules->table)
                return NULL;
        for (; rules->table[at] > 0; at = (at + 1) & rules->table_mask) {
                property = &rules->properties[rules->table[at] - 1];
                if (property->hash != hash)
                        continue;
                bytes = jnode_bytes(doc, key, &size);
                if (property->size == size && jbytes_equal(property->name, bytes, size))
                        return property;
                /* Names can be made to share their hash. */
                if (!evaluator_spend(evaluator, 1))
                        return NULL;
        }
        return NULL;
}

/* Shows a member to every "patternProperties" that its name matches. */
static bool evaluate_patterns(Evaluator *evaluator, const ObjectRules *rules, const Jnode *key, bool *ret_matched) {
        size_t size;
        const char *bytes = jnode_bytes(evaluator->doc, key, &size);
        bool ok = true;
        int r;

        for (size_t i = 0; i < rules->n_patterns; i++) {
                if (!evaluator_spend(evaluator, 4 + size / 4))
                        return false;
                r = pattern_match(rules->patterns[i].pattern, bytes, size);
                if (r < 0)
                        return evaluator_give_up(evaluator);
                if (r == 0)
                        continue;
                *ret_matched = true;
                if (!evaluate(evaluator, rules->patterns[i].schema, key + 1, NULL)) {
                        if (!evaluator->report)
                                return false;
                        ok = false;
                }
        }
        return ok;
}

static bool evaluate_additional(
                Evaluator *evaluator, const Subschema *sub, const Jnode *object, const Jnode *key) {
        if (sub->object->additional->never)
                return evaluator_object(evaluator, sub, object, PROBLEM_ADDITIONAL, key) && false;
        return evaluate(evaluator, sub->object->additional, key + 1, NULL);
}

static bool evaluate_name(Evaluator *evaluator, const Subschema *sub, const Jnode *object, const Jnode *key) {
        if (evaluate_quietly(evaluator, sub->object->names, key, NULL))
                return true;
        return evaluator_object(evaluator, sub, object, PROBLEM_NAME, key) && false;
}

/* One member. The number of required ones that were seen goes up when it is one. */
static inline bool evaluate_member(Evaluator *evaluator, const Subschema *sub, const Jnode *object, const Jnode *key,
                size_t *n_required, bool *ret_seen) {
        const ObjectRules *rules = sub->object;
        const Property *property = find_property(evaluator, rules, evaluator->doc, key);
        bool ok = true, seen = false;

        if (property) {
                *n_required += property->required;
                if (property->schema) {
                        seen = true;
                        ok = evaluate(evaluator, property->schema, key + 1, NULL);
                        if (!ok && !evaluator->report)
                                return false;
                }
        }
        if (rules->n_patterns > 0 && !evaluate_patterns(evaluator, rules, key, &seen)) {
                if (!evaluator->report)
                        return false;
                ok = false;
        }
        if (!seen && rules->additional) {
                seen = true;
                if (!evaluate_additional(evaluator, sub, object, key)) {
                        if (!evaluator->report)
                                return false;
                        ok = false;
                }
        }
        if (rules->names && !evaluate_name(evaluator, sub, object, key))
                ok = false;
        *ret_seen = seen;
        return ok;
}

static bool evaluate_members(Evaluator *evaluator, const Subschema *sub, const Jnode *object, Track *track) {
        const Jnode *key = object + 1;
        size_t count = jnode_count(evaluator->doc, object), n_required = 0;
        bool ok = true, seen = false;

        for (size_t i = 0; i < count; i++, key = jnode_next(key + 1)) {
                if (!evaluate_member(evaluator, sub, object, key, &n_required, &seen)) {
                        if (!evaluator->report)
                                return false;
                        ok = false;
                }
                if (track && seen)
                        track_add(track, i);
        }
        if (n_required == sub->object->n_required)
                return ok;
        if (!evaluator->report)
                return false;

        for (size_t i = 0; i < sub->object->n_properties; i++) {
                const Property *property = &sub->object->properties[i];

                if (property->required &&
                                !jdoc_find(evaluator->doc, object, property->name, property->size, property->hash))
                        (void) evaluator_object(evaluator, sub, object, PROBLEM_REQUIRED, property);
        }
        return false;
}

static bool evaluate_dependency(Evaluator *evaluator, const Subschema *sub, const Jnode *object,
                const Dependency *dependency, Track *track) {
        const Property *trigger = dependency->trigger;
        bool ok = true;

        if (!evaluator_spend(evaluator, 1 + MIN(jnode_count(evaluator->doc, object), 32u) / 8 + dependency->n_names))
                return false;
        if (!jdoc_find(evaluator->doc, object, trigger->name, trigger->size, trigger->hash))
                return true;

        for (size_t i = 0; i < dependency->n_names; i++) {
                const Property *name = &dependency->names[i];

                if (jdoc_find(evaluator->doc, object, name->name, name->size, name->hash))
                        continue;
                if (!evaluator_object(evaluator, sub, object, PROBLEM_DEPENDENT, name))
                        return false;
                ok = false;
        }
        if (dependency->schema && !evaluate(evaluator, dependency->schema, object, track))
                ok = false;
        return ok;
}

bool evaluate_object(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        const ObjectRules *rules = sub->object;
        size_t count = jnode_count(evaluator->doc, node);
        bool ok = true;

        if (!evaluator_spend(evaluator, count))
                return false;
        if (count < rules->count_min)
                ok = evaluator_object(evaluator, sub, node, PROBLEM_PROPERTIES_MIN, NULL) && false;
        if (count > rules->count_max)
                ok = evaluator_object(evaluator, sub, node, PROBLEM_PROPERTIES_MAX, NULL) && false;
        if (!ok && !evaluator->report)
                return false;

        if (!evaluate_members(evaluator, sub, node, track)) {
                if (!evaluator->report)
                        return false;
                ok = false;
        }
        for (size_t i = 0; i < rules->n_dependencies; i++)
                if (!evaluate_dependency(evaluator, sub, node, &rules->dependencies[i], track)) {
                        if (!evaluator->report)
                                return false;
                        ok = false;
                }
        return ok;
}
