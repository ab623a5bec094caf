/* SPDX-License-Identifier: MIT */
#include "common/jval-compare.h"
#include "schema/decimal.h"
#include "schema/evaluate.h"
#include "schema/format.h"

/* A number, taken apart only when that is needed. */
typedef struct Value {
        const Jnode *node;
        const Jdoc *doc;
        JNumber number;
        bool is_known;
} Value;

static const JNumber *value_number(Value *value) {
        if (!value->is_known) {
                jnumber_parse(value->doc->text + value->node->start, value->node->size, &value->number);
                value->is_known = true;
        }
        return &value->number;
}

static inline int value_compare(Value *value, const Bound *bound) {
        if (bound->is_small && (value->node->tag & JNODE_SMALL)) {
                int32_t number = (int32_t) value->node->word;

                return number < bound->small ? -1 : number > bound->small;
        }
        return jnumber_compare(value_number(value), &bound->number);
}

static bool is_multiple(Evaluator *evaluator, Value *value, const Bound *bound) {
        const JNumber *number;

        if (bound->is_small && (value->node->tag & JNODE_SMALL))
                return (int32_t) value->node->word % bound->small == 0;

        number = value_number(value);
        if (!evaluator_spend(evaluator, bound->number.count > 18 ? 50000 + number->count * 4 : number->count / 8))
                return false;
        return decimal_divides(&bound->number, number);
}

bool evaluate_number(Evaluator *evaluator, const Subschema *sub, const Jnode *node) {
        const NumberRules *rules = sub->number;
        Value value = { .node = node, .doc = evaluator->doc };
        bool ok = true;

        if (!evaluator_spend(evaluator, node->size / 32))
                return false;
        if (rules->minimum.node && value_compare(&value, &rules->minimum) < 0)
                ok = evaluator_object(evaluator, sub, node, PROBLEM_MINIMUM, NULL) && false;
        if (rules->maximum.node && value_compare(&value, &rules->maximum) > 0)
                ok = evaluator_object(evaluator, sub, node, PROBLEM_MAXIMUM, NULL) && false;
        if (rules->above.node && value_compare(&value, &rules->above) <= 0)
                ok = evaluator_object(evaluator, sub, node, PROBLEM_ABOVE, NULL) && false;
        if (rules->below.node && value_compare(&value, &rules->below) >= 0)
                ok = evaluator_object(evaluator, sub, node, PROBLEM_BELOW, NULL) && false;
        if (rules->multiple.node && !is_multiple(evaluator, &value, &rules->multiple))
                ok = evaluator_object(evaluator, sub, node, PROBLEM_MULTIPLE, NULL) && false;
        return ok;
}

static uint64_t count_characters(const char *bytes, size_t size) {
        uint64_t count = 0;

        for (size_t i = 0; i < size; i++)
                count += ((unsigned char) bytes[i] & 0xc0) != 0x80;
        return count;
}

/* Characters are counted only where their number can matter: they are at most as many as bytes and at least a fourth. */
static bool evaluate_length(
                Evaluator *evaluator, const Subschema *sub, const Jnode *node, const char *bytes, size_t size) {
        const StringRules *rules = sub->string;
        uint64_t length;

        if (size <= rules->length_max && size / 4 >= rules->length_min)
                return true;
        if (size <= rules->length_max && rules->length_min <= 1 && size >= rules->length_min)
                return true;

        length = count_characters(bytes, size);
        if (length < rules->length_min)
                return evaluator_object(evaluator, sub, node, PROBLEM_LENGTH_MIN, NULL) && false;
        if (length > rules->length_max)
                return evaluator_object(evaluator, sub, node, PROBLEM_LENGTH_MAX, NULL) && false;
        return true;
}

bool evaluate_string(Evaluator *evaluator, const Subschema *sub, const Jnode *node) {
        const StringRules *rules = sub->string;
        size_t size;
        const char *bytes = jnode_bytes(evaluator->doc, node, &size);
        bool ok;
        int r;

        if (!evaluator_spend(evaluator, size / 32))
                return false;
        ok = evaluate_length(evaluator, sub, node, bytes, size);
        if (!ok && !evaluator->report)
                return false;

        if (rules->pattern) {
                if (!evaluator_spend(evaluator, 4 + size / 4))
                        return false;
                r = pattern_match(rules->pattern, bytes, size);
                if (r < 0)
                        return evaluator_give_up(evaluator);
                if (r == 0)
                        ok = evaluator_object(evaluator, sub, node, PROBLEM_PATTERN, NULL) && false;
        }
        if (rules->format && !format_holds(rules->format, bytes, size))
                ok = evaluator_object(evaluator, sub, node, PROBLEM_FORMAT, NULL) && false;
        return ok;
}

static bool find_choice(const ValueRules *rules, Jval value) {
        uint64_t hash = jval_hash(value);
        size_t low = 0, high = rules->n_choices;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (rules->hashes[middle] < hash)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; low < rules->n_choices && rules->hashes[low] == hash; low++)
                if (jval_equal(rules->choices[rules->order[low]], value))
                        return true;
        return false;
}

static bool string_among(const ValueRules *rules, const Jdoc *doc, const Jnode *node) {
        size_t size, own_size;
        const char *bytes = jnode_bytes(doc, node, &size), *own;

        for (size_t i = 0; i < rules->n_choices; i++) {
                own = jnode_bytes(rules->choices[i].doc, rules->choices[i].node, &own_size);
                if (own_size == size && jbytes_equal(own, bytes, size))
                        return true;
        }
        return false;
}

static bool is_among(const ValueRules *rules, Jval value) {
        if (rules->only_strings && jnode_type(value.node) != J_STRING)
                return false;
        if (rules->hashes)
                return find_choice(rules, value);
        if (rules->only_strings)
                return string_among(rules, value.doc, value.node);
        for (size_t i = 0; i < rules->n_choices; i++)
                if (jval_equal(rules->choices[i], value))
                        return true;
        return false;
}

bool evaluate_values(Evaluator *evaluator, const Subschema *sub, const Jnode *node) {
        const ValueRules *rules = sub->value;
        Jval value = { evaluator->doc, node };
        bool ok = true;

        if (!evaluator_spend(evaluator, node->size / 32 + (rules->hashes ? 4 : rules->n_choices / 4)))
                return false;
        if (rules->constant.node && !jval_equal(rules->constant, value))
                ok = evaluator_object(evaluator, sub, node, PROBLEM_CONST, NULL) && false;
        if (rules->list.node && !is_among(rules, value))
                ok = evaluator_object(evaluator, sub, node, PROBLEM_ENUM, NULL) && false;
        return ok;
}
