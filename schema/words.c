/* SPDX-License-Identifier: MIT */

/* Reasons in words. The wording is part of the interface: models and scripts read it. */

#include <inttypes.h>

#include "common/sanitize.h"
#include "schema/words.h"

#define QUOTE_BYTES_MAX 64u
#define LIST_BYTES_MAX  160u

static const char *const keywords[_PROBLEM_MAX] = {
        [PROBLEM_FALSE] = "false",
        [PROBLEM_TYPE] = "type",
        [PROBLEM_CONST] = "const",
        [PROBLEM_ENUM] = "enum",
        [PROBLEM_MINIMUM] = "minimum",
        [PROBLEM_MAXIMUM] = "maximum",
        [PROBLEM_ABOVE] = "exclusiveMinimum",
        [PROBLEM_BELOW] = "exclusiveMaximum",
        [PROBLEM_MULTIPLE] = "multipleOf",
        [PROBLEM_LENGTH_MIN] = "minLength",
        [PROBLEM_LENGTH_MAX] = "maxLength",
        [PROBLEM_PATTERN] = "pattern",
        [PROBLEM_FORMAT] = "format",
        [PROBLEM_ITEMS_MIN] = "minItems",
        [PROBLEM_ITEMS_MAX] = "maxItems",
        [PROBLEM_ITEM] = "items",
        [PROBLEM_UNIQUE] = "uniqueItems",
        [PROBLEM_CONTAINS_MIN] = "contains",
        [PROBLEM_CONTAINS_MAX] = "maxContains",
        [PROBLEM_PROPERTIES_MIN] = "minProperties",
        [PROBLEM_PROPERTIES_MAX] = "maxProperties",
        [PROBLEM_REQUIRED] = "required",
        [PROBLEM_DEPENDENT] = "dependentRequired",
        [PROBLEM_ADDITIONAL] = "additionalProperties",
        [PROBLEM_NAME] = "propertyNames",
        [PROBLEM_ANY] = "anyOf",
        [PROBLEM_ONE_NONE] = "oneOf",
        [PROBLEM_ONE_MANY] = "oneOf",
        [PROBLEM_NOT] = "not",
        [PROBLEM_UNEVALUATED_ITEM] = "unevaluatedItems",
        [PROBLEM_UNEVALUATED_PROPERTY] = "unevaluatedProperties",
};

const char *reason_keyword(const Reason *reason) {
        if (reason->problem == PROBLEM_ITEM && reason->sub->array->prefix.count > 0)
                return reason->sub->array->rest_keyword;
        if (reason->problem == PROBLEM_DEPENDENT && reason->sub->resource->draft > SCHEMA_DRAFT_2019_09)
                return "dependencies";
        return keywords[reason->problem];
}

char *reason_place(const Reason *reason, Jval instance) {
        const Jnode *node = reason->node;

        switch (reason->problem) {
        case PROBLEM_ITEM:
        case PROBLEM_UNIQUE:
        case PROBLEM_NAME:
        case PROBLEM_UNEVALUATED_ITEM:
                node = reason->detail;
                break;
        default:
                break;
        }
        return jnode_pointer(instance.doc, instance.node, node);
}

char *subschema_place(const Subschema *sub) {
        const Resource *resource = sub->resource;
        g_autofree char *pointer = jnode_pointer(resource->doc, resource->root, sub->source);

        return g_strconcat(resource->uri, "#", pointer, NULL);
}

/* A value as it was written, shortened. */
static char *quote(const Jdoc *doc, const Jnode *node) {
        g_autofree char *source = g_strndup(doc->text + node->start, MIN(node->size, 4 * QUOTE_BYTES_MAX));

        return sanitize_line(source, QUOTE_BYTES_MAX, NULL);
}

static char *quote_bytes(const char *bytes, size_t size) {
        g_autofree char *text = g_strndup(bytes, MIN(size, 4 * QUOTE_BYTES_MAX));

        return sanitize_line(text, QUOTE_BYTES_MAX, NULL);
}

