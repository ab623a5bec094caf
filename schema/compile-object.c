/* SPDX-License-Identifier: MIT */

/* Keywords about objects. */

#include <errno.h>

#include "schema/compile.h"

#define PROPERTIES_MAX 60000u

/* The property of a name, made when it is new. There is room for all names that the schema object mentions. */
static Property *take_property(ObjectRules *rules, Jval name) {
        size_t size;
        const char *bytes = jnode_bytes(name.doc, name.node, &size);
        uint32_t hash = jkey_hash(bytes, size), at = hash & rules->table_mask;
        Property *property;

        for (; rules->table[at] > 0; at = (at + 1) & rules->table_mask) {
                property = &rules->properties[rules->table[at] - 1];
                if (property->hash == hash && property->size == size && memcmp(property->name, bytes, size) == 0)
                        return property;
        }
        property = &rules->properties[rules->n_properties++];
        *property = (Property) { .name = bytes, .size = size, .hash = hash };
        rules->table[at] = (uint16_t) rules->n_properties;
        return property;
}

static int make_table(Compiler *compiler, ObjectRules *rules, Jval object, size_t n) {
        size_t slots = 4;

        if (n == 0)
                return 0;
        if (n > PROPERTIES_MAX)
                return compiler_refuse(compiler, -E2BIG, object, "more than %u properties", PROPERTIES_MAX);
        while (slots < 2 * n)
                slots *= 2;
        rules->properties = schema_new(compiler->schema, Property, n);
        rules->table = schema_new(compiler->schema, uint16_t, slots);
        rules->table_mask = (uint32_t) slots - 1;
        return 0;
}

static int check_object(Compiler *compiler, Jval value) {
        if (!value.node || jval_is(value, J_OBJECT))
                return 0;
        return compiler_refuse(
                        compiler, -EINVAL, value, "an object is expected, found %s", jtype_to_string(jval_type(value)));
}

static int compile_properties(Compiler *compiler, ObjectRules *rules, Jval properties) {
        JIter iter = jval_iterate(properties);
        Jval key, value;
        int r = 0;

        while (r >= 0 && jiter_next(&iter, &key, &value))
                r = compiler_want(compiler, value, &take_property(rules, key)->schema);
        return r;
}

static int check_names(Compiler *compiler, Jval names) {
        JIter iter = jval_iterate(names);
        Jval name;

        if (!jval_is(names, J_ARRAY))
                return compiler_refuse(compiler, -EINVAL, names, "a list of names is expected");
        while (jiter_next(&iter, NULL, &name))
                if (!jval_is(name, J_STRING))
                        return compiler_refuse(compiler, -EINVAL, name, "a name is expected");
        return 0;
}

static int compile_required(Compiler *compiler, ObjectRules *rules, Jval names) {
        JIter iter = jval_iterate(names);
        Jval name;

        while (jiter_next(&iter, NULL, &name)) {
                Property *property = take_property(rules, name);

                if (property->required)
                        return compiler_refuse(compiler, -EINVAL, name, "the name occurs twice");
                property->required = true;
                rules->n_required++;
        }
        return 0;
}

