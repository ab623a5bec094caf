/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "common/jval-compare.h"
#include "schema/evaluate.h"

/* Up to here all pairs are compared; longer arrays are sorted by hash first. */
#define UNIQUE_PAIRS_MAX 12u

static bool evaluate_item(
                Evaluator *evaluator, const Subschema *sub, const Subschema *item, const Jnode *array, const Jnode *node) {
        if (item->never)
                return evaluator_object(evaluator, sub, array, PROBLEM_ITEM, node) && false;
        return evaluate(evaluator, item, node, NULL);
}

static bool evaluate_items(Evaluator *evaluator, const Subschema *sub, const Jnode *array, Track *track) {
        const ArrayRules *rules = sub->array;
        const Jnode *node = array + 1;
        size_t count = array->word, n = rules->rest ? count : MIN(count, rules->prefix.count);
        bool ok = true;

        if (rules->rest && track)
                track->all = true;
        /* Nothing to see behind the prefix? */
        if (rules->rest && rules->rest->trivial && !evaluator->applied)
                n = MIN(count, rules->prefix.count);

        for (size_t i = 0; i < n; i++, node = jnode_next(node)) {
                const Subschema *item = i < rules->prefix.count ? rules->prefix.items[i] : rules->rest;

                if (!evaluate_item(evaluator, sub, item, array, node)) {
                        if (!evaluator->report)
                                return false;
                        ok = false;
                }
                if (track)
                        track_add(track, i);
        }
        return ok;
}

static bool evaluate_contains(Evaluator *evaluator, const Subschema *sub, const Jnode *array, Track *track) {
        const ArrayRules *rules = sub->array;
        const Jnode *node = array + 1;
        uint64_t found = 0;
        bool early = rules->contains_max == UINT64_MAX && !evaluator_is_thorough(evaluator, track);

        for (size_t i = 0; i < array->word; i++, node = jnode_next(node)) {
                if (early && found >= rules->contains_min)
                        return true;
                if (!evaluate_quietly(evaluator, rules->contains, node, NULL)) {
                        if (evaluator->undecided)
                                return false;
                        continue;
                }
                found++;
                if (track && rules->contains_evaluates)
                        track_add(track, i);
        }
        if (found < rules->contains_min)
                return evaluator_object(evaluator, sub, array, PROBLEM_CONTAINS_MIN, NULL) && false;
        if (found > rules->contains_max)
                return evaluator_object(evaluator, sub, array, PROBLEM_CONTAINS_MAX, NULL) && false;
        return true;
}

/* The later of two equal elements of a short array, or NULL. */
static const Jnode *find_twice_short(Evaluator *evaluator, const Jnode *array) {
        const Jnode *a = array + 1;

        for (size_t i = 0; i < array->word; i++, a = jnode_next(a)) {
                const Jnode *b = jnode_next(a);

                for (size_t j = i + 1; j < array->word; j++, b = jnode_next(b))
                        if (jnode_type(a) == jnode_type(b) &&
                                        jval_equal((Jval) { evaluator->doc, a }, (Jval) { evaluator->doc, b }))
                                return b;
        }
        return NULL;
}

typedef struct Hashed {
        uint64_t hash;
        const Jnode *node;
} Hashed;

static int compare_hashed(const void *a, const void *b) {
        const Hashed *x = a, *y = b;

        if (x->hash != y->hash)
                return x->hash < y->hash ? -1 : 1;
        return x->node < y->node ? -1 : x->node > y->node;
}

static const Jnode *find_twice_long(Evaluator *evaluator, const Jnode *array) {
        g_autofree Hashed *items = g_new(Hashed, array->word);
        const Jnode *node = array + 1;

        for (size_t i = 0; i < array->word; i++, node = jnode_next(node))
                items[i] = (Hashed) { jval_hash((Jval) { evaluator->doc, node }), node };
        qsort(items, array->word, sizeof(*items), compare_hashed);

        for (size_t i = 0; i < array->word; i++)
                for (size_t j = i + 1; j < array->word && items[j].hash == items[i].hash; j++) {
                        /* Hashes can be made to be the same. */
                        if (!evaluator_spend(evaluator, 1 + items[j].node->size / 32))
                                return NULL;
                        if (jval_equal((Jval) { evaluator->doc, items[i].node },
                                            (Jval) { evaluator->doc, items[j].node }))
                                return items[j].node;
                }
        return NULL;
}

static bool evaluate_unique(Evaluator *evaluator, const Subschema *sub, const Jnode *array) {
        const Jnode *twice;

        if (array->word < 2)
                return true;
        if (!evaluator_spend(evaluator, array->word + array->size / 32))
                return false;
        twice = array->word <= UNIQUE_PAIRS_MAX ? find_twice_short(evaluator, array)
                                                : find_twice_long(evaluator, array);
        if (evaluator->undecided)
                return false;
        return !twice || (evaluator_object(evaluator, sub, array, PROBLEM_UNIQUE, twice) && false);
}

bool evaluate_array(Evaluator *evaluator, const Subschema *sub, const Jnode *node, Track *track) {
        const ArrayRules *rules = sub->array;
        size_t count = node->word;
        bool ok = true;

        if (count < rules->count_min)
                ok = evaluator_object(evaluator, sub, node, PROBLEM_ITEMS_MIN, NULL) && false;
        if (count > rules->count_max)
                ok = evaluator_object(evaluator, sub, node, PROBLEM_ITEMS_MAX, NULL) && false;
        if (!ok && !evaluator->report)
                return false;

        if (!evaluate_items(evaluator, sub, node, track)) {
                if (!evaluator->report)
                        return false;
                ok = false;
        }
        if (rules->contains && !evaluate_contains(evaluator, sub, node, track)) {
                if (!evaluator->report)
                        return false;
                ok = false;
        }
        if (rules->unique && !evaluate_unique(evaluator, sub, node))
                ok = false;
        return ok;
}
