/* SPDX-License-Identifier: MIT */

/* Keywords about arrays. */

#include <errno.h>

#include "schema/compile.h"

/* "prefixItems" and "items"; before 2020-12 "items" with a list and "additionalItems". */
static int compile_items(Compiler *compiler, ArrayRules *rules, Jval object) {
        Jval items = compiler_keyword(compiler, object, "items");
        Jval prefix = compiler_keyword(compiler, object, "prefixItems");
        bool list = compiler->resource->draft != SCHEMA_DRAFT_2020_12 && jval_is(items, J_ARRAY);
        Subschema *aside;
        int r;

        rules->prefix_keyword = list ? "items" : "prefixItems";
        rules->rest_keyword = list ? "additionalItems" : "items";
        if (list)
                prefix = items;
        /* A list may be empty before 2020-12: then it says nothing. */
        if (prefix.node && (!list || jval_length(prefix) > 0)) {
                r = compiler_want_list(compiler, prefix, &rules->prefix);
                if (r < 0)
                        return r;
        }
        if (list)
                return compiler_want_keyword(compiler, object, "additionalItems", &rules->rest);

        /* Without a list "additionalItems" means nothing, but must be a schema. */
        r = compiler_want_keyword(compiler, object, "additionalItems", &aside);
        if (r < 0)
                return r;
        return compiler_want_keyword(compiler, object, "items", &rules->rest);
}

int compile_array(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        ArrayRules *rules;
        int r;

        (void) value;
        if (sub->array)
                return 0;
        rules = sub->array = schema_new(compiler->schema, ArrayRules, 1);
        rules->count_max = rules->contains_max = UINT64_MAX;
        rules->contains_min = 1;
        rules->contains_evaluates = compiler->resource->draft == SCHEMA_DRAFT_2020_12;

        r = compile_items(compiler, rules, object);
        if (r >= 0)
                r = compiler_want_keyword(compiler, object, "contains", &rules->contains);
        if (r >= 0)
                r = compiler_count(compiler, object, "minContains", &rules->contains_min);
        if (r >= 0)
                r = compiler_count(compiler, object, "maxContains", &rules->contains_max);
        if (r >= 0)
                r = compiler_count(compiler, object, "minItems", &rules->count_min);
        if (r >= 0)
                r = compiler_count(compiler, object, "maxItems", &rules->count_max);
        if (r >= 0)
                r = compiler_boolean(compiler, object, "uniqueItems", &rules->unique);
        return r;
}
