/* SPDX-License-Identifier: MIT */

/* Keywords that show the same value to other subschemas, and references. */

#include <errno.h>

#include "schema/compile.h"

static Applicators *applicators(Compiler *compiler, Subschema *sub) {
        if (!sub->apply)
                sub->apply = schema_new(compiler->schema, Applicators, 1);
        return sub->apply;
}

/* All keywords of this file that need no reference are taken in at the first of them; the mark is this. */
static bool is_taken(const Applicators *apply) {
        return apply->all.count + apply->any.count + apply->one.count > 0 || apply->inverse || apply->condition ||
                        apply->unevaluated_items || apply->unevaluated_properties;
}

static int want_list(Compiler *compiler, Jval object, const char *name, SubschemaList *ret) {
        Jval list = compiler_keyword(compiler, object, name);

        return list.node ? compiler_want_list(compiler, list, ret) : 0;
}

int compile_apply(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        Applicators *apply = applicators(compiler, sub);
        int r;

        (void) value;
        if (is_taken(apply))
                return 0;

        r = want_list(compiler, object, "allOf", &apply->all);
        if (r >= 0)
                r = want_list(compiler, object, "anyOf", &apply->any);
        if (r >= 0)
                r = want_list(compiler, object, "oneOf", &apply->one);
        if (r >= 0)
                r = compiler_want_keyword(compiler, object, "not", &apply->inverse);
        if (r >= 0)
                r = compiler_want_keyword(compiler, object, "if", &apply->condition);
        if (r >= 0)
                r = compiler_want_keyword(compiler, object, "then", &apply->consequence);
        if (r >= 0)
                r = compiler_want_keyword(compiler, object, "else", &apply->alternative);
        if (r >= 0)
                r = compiler_want_keyword(compiler, object, "unevaluatedItems", &apply->unevaluated_items);
        if (r >= 0)
                r = compiler_want_keyword(compiler, object, "unevaluatedProperties", &apply->unevaluated_properties);
        return r;
}

/* A schema that is only checked, because what would use it is not there or is no judging keyword. */
int compile_aside(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        Subschema *aside;

        (void) sub;
        (void) object;
        return compiler_want(compiler, value, &aside);
}

int compile_definitions(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        JIter iter = jval_iterate(value);
        Subschema *aside;
        Jval item;
        int r = 0;

        (void) sub;
        (void) object;
        if (!jval_is(value, J_OBJECT))
                return compiler_refuse(compiler, -EINVAL, value, "an object of schemas is expected");
        while (r >= 0 && jiter_next(&iter, NULL, &item))
                r = compiler_want(compiler, item, &aside);
        return r;
}

/* The subschema that a reference leads to. */
static int resolve(Compiler *compiler, Jval value, Subschema **ret, const char **ret_anchor) {
        const char *reference = jval_text(value);
        Resource *resource;
        const Jnode *node;
        int r;

        if (!reference)
                return compiler_refuse(compiler, -EINVAL, value, "a reference is expected");

        r = resource_registry_resolve(compiler->schema->registry, compiler->resource, reference, &resource, &node, ret_anchor,
                        compiler->reterr);
        if (r == -ENOKEY)
                return compiler_refuse(compiler, -ENOKEY, value,
                                "the reference '%s' cannot be resolved within the schema", reference);
        if (r < 0)
                return r;
        r = compiler_want_at(compiler, resource, (Jval) { resource->doc, node }, ret);
        return r;
}

int compile_reference(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        (void) object;
        return resolve(compiler, value, &applicators(compiler, sub)->reference, NULL);
}

int compile_dynamic(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        DynamicRef *dynamic = &applicators(compiler, sub)->dynamic;
        bool recursive = compiler->resource->draft == SCHEMA_DRAFT_2019_09;
        int r;

        (void) object;
        dynamic->keyword = recursive ? "$recursiveRef" : "$dynamicRef";
        r = resolve(compiler, value, &dynamic->target, &dynamic->name);
        if (r < 0)
                return r;

        /* Only "#" is recursive, and only "#name" is dynamic. */
        if (dynamic->name && recursive != (*dynamic->name == '\0'))
                dynamic->name = NULL;
        if (dynamic->name)
                compiler->schema->dynamic = true;
        return 0;
}