/* "string "5"", "array", "null" */
static char *found(const Jdoc *doc, const Jnode *node) {
        JType type = jnode_type(node);
        g_autofree char *text = NULL;

        if (type == J_NULL || type >= J_ARRAY)
                return g_strdup(jtype_to_string(type));
        text = quote(doc, node);
        return g_strdup_printf("%s %s", jtype_to_string(type), text);
}

static char *expected_types(unsigned types) {
        GString *out = g_string_new(NULL);
        const char *const names[] = { "integer", "null", "boolean", "number", "string", "array", "object" };

        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
                if (types & 1u << i)
                        g_string_append_printf(out, "%s%s", out->len > 0 ? " or " : "", names[i]);
        return g_string_free(out, FALSE);
}

static char *expected_choices(const ValueRules *rules) {
        GString *out = g_string_new(NULL);

        for (size_t i = 0; i < rules->n_choices; i++) {
                g_autofree char *text = quote(rules->choices[i].doc, rules->choices[i].node);

                if (out->len + strlen(text) > LIST_BYTES_MAX && i > 0) {
                        g_string_append_printf(out, " and %zu more", rules->n_choices - i);
                        break;
                }
                g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", text);
        }
        return g_string_free(out, FALSE);
}

static char *bound_text(const Reason *reason, const char *expected, const Bound *bound, const Jdoc *doc) {
        g_autofree char *limit = quote(reason->sub->resource->doc, bound->node);
        g_autofree char *value = quote(doc, reason->node);

        return g_strdup_printf("expected %s %s, found %s", expected, limit, value);
}

static char *number_text(const Reason *reason, const Jdoc *doc) {
        const NumberRules *rules = reason->sub->number;

        switch (reason->problem) {
        case PROBLEM_MINIMUM:
                return bound_text(reason, "at least", &rules->minimum, doc);
        case PROBLEM_MAXIMUM:
                return bound_text(reason, "at most", &rules->maximum, doc);
        case PROBLEM_ABOVE:
                return bound_text(reason, "more than", &rules->above, doc);
        case PROBLEM_BELOW:
                return bound_text(reason, "less than", &rules->below, doc);
        default:
                return bound_text(reason, "a multiple of", &rules->multiple, doc);
        }
}

static char *count_text(const char *expected, uint64_t limit, const char *what, size_t count) {
        return g_strdup_printf("expected %s %" PRIu64 " %s, found %zu", expected, limit, what, count);
}

static size_t count_of(const Reason *reason, const Jdoc *doc) {
        Jval value = { doc, reason->node };
        size_t size;
        const char *bytes;

        if (jval_type(value) != J_STRING)
                return jval_length(value);
        bytes = jnode_bytes(doc, reason->node, &size);
        return (size_t) g_utf8_strlen(bytes, (gssize) size);
}

/* The value of the keyword, when that is what was expected. */
static char *keyword_text(const Reason *reason, const char *expected, const Jdoc *doc) {
        const Subschema *sub = reason->sub;
        Jval wanted = jval_member((Jval) { sub->resource->doc, sub->source }, reason_keyword(reason));
        g_autofree char *wanted_text = quote(wanted.doc, wanted.node), *value = found(doc, reason->node);

        return g_strdup_printf("expected %s %s, found %s", expected, wanted_text, value);
}

static char *key_text(const char *format_before, const Jdoc *doc, const Jnode *key) {
        g_autofree char *name = quote(doc, key);

        return g_strdup_printf("%s %s", format_before, name);
}

static char *missing_text(const Property *property) {
        g_autofree char *name = quote_bytes(property->name, property->size);

        return g_strdup_printf("the property \"%s\" is missing", name);
}

static char *alternatives_text(const Reason *reason, const char *how, size_t count, const Jdoc *doc) {
        g_autofree char *value = found(doc, reason->node);

        return g_strdup_printf("%s of the %zu alternatives, found %s", how, count, value);
}

