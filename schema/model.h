/* SPDX-License-Identifier: MIT */
#pragma once

/* A compiled schema as the evaluator sees it. Everything lies in the schema's arena and is never changed after compiling.
 * Rules are grouped by the type of instance that they concern, so that a value is only shown to what can refuse it. */

#include "common/jdoc-node.h"
#include "common/jnumber.h"
#include "schema/pattern.h"
#include "schema/resource.h"
#include "schema/schema.h"

typedef struct Subschema Subschema;

/* Types as bits: 1 << JType, and whole numbers. */
#define TYPE_BIT(type) (1u << (type))
#define TYPE_INTEGER   TYPE_BIT(J_ABSENT)
#define TYPE_ALL                                                                                                      \
        (TYPE_BIT(J_NULL) | TYPE_BIT(J_BOOLEAN) | TYPE_BIT(J_NUMBER) | TYPE_BIT(J_STRING) | TYPE_BIT(J_ARRAY) |       \
                        TYPE_BIT(J_OBJECT))

typedef struct SubschemaList {
        Subschema **items;
        size_t count;
} SubschemaList;

typedef struct Bound {
        const Jnode *node; /* NULL: no such keyword */
        JNumber number;
        int32_t small; /* the value, when is_small */
        bool is_small;
} Bound;

typedef struct NumberRules {
        Bound minimum, maximum, above, below, multiple;
} NumberRules;

typedef struct StringRules {
        uint64_t length_min, length_max;
        const Pattern *pattern;
        const struct Format *format;
} StringRules;

typedef struct ArrayRules {
        uint64_t count_min, count_max;
        SubschemaList prefix;
        Subschema *rest; /* "items", or "additionalItems" behind a list */
        const char *rest_keyword;
        const char *prefix_keyword;
        Subschema *contains;
        uint64_t contains_min, contains_max;
        bool contains_evaluates;
        bool unique;
} ArrayRules;

/* One name that the schema mentions: in "properties", in "required", or as the trigger of a dependency. */
typedef struct Property {
        const char *name;
        size_t size;
        uint32_t hash;
        bool required;
        Subschema *schema; /* NULL: only mentioned */
} Property;

typedef struct PropertyPattern {
        const Pattern *pattern;
        Subschema *schema;
} PropertyPattern;

typedef struct Dependency {
        const Property *trigger;
        const Property *names; /* that must be there then */
        size_t n_names;
        Subschema *schema; /* that must hold then; NULL */
} Dependency;

typedef struct ObjectRules {
        uint64_t count_min, count_max;
        Property *properties; /* in the order of the schema */
        size_t n_properties;
        uint16_t *table; /* 1 + place of a property, by hash; 0 free; a power of two long */
        uint32_t table_mask;
        size_t n_required;
        PropertyPattern *patterns;
        size_t n_patterns;
        Subschema *additional;
        Subschema *names;
        Dependency *dependencies;
        size_t n_dependencies;
} ObjectRules;

/* "enum" and "const". */
typedef struct ValueRules {
        Jval constant; /* absent: no "const" */
        Jval list;     /* absent: no "enum" */
        const Jval *choices;
        size_t n_choices;
        bool only_strings; /* in the list */
        uint64_t *hashes;  /* sorted with order[], when there are many choices */
        uint32_t *order;
} ValueRules;

typedef struct DynamicRef {
        Subschema *target; /* where it leads without a dynamic scope */
        const char *name;  /* interned; NULL: it is an ordinary reference after all */
        const char *keyword;
} DynamicRef;

typedef struct Applicators {
        Subschema *reference;
        DynamicRef dynamic;
        SubschemaList all, any, one;
        Subschema *inverse;
        Subschema *condition, *consequence, *alternative;
        Subschema *unevaluated_items, *unevaluated_properties;
} Applicators;

struct Subschema {
        unsigned types;
        bool never;   /* false */
        bool trivial; /* nothing can fail and nothing is marked as evaluated */
        bool plain;   /* only "type" and the rules for one type judge */
        NumberRules *number;
        StringRules *string;
        ArrayRules *array;
        ObjectRules *object;
        ValueRules *value;
        Applicators *apply;
        const Resource *resource;
        const Jnode *source;
        unsigned color; /* while references in a circle are looked for */
};

struct Schema {
        unsigned n_refs;
        SchemaOptions options;
        Registry *registry;
        GStringChunk *names;
        GPtrArray *patterns; /* Pattern */
        size_t patterns_memory;
        struct ArenaBlock *arena;
        Subschema *root;
        size_t n_subschemas;
        bool dynamic; /* some reference depends on the way it was reached */
};

/** schema_alloc() - zeroed memory that lives as long as the schema */
void *schema_alloc(Schema *schema, size_t size);
#define schema_new(schema, type, n) ((type *) schema_alloc(schema, sizeof(type) * (n)))
