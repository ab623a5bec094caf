/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "schema/compile.h"
#include "schema/dialect.h"

#define D(draft)   (1u << SCHEMA_DRAFT_##draft)
#define EVERY      (SINCE_6 | D(4))
#define SINCE_6    (SINCE_7 | D(6))
#define SINCE_7    (SINCE_2019 | D(7))
#define SINCE_2019 (D(2020_12) | D(2019_09))

static const Keyword keywords[] = {
        { "$ref", EVERY, VOCABULARY_CORE, SHAPE_VALUE, compile_reference },
        { "$dynamicRef", D(2020_12), VOCABULARY_CORE, SHAPE_VALUE, compile_dynamic },
        { "$recursiveRef", D(2019_09), VOCABULARY_CORE, SHAPE_VALUE, compile_dynamic },
        { "$recursiveAnchor", D(2019_09), VOCABULARY_CORE, SHAPE_VALUE, compile_flag },
        { "$comment", SINCE_7, VOCABULARY_CORE, SHAPE_VALUE, compile_text },
        { "$defs", SINCE_2019, VOCABULARY_CORE, SHAPE_MAP, compile_definitions },
        { "definitions", EVERY, VOCABULARY_CORE, SHAPE_MAP, compile_definitions },

        { "properties", EVERY, VOCABULARY_APPLICATOR, SHAPE_MAP, compile_object },
        { "patternProperties", EVERY, VOCABULARY_APPLICATOR, SHAPE_MAP, compile_object },
        { "additionalProperties", SINCE_6, VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_object },
        { "additionalProperties", D(4), VOCABULARY_APPLICATOR, SHAPE_SCHEMA_OR_BOOLEAN, compile_object },
        { "propertyNames", SINCE_6, VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_object },
        { "dependencies", EVERY, VOCABULARY_APPLICATOR, SHAPE_MAP_OR_NAMES, compile_object },
        { "dependentSchemas", SINCE_2019, VOCABULARY_APPLICATOR, SHAPE_MAP, compile_object },
        { "items", D(2020_12), VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_array },
        { "items", EVERY & ~D(2020_12), VOCABULARY_APPLICATOR, SHAPE_SCHEMA_OR_LIST, compile_array },
        { "prefixItems", D(2020_12), VOCABULARY_APPLICATOR, SHAPE_LIST, compile_array },
        { "additionalItems", D(2019_09) | D(7) | D(6), VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_array },
        { "additionalItems", D(4), VOCABULARY_APPLICATOR, SHAPE_SCHEMA_OR_BOOLEAN, compile_array },
        { "contains", SINCE_6, VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_array },
        { "allOf", EVERY, VOCABULARY_APPLICATOR, SHAPE_LIST, compile_apply },
        { "anyOf", EVERY, VOCABULARY_APPLICATOR, SHAPE_LIST, compile_apply },
        { "oneOf", EVERY, VOCABULARY_APPLICATOR, SHAPE_LIST, compile_apply },
        { "not", EVERY, VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_apply },
        { "if", SINCE_7, VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_apply },
        { "then", SINCE_7, VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_aside },
        { "else", SINCE_7, VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_aside },

        { "unevaluatedProperties", D(2020_12), VOCABULARY_UNEVALUATED, SHAPE_SCHEMA, compile_apply },
        { "unevaluatedItems", D(2020_12), VOCABULARY_UNEVALUATED, SHAPE_SCHEMA, compile_apply },
        { "unevaluatedProperties", D(2019_09), VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_apply },
        { "unevaluatedItems", D(2019_09), VOCABULARY_APPLICATOR, SHAPE_SCHEMA, compile_apply },

        { "type", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_type },
        { "enum", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_values },
        { "const", SINCE_6, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_values },
        { "minimum", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_number },
        { "maximum", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_number },
        { "exclusiveMinimum", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_number },
        { "exclusiveMaximum", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_number },
        { "multipleOf", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_number },
        { "minLength", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_string },
        { "maxLength", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_string },
        { "pattern", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_string },
        { "minItems", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_array },
        { "maxItems", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_array },
        { "uniqueItems", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_array },
        { "minContains", SINCE_2019, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_array },
        { "maxContains", SINCE_2019, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_array },
        { "minProperties", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_object },
        { "maxProperties", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_object },
        { "required", EVERY, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_object },
        { "dependentRequired", SINCE_2019, VOCABULARY_VALIDATION, SHAPE_VALUE, compile_object },

        { "format", EVERY, VOCABULARY_FORMAT, SHAPE_VALUE, compile_string },
        { "contentMediaType", SINCE_7, VOCABULARY_CONTENT, SHAPE_VALUE, compile_text },
        { "contentEncoding", SINCE_7, VOCABULARY_CONTENT, SHAPE_VALUE, compile_text },
        { "contentSchema", SINCE_2019, VOCABULARY_CONTENT, SHAPE_SCHEMA, compile_aside },

        { "title", EVERY, VOCABULARY_METADATA, SHAPE_VALUE, compile_text },
        { "description", EVERY, VOCABULARY_METADATA, SHAPE_VALUE, compile_text },
        { "default", EVERY, VOCABULARY_METADATA, SHAPE_VALUE, NULL },
        { "examples", SINCE_6, VOCABULARY_METADATA, SHAPE_VALUE, compile_examples },
        { "readOnly", SINCE_7, VOCABULARY_METADATA, SHAPE_VALUE, compile_flag },
        { "writeOnly", SINCE_7, VOCABULARY_METADATA, SHAPE_VALUE, compile_flag },
        { "deprecated", SINCE_2019, VOCABULARY_METADATA, SHAPE_VALUE, compile_flag },
};