static char *array_text(const Reason *reason, const Jdoc *doc) {
        const ArrayRules *rules = reason->sub->array;
        size_t count = count_of(reason, doc);

        switch (reason->problem) {
        case PROBLEM_ITEMS_MIN:
                return count_text("at least", rules->count_min, "items", count);
        case PROBLEM_ITEMS_MAX:
                return count_text("at most", rules->count_max, "items", count);
        case PROBLEM_CONTAINS_MIN:
                return g_strdup_printf("expected at least %" PRIu64 " matching items", rules->contains_min);
        case PROBLEM_CONTAINS_MAX:
                return g_strdup_printf("expected at most %" PRIu64 " matching items", rules->contains_max);
        case PROBLEM_UNIQUE:
                return g_strdup("equal to another item, all must be different");
        default:
                return g_strdup("an item that is not allowed");
        }
}

static char *object_text(const Reason *reason, const Jdoc *doc) {
        const ObjectRules *rules = reason->sub->object;
        size_t count = count_of(reason, doc);

        switch (reason->problem) {
        case PROBLEM_PROPERTIES_MIN:
                return count_text("at least", rules->count_min, "properties", count);
        case PROBLEM_PROPERTIES_MAX:
                return count_text("at most", rules->count_max, "properties", count);
        case PROBLEM_NAME:
                return key_text("a name that is not allowed:", doc, reason->detail);
        case PROBLEM_ADDITIONAL:
        case PROBLEM_UNEVALUATED_PROPERTY:
                return key_text("unknown property", doc, reason->detail);
        default:
                return missing_text(reason->detail);
        }
}

static char *type_text(const Reason *reason, const Jdoc *doc) {
        g_autofree char *value = found(doc, reason->node), *types = expected_types(reason->sub->types);

        return g_strdup_printf("expected %s, found %s", types, value);
}

static char *choice_text(const Reason *reason, const Jdoc *doc) {
        g_autofree char *value = found(doc, reason->node), *choices = expected_choices(reason->sub->value);

        return g_strdup_printf("expected one of %s, found %s", *choices ? choices : "nothing", value);
}

char *reason_text(const Reason *reason, const Jdoc *doc) {
        const Subschema *sub = reason->sub;

        switch (reason->problem) {
        case PROBLEM_FALSE:
                return g_strdup("no value is allowed here");
        case PROBLEM_TYPE:
                return type_text(reason, doc);
        case PROBLEM_CONST:
                return keyword_text(reason, "the value", doc);
        case PROBLEM_ENUM:
                return choice_text(reason, doc);
        case PROBLEM_MINIMUM:
        case PROBLEM_MAXIMUM:
        case PROBLEM_ABOVE:
        case PROBLEM_BELOW:
        case PROBLEM_MULTIPLE:
                return number_text(reason, doc);
        case PROBLEM_LENGTH_MIN:
                return count_text("at least", sub->string->length_min, "characters", count_of(reason, doc));
        case PROBLEM_LENGTH_MAX:
                return count_text("at most", sub->string->length_max, "characters", count_of(reason, doc));
        case PROBLEM_PATTERN:
                return keyword_text(reason, "a match of", doc);
        case PROBLEM_FORMAT:
                return keyword_text(reason, "the format", doc);
        case PROBLEM_ANY:
                return alternatives_text(reason, "matches none", sub->apply->any.count, doc);
        case PROBLEM_ONE_NONE:
                return alternatives_text(reason, "matches none", sub->apply->one.count, doc);
        case PROBLEM_ONE_MANY:
                return alternatives_text(reason, "matches more than one", sub->apply->one.count, doc);
        case PROBLEM_NOT:
                return g_strdup("matches what it must not match");
        case PROBLEM_UNEVALUATED_ITEM:
                return g_strdup("an item that is not allowed");
        case PROBLEM_PROPERTIES_MIN:
        case PROBLEM_PROPERTIES_MAX:
        case PROBLEM_REQUIRED:
        case PROBLEM_DEPENDENT:
        case PROBLEM_ADDITIONAL:
        case PROBLEM_NAME:
        case PROBLEM_UNEVALUATED_PROPERTY:
                return object_text(reason, doc);
        default:
                return array_text(reason, doc);
        }
}
