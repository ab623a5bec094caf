/* SPDX-License-Identifier: MIT */

/* Keywords about a value as such: "type", "enum", "const", and those that judge nothing. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/jval-compare.h"
#include "schema/compile.h"

/* From so many choices on they are found by hash. */
#define CHOICES_PLAIN_MAX 16u

static unsigned type_bit(Jval name) {
        static const JType types[] = { J_NULL, J_BOOLEAN, J_NUMBER, J_STRING, J_ARRAY, J_OBJECT };

        for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
                if (jval_equals_text(name, jtype_to_string(types[i])))
                        return TYPE_BIT(types[i]);
        return jval_equals_text(name, "integer") ? TYPE_INTEGER : 0;
}

static int add_type(Compiler *compiler, Jval name, unsigned *types) {
        unsigned bit = type_bit(name);
        const char *text = jval_text(name);

        if (bit == 0)
                return compiler_refuse(compiler, -EINVAL, name, "unknown type '%s'", text ?: "(no text)");
        if (*types & bit)
                return compiler_refuse(compiler, -EINVAL, name, "the type '%s' occurs twice", text);
        *types |= bit;
        return 0;
}

int compile_type(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        JIter iter = jval_iterate(value);
        unsigned types = 0;
        Jval item;
        int r = 0;

        (void) object;
        if (!jval_is(value, J_ARRAY))
                r = add_type(compiler, value, &types);
        while (r >= 0 && jiter_next(&iter, NULL, &item))
                r = add_type(compiler, item, &types);
        if (r >= 0 && types == 0)
                r = compiler_refuse(compiler, -EINVAL, value, "at least one type is expected");
        if (r >= 0)
                sub->types = types;
        return r;
}

static int compare_hashes(const void *a, const void *b, void *userdata) {
        const uint64_t *hashes = userdata;
        uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

        if (hashes[x] != hashes[y])
                return hashes[x] < hashes[y] ? -1 : 1;
        return x < y ? -1 : x > y;
}

static void index_choices(Compiler *compiler, ValueRules *rules) {
        g_autofree uint64_t *hashes = g_new(uint64_t, rules->n_choices);

        rules->order = schema_new(compiler->schema, uint32_t, rules->n_choices);
        rules->hashes = schema_new(compiler->schema, uint64_t, rules->n_choices);
        for (uint32_t i = 0; i < rules->n_choices; i++) {
                hashes[i] = jval_hash(rules->choices[i]);
                rules->order[i] = i;
        }
        qsort_r(rules->order, rules->n_choices, sizeof(uint32_t), compare_hashes, hashes);
        for (uint32_t i = 0; i < rules->n_choices; i++)
                rules->hashes[i] = hashes[rules->order[i]];
}

int compile_values(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        ValueRules *rules;
        JIter iter;
        Jval *choices;

        (void) value;
        if (sub->value)
                return 0;
        rules = sub->value = schema_new(compiler->schema, ValueRules, 1);
        rules->constant = compiler_keyword(compiler, object, "const");
        rules->list = compiler_keyword(compiler, object, "enum");
        if (!rules->list.node)
                return 0;
        if (!jval_is(rules->list, J_ARRAY))
                return compiler_refuse(compiler, -EINVAL, rules->list, "a list of values is expected");

        rules->only_strings = true;
        choices = schema_new(compiler->schema, Jval, jval_length(rules->list));
        iter = jval_iterate(rules->list);
        while (jiter_next(&iter, NULL, &choices[rules->n_choices])) {
                if (!jval_is(choices[rules->n_choices], J_STRING))
                        rules->only_strings = false;
                if (++rules->n_choices == jval_length(rules->list))
                        break;
        }
        rules->choices = choices;
        if (rules->n_choices > CHOICES_PLAIN_MAX)
                index_choices(compiler, rules);
        return 0;
}

int compile_text(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        (void) sub;
        (void) object;
        return jval_is(value, J_STRING) ? 0 : compiler_refuse(compiler, -EINVAL, value, "a string is expected");
}

int compile_flag(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        (void) sub;
        (void) object;
        return jval_is(value, J_BOOLEAN) ? 0 : compiler_refuse(compiler, -EINVAL, value, "a boolean is expected");
}

int compile_examples(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        (void) sub;
        (void) object;
        return jval_is(value, J_ARRAY) ? 0 : compiler_refuse(compiler, -EINVAL, value, "a list is expected");
}