const Keyword *keyword_find(const char *name, size_t size, SchemaDraft draft, unsigned vocabularies) {
        for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++) {
                const Keyword *keyword = &keywords[i];

                if (keyword->name[0] != (size > 0 ? name[0] : '\0') || strlen(keyword->name) != size ||
                                memcmp(keyword->name, name, size) != 0)
                        continue;
                if ((keyword->drafts & 1u << draft) && (keyword->vocabulary & vocabularies))
                        return keyword;
        }
        return NULL;
}

static const struct {
        const char *name, *metaschema;
} drafts[_SCHEMA_DRAFT_MAX] = {
        [SCHEMA_DRAFT_2020_12] = { "2020-12", "https://json-schema.org/draft/2020-12/schema" },
        [SCHEMA_DRAFT_2019_09] = { "2019-09", "https://json-schema.org/draft/2019-09/schema" },
        [SCHEMA_DRAFT_7] = { "7", "http://json-schema.org/draft-07/schema" },
        [SCHEMA_DRAFT_6] = { "6", "http://json-schema.org/draft-06/schema" },
        [SCHEMA_DRAFT_4] = { "4", "http://json-schema.org/draft-04/schema" },
};

int dialect_find(const char *uri, SchemaDraft *ret) {
        for (int i = 0; i < _SCHEMA_DRAFT_MAX; i++)
                if (strcmp(drafts[i].metaschema, uri) == 0) {
                        *ret = (SchemaDraft) i;
                        return 0;
                }
        return -ENOENT;
}

const char *schema_draft_to_string(SchemaDraft draft) {
        return draft < _SCHEMA_DRAFT_MAX ? drafts[draft].name : NULL;
}

int schema_draft_from_string(const char *text, SchemaDraft *ret) {
        for (int i = 0; i < _SCHEMA_DRAFT_MAX; i++)
                if (strcmp(drafts[i].name, text) == 0) {
                        *ret = (SchemaDraft) i;
                        return 0;
                }
        return -ENOENT;
}

int vocabulary_find(const char *uri, Vocabulary *ret) {
        static const struct {
                const char *name;
                Vocabulary vocabulary;
        } names[] = {
                { "2020-12/vocab/core", VOCABULARY_CORE },
                { "2020-12/vocab/applicator", VOCABULARY_APPLICATOR },
                { "2020-12/vocab/unevaluated", VOCABULARY_UNEVALUATED },
                { "2020-12/vocab/validation", VOCABULARY_VALIDATION },
                { "2020-12/vocab/meta-data", VOCABULARY_METADATA },
                { "2020-12/vocab/format-annotation", VOCABULARY_FORMAT },
                { "2020-12/vocab/format-assertion", VOCABULARY_FORMAT | VOCABULARY_ASSERTION },
                { "2020-12/vocab/content", VOCABULARY_CONTENT },
                { "2019-09/vocab/core", VOCABULARY_CORE },
                { "2019-09/vocab/applicator", VOCABULARY_APPLICATOR },
                { "2019-09/vocab/validation", VOCABULARY_VALIDATION },
                { "2019-09/vocab/meta-data", VOCABULARY_METADATA },
                { "2019-09/vocab/format", VOCABULARY_FORMAT },
                { "2019-09/vocab/content", VOCABULARY_CONTENT },
        };
        static const char base[] = "https://json-schema.org/draft/";

        if (strncmp(uri, base, sizeof(base) - 1) != 0)
                return -ENOENT;
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (strcmp(names[i].name, uri + sizeof(base) - 1) == 0) {
                        *ret = names[i].vocabulary;
                        return 0;
                }
        return -ENOENT;
}
