/* SPDX-License-Identifier: MIT */

/* Subschemas that show a value to themselves again, by reference or through "allOf" and its kin, would never come to an
 * end. Found by walking the graph of those that see the same value, without recursion. */

#include <errno.h>

#include "schema/compile.h"

enum {
        COLOR_NEW,
        COLOR_OPEN, /* on the way from where the walk began */
        COLOR_DONE,
};

static void add_list(GPtrArray *out, SubschemaList list) {
        for (size_t i = 0; i < list.count; i++)
                g_ptr_array_add(out, list.items[i]);
}

static void add_one(GPtrArray *out, Subschema *sub) {
        if (sub)
                g_ptr_array_add(out, sub);
}

/* Pushes everything that sees the same value as @sub. */
static void add_neighbours(GPtrArray *out, const Subschema *sub) {
        const Applicators *apply = sub->apply;

        if (sub->object)
                for (size_t i = 0; i < sub->object->n_dependencies; i++)
                        add_one(out, sub->object->dependencies[i].schema);
        if (!apply)
                return;
        add_one(out, apply->reference);
        if (!apply->dynamic.name) /* else it depends on the way; the evaluator has a limit for that */
                add_one(out, apply->dynamic.target);
        add_list(out, apply->all);
        add_list(out, apply->any);
        add_list(out, apply->one);
        add_one(out, apply->inverse);
        add_one(out, apply->condition);
        if (apply->condition) {
                add_one(out, apply->consequence);
                add_one(out, apply->alternative);
        }
}

static Subschema *walk(GPtrArray *stack, Subschema *start) {
        g_ptr_array_add(stack, start);

        while (stack->len > 0) {
                Subschema *sub = g_ptr_array_index(stack, stack->len - 1);
                guint before = stack->len;

                if (sub->color != COLOR_NEW) {
                        /* Seen for the second time on top: everything it leads to has been walked. */
                        sub->color = COLOR_DONE;
                        g_ptr_array_set_size(stack, (int) before - 1);
                        continue;
                }
                sub->color = COLOR_OPEN;
                add_neighbours(stack, sub);
                for (guint i = stack->len; i > before; i--) {
                        Subschema *next = g_ptr_array_index(stack, i - 1);

                        if (next->color == COLOR_OPEN)
                                return next;
                        if (next->color == COLOR_DONE)
                                g_ptr_array_remove_index_fast(stack, i - 1);
                }
        }
        return NULL;
}

int circle_check(Compiler *compiler) {
        g_autoptr(GPtrArray) stack = g_ptr_array_new();

        for (size_t i = 0; i < compiler->queue->len; i++) {
                Subschema *start = g_ptr_array_index(compiler->queue, i), *circle;

                if (start->color != COLOR_NEW)
                        continue;
                circle = walk(stack, start);
                if (circle)
                        return compiler_refuse(compiler, -ELOOP, ((Jval) { circle->resource->doc, circle->source }),
                                        "references go round in a circle");
        }
        return 0;
}