static int compile_patterns(Compiler *compiler, ObjectRules *rules, Jval patterns) {
        JIter iter = jval_iterate(patterns);
        Jval key, value;
        int r;

        rules->patterns = schema_new(compiler->schema, PropertyPattern, jval_length(patterns));
        while (jiter_next(&iter, &key, &value)) {
                PropertyPattern *pattern = &rules->patterns[rules->n_patterns++];

                r = compiler_pattern(compiler, key, &pattern->pattern);
                if (r >= 0)
                        r = compiler_want(compiler, value, &pattern->schema);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int compile_dependency_names(Compiler *compiler, Dependency *dependency, Jval names) {
        JIter iter = jval_iterate(names);
        Property *list;
        Jval name;
        int r;

        r = check_names(compiler, names);
        if (r < 0)
                return r;
        dependency->names = list = schema_new(compiler->schema, Property, jval_length(names));
        while (jiter_next(&iter, NULL, &name)) {
                size_t size;
                const char *bytes = jnode_bytes(name.doc, name.node, &size);

                list[dependency->n_names++] =
                                (Property) { .name = bytes, .size = size, .hash = jkey_hash(bytes, size) };
        }
        return 0;
}

/* Which of the two a dependency may be. */
typedef enum DependencyKind {
        DEPENDENCY_NAMES   = 1 << 0,
        DEPENDENCY_SCHEMA  = 1 << 1,
} DependencyKind;

static int compile_dependencies(Compiler *compiler, ObjectRules *rules, Jval list, DependencyKind kind) {
        JIter iter = jval_iterate(list);
        Jval key, value;
        int r;

        while (jiter_next(&iter, &key, &value)) {
                Dependency *dependency = &rules->dependencies[rules->n_dependencies++];

                dependency->trigger = take_property(rules, key);
                if (jval_is(value, J_ARRAY) ? (kind & DEPENDENCY_NAMES) : !(kind & DEPENDENCY_SCHEMA))
                        r = compile_dependency_names(compiler, dependency, value);
                else
                        r = compiler_want(compiler, value, &dependency->schema);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int compile_conditions(Compiler *compiler, ObjectRules *rules, const Jval lists[static 3]) {
        static const DependencyKind kinds[3] = {
                DEPENDENCY_NAMES | DEPENDENCY_SCHEMA, DEPENDENCY_NAMES, DEPENDENCY_SCHEMA
        };
        size_t n = jval_length(lists[0]) + jval_length(lists[1]) + jval_length(lists[2]);
        int r = 0;

        if (n > 0)
                rules->dependencies = schema_new(compiler->schema, Dependency, n);
        for (int i = 0; r >= 0 && i < 3; i++)
                r = compile_dependencies(compiler, rules, lists[i], kinds[i]);
        return r;
}

int compile_object(Compiler *compiler, Subschema *sub, Jval object, Jval value) {
        Jval properties = compiler_keyword(compiler, object, "properties");
        Jval patterns = compiler_keyword(compiler, object, "patternProperties");
        Jval required = compiler_keyword(compiler, object, "required");
        Jval conditions[3] = {
                compiler_keyword(compiler, object, "dependencies"),
                compiler_keyword(compiler, object, "dependentRequired"),
                compiler_keyword(compiler, object, "dependentSchemas"),
        };
        ObjectRules *rules;
        size_t n = jval_length(properties) + jval_length(required);
        int r;

        (void) value;
        if (sub->object)
                return 0;
        rules = sub->object = schema_new(compiler->schema, ObjectRules, 1);
        rules->count_max = UINT64_MAX;

        r = check_object(compiler, properties);
        if (r >= 0)
                r = check_object(compiler, patterns);
        if (r >= 0 && required.node)
                r = check_names(compiler, required);
        for (int i = 0; r >= 0 && i < 3; i++) {
                r = check_object(compiler, conditions[i]);
                n += jval_length(conditions[i]);
        }
        if (r >= 0)
                r = make_table(compiler, rules, object, n);
        if (r >= 0)
                r = compile_properties(compiler, rules, properties);
        if (r >= 0)
                r = compile_required(compiler, rules, required);
        if (r >= 0)
                r = compile_patterns(compiler, rules, patterns);
        if (r >= 0)
                r = compile_conditions(compiler, rules, conditions);
        if (r >= 0)
                r = compiler_want_keyword(compiler, object, "additionalProperties", &rules->additional);
        if (r >= 0)
                r = compiler_want_keyword(compiler, object, "propertyNames", &rules->names);
        if (r >= 0)
                r = compiler_count(compiler, object, "minProperties", &rules->count_min);
        if (r >= 0)
                r = compiler_count(compiler, object, "maxProperties", &rules->count_max);
        return r;
}
