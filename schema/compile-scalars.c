/* SPDX-License-Identifier: MIT */

/* Keywords about numbers and strings. */

#include <errno.h>

#include "schema/compile.h"
#include "schema/decimal.h"
#include "schema/format.h"

static void bound_set(Bound *bound, Jval number) {
        size_t size;
        const char *text = jval_number_text(number, &size);

        bound->node = number.node;
        jnumber_parse(text, size, &bound->number);
        bound->is_small = number.node->tag & JNODE_SMALL;
        bound->small = (int32_t) number.node->word;
}

static int compile_bound(Compiler *compiler, Jval object, const char *name, Bound *bound) {
        Jval value = compiler_keyword(compiler, object, name);

        if (!value.node)
                return 0;
        if (!jval_is(value, J_NUMBER))
                return compiler_refuse(compiler, -EINVAL, value, "a number is expected");
        bound_set(bound, value);
        return 0;
}

/* In draft 4 a boolean says how "minimum" is meant. */
static int compile_exclusive(
                Compiler *compiler, Jval object, const char *name, const char *base, Bound *inclusive, Bound *exclusive) {
        bool flag = false;
        int r;

        if (compiler->resource->draft != SCHEMA_DRAFT_4)
                return compile_bound(compiler, object, name, exclusive);

        r = compiler_boolean(compiler, object, name, &flag);
        if (r < 0)
                return r;
        if (compiler_keyword(compiler, object, name).node && !inclusive->node)
                return compiler_refuse(compiler, -EINVAL, object, "\"%s\" needs \"%s\"", name, base);
        if (flag) {
                *exclusive = *inclusive;
                *inclusive = (Bound) {};
        }
        return 0;
}

int compile_number(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        NumberRules *rules;
        int r;

        (void) value;
        if (sub->number)
                return 0;
        rules = sub->number = schema_new(compiler->schema, NumberRules, 1);

        r = compile_bound(compiler, object, "minimum", &rules->minimum);
        if (r >= 0)
                r = compile_bound(compiler, object, "maximum", &rules->maximum);
        if (r >= 0)
                r = compile_exclusive(
                                compiler, object, "exclusiveMinimum", "minimum", &rules->minimum, &rules->above);
        if (r >= 0)
                r = compile_exclusive(
                                compiler, object, "exclusiveMaximum", "maximum", &rules->maximum, &rules->below);
        if (r >= 0)
                r = compile_bound(compiler, object, "multipleOf", &rules->multiple);
        if (r < 0 || !rules->multiple.node)
                return r;

        value = jval_member(object, "multipleOf");
        if (rules->multiple.number.negative || rules->multiple.number.count == 0)
                return compiler_refuse(compiler, -EINVAL, value, "a number above 0 is expected");
        if (rules->multiple.number.count > DECIMAL_DIVISOR_DIGITS_MAX)
                return compiler_refuse(
                                compiler, -E2BIG, value, "at most %u digits are allowed", DECIMAL_DIVISOR_DIGITS_MAX);
        return 0;
}

static bool formats_judge(const Compiler *compiler) {
        return compiler->schema->options.assert_formats || (compiler->resource->vocabularies & VOCABULARY_ASSERTION);
}

int compile_string(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        StringRules *rules;
        Jval format;
        int r;

        (void) value;
        if (sub->string)
                return 0;
        rules = schema_new(compiler->schema, StringRules, 1);
        rules->length_max = UINT64_MAX;

        r = compiler_count(compiler, object, "minLength", &rules->length_min);
        if (r >= 0)
                r = compiler_count(compiler, object, "maxLength", &rules->length_max);
        if (r < 0)
                return r;

        value = compiler_keyword(compiler, object, "pattern");
        if (value.node) {
                r = compiler_pattern(compiler, value, &rules->pattern);
                if (r < 0)
                        return r;
        }

        format = compiler_keyword(compiler, object, "format");
        if (format.node && !jval_is(format, J_STRING))
                return compiler_refuse(compiler, -EINVAL, format, "a string is expected");
        if (format.node && formats_judge(compiler) && jval_text(format))
                rules->format = format_find(jval_text(format), compiler->resource->draft);

        if (rules->length_min > 0 || rules->length_max < UINT64_MAX || rules->pattern || rules->format)
                sub->string = rules;
        return 0;
}
