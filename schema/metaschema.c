/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "schema/metaschema.h"

/* Parts that many of the texts share. */
#define NATURAL      "{\"type\":\"integer\",\"minimum\":0}"
#define NAMES        "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true,\"default\":[]}"
#define SIMPLE_TYPES "[\"array\",\"boolean\",\"integer\",\"null\",\"number\",\"object\",\"string\"]"
#define TRUE_BOOLEAN "{\"type\":\"boolean\",\"default\":false}"

/* Drafts 4, 6 and 7 are one document each; from draft to draft it mostly grows. */
#define MAP_OF(ref)  "{\"type\":\"object\",\"additionalProperties\":" ref ",\"default\":{}}"
#define OLD_ROOT     "{\"$ref\":\"#\"}"
#define OLD_LIST     "{\"$ref\":\"#/definitions/schemaArray\"}"
#define OLD_NAMES    "{\"$ref\":\"#/definitions/stringArray\"}"
#define OLD_DEFINITIONS(natural, types, names)                                                                        \
        "\"definitions\":{\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":" OLD_ROOT "},"                \
        "\"" natural "\":" NATURAL ",\"" natural "Default0\":{\"allOf\":[{\"$ref\":\"#/definitions/" natural          \
        "\"},{\"default\":0}]},\"simpleTypes\":{\"enum\":" types "},\"stringArray\":" names "},"
#define OLD_COUNTS(natural)                                                                                           \
        "\"maxLength\":{\"$ref\":\"#/definitions/" natural "\"},\"minLength\":{\"$ref\":\"#/definitions/" natural     \
        "Default0\"},\"maxItems\":{\"$ref\":\"#/definitions/" natural "\"},\"minItems\":{\"$ref\":\"#/definitions/"   \
        natural "Default0\"},\"maxProperties\":{\"$ref\":\"#/definitions/" natural                                    \
        "\"},\"minProperties\":{\"$ref\":\"#/definitions/" natural "Default0\"},"
#define OLD_COMMON                                                                                                    \
        "\"title\":{\"type\":\"string\"},\"description\":{\"type\":\"string\"},"                                      \
        "\"maximum\":{\"type\":\"number\"},\"minimum\":{\"type\":\"number\"},"                                        \
        "\"pattern\":{\"type\":\"string\",\"format\":\"regex\"},"                                                     \
        "\"items\":{\"anyOf\":[" OLD_ROOT "," OLD_LIST "]},\"uniqueItems\":" TRUE_BOOLEAN ",\"required\":" OLD_NAMES  \
        ",\"definitions\":" MAP_OF(OLD_ROOT) ",\"properties\":" MAP_OF(OLD_ROOT) ","                                  \
        "\"dependencies\":{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[" OLD_ROOT "," OLD_NAMES "]}},"   \
        "\"type\":{\"anyOf\":[{\"$ref\":\"#/definitions/simpleTypes\"},{\"type\":\"array\",\"items\":{\"$ref\":"      \
        "\"#/definitions/simpleTypes\"},\"minItems\":1,\"uniqueItems\":true}]},\"format\":{\"type\":\"string\"},"     \
        "\"allOf\":" OLD_LIST ",\"anyOf\":" OLD_LIST ",\"oneOf\":" OLD_LIST ",\"not\":" OLD_ROOT

static const char draft4[] =
                "{\"id\":\"http://json-schema.org/draft-04/schema#\","
                "\"$schema\":\"http://json-schema.org/draft-04/schema#\","
                OLD_DEFINITIONS("positiveInteger", SIMPLE_TYPES,
                                "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,"
                                "\"uniqueItems\":true}")
                "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"$schema\":{\"type\":\"string\"},"
                "\"default\":{},\"multipleOf\":{\"type\":\"number\",\"minimum\":0,\"exclusiveMinimum\":true},"
                "\"exclusiveMaximum\":{\"type\":\"boolean\"},\"exclusiveMinimum\":{\"type\":\"boolean\"},"
                "\"additionalItems\":{\"anyOf\":[{\"type\":\"boolean\"}," OLD_ROOT "],\"default\":{}},"
                "\"additionalProperties\":{\"anyOf\":[{\"type\":\"boolean\"}," OLD_ROOT "],\"default\":{}},"
                "\"enum\":{\"type\":\"array\",\"minItems\":1,\"uniqueItems\":true},"
                "\"patternProperties\":" MAP_OF(OLD_ROOT) ","
                OLD_COUNTS("positiveInteger") OLD_COMMON
                "},\"dependencies\":{\"exclusiveMaximum\":[\"maximum\"],\"exclusiveMinimum\":[\"minimum\"]},"
                "\"default\":{}}";

#define SINCE_6                                                                                                       \
        "\"$id\":{\"type\":\"string\",\"format\":\"uri-reference\"},\"$schema\":{\"type\":\"string\",\"format\":"     \
        "\"uri\"},\"$ref\":{\"type\":\"string\",\"format\":\"uri-reference\"},"                                       \
        "\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"exclusiveMaximum\":{\"type\":\"number\"},"     \
        "\"exclusiveMinimum\":{\"type\":\"number\"},\"additionalItems\":" OLD_ROOT ",\"additionalProperties\":"       \
        OLD_ROOT ",\"contains\":" OLD_ROOT ",\"propertyNames\":" OLD_ROOT ","
#define NAMED_PATTERNS(ref)                                                                                           \
        "{\"type\":\"object\",\"additionalProperties\":" ref ",\"propertyNames\":{\"format\":\"regex\"},"             \
        "\"default\":{}}"

static const char draft6[] =
                "{\"$id\":\"http://json-schema.org/draft-06/schema#\","
                "\"$schema\":\"http://json-schema.org/draft-06/schema#\","
                OLD_DEFINITIONS("nonNegativeInteger", SIMPLE_TYPES, NAMES)
                "\"type\":[\"object\",\"boolean\"],\"properties\":{" SINCE_6
                "\"default\":{},\"const\":{},\"examples\":{\"type\":\"array\",\"items\":{}},"
                "\"enum\":{\"type\":\"array\"},\"patternProperties\":" MAP_OF(OLD_ROOT) ","
                OLD_COUNTS("nonNegativeInteger") OLD_COMMON "},\"default\":{}}";

static const char draft7[] =
                "{\"$id\":\"http://json-schema.org/draft-07/schema#\","
                "\"$schema\":\"http://json-schema.org/draft-07/schema#\","
                OLD_DEFINITIONS("nonNegativeInteger", SIMPLE_TYPES, NAMES)
                "\"type\":[\"object\",\"boolean\"],\"properties\":{" SINCE_6
                "\"$comment\":{\"type\":\"string\"},\"default\":true,\"readOnly\":" TRUE_BOOLEAN ",\"writeOnly\":"
                TRUE_BOOLEAN ",\"const\":true,\"examples\":{\"type\":\"array\",\"items\":true},"
                "\"enum\":{\"type\":\"array\",\"items\":true},\"patternProperties\":" NAMED_PATTERNS(OLD_ROOT) ","
                "\"contentMediaType\":{\"type\":\"string\"},\"contentEncoding\":{\"type\":\"string\"},"
                "\"if\":" OLD_ROOT ",\"then\":" OLD_ROOT ",\"else\":" OLD_ROOT ","
                OLD_COUNTS("nonNegativeInteger") OLD_COMMON "},\"default\":true}";

/* From 2019-09 on a metaschema is the sum of its vocabularies. */
#define BASE_2019             "https://json-schema.org/draft/2019-09/"
#define BASE_2020             "https://json-schema.org/draft/2020-12/"
#define VOCABULARY_2019(name) BASE_2019 "vocab/" name
#define VOCABULARY_2020(name) BASE_2020 "vocab/" name
#define HEAD_2019(id)         "{\"$schema\":\"" BASE_2019 "schema\",\"$id\":\"" BASE_2019 id "\",\"$recursiveAnchor\":true,"
#define HEAD_2020(id)         "{\"$schema\":\"" BASE_2020 "schema\",\"$id\":\"" BASE_2020 id "\",\"$dynamicAnchor\":\"meta\","
#define OBJECT_OR_BOOLEAN     "\"type\":[\"object\",\"boolean\"],"
#define PART_2019(name)                                                                                               \
        HEAD_2019("meta/" name) "\"$vocabulary\":{\"" VOCABULARY_2019(name) "\":true}," OBJECT_OR_BOOLEAN
#define PART_2020(name)                                                                                               \
        HEAD_2020("meta/" name) "\"$vocabulary\":{\"" VOCABULARY_2020(name) "\":true}," OBJECT_OR_BOOLEAN
#define SELF_2019             "{\"$recursiveRef\":\"#\"}"
#define SELF_2020             "{\"$dynamicRef\":\"#meta\"}"
#define LIST_REF              "{\"$ref\":\"#/$defs/schemaArray\"}"
#define NATURAL_REF           "{\"$ref\":\"#/$defs/nonNegativeInteger\"}"
#define NATURAL_0_REF         "{\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"}"
#define NAMES_REF             "{\"$ref\":\"#/$defs/stringArray\"}"
#define META(name)            "{\"$ref\":\"meta/" name "\"}"

static const char schema_2019[] =
                HEAD_2019("schema")
                "\"$vocabulary\":{\"" VOCABULARY_2019("core") "\":true,\"" VOCABULARY_2019("applicator") "\":true,\""
                VOCABULARY_2019("validation") "\":true,\"" VOCABULARY_2019("meta-data") "\":true,\""
                VOCABULARY_2019("format") "\":false,\"" VOCABULARY_2019("content") "\":true},"
                "\"allOf\":[" META("core") "," META("applicator") "," META("validation") "," META("meta-data") ","
                META("format") "," META("content") "]," OBJECT_OR_BOOLEAN
                "\"properties\":{\"definitions\":" MAP_OF(SELF_2019) ",\"dependencies\":{\"type\":\"object\","
                "\"additionalProperties\":{\"anyOf\":[" SELF_2019 ",{\"$ref\":\"meta/validation#/$defs/stringArray\"}]"
                "}}}}";

static const char core_2019[] =
                PART_2019("core")
                "\"properties\":{\"$id\":{\"type\":\"string\",\"format\":\"uri-reference\",\"pattern\":\"^[^#]*#?$\"},"
                "\"$schema\":{\"type\":\"string\",\"format\":\"uri\"},"
                "\"$anchor\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z][-A-Za-z0-9.:_]*$\"},"
                "\"$ref\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
                "\"$recursiveRef\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
                "\"$recursiveAnchor\":" TRUE_BOOLEAN ","
                "\"$vocabulary\":{\"type\":\"object\",\"propertyNames\":{\"type\":\"string\",\"format\":\"uri\"},"
                "\"additionalProperties\":{\"type\":\"boolean\"}},\"$comment\":{\"type\":\"string\"},"
                "\"$defs\":" MAP_OF(SELF_2019) "}}";

#define APPLICATORS(self)                                                                                             \
        "\"contains\":" self ",\"additionalProperties\":" self ",\"properties\":" MAP_OF(self)                        \
        ",\"patternProperties\":" NAMED_PATTERNS(self) ",\"dependentSchemas\":{\"type\":\"object\","                  \
        "\"additionalProperties\":" self "},\"propertyNames\":" self ",\"if\":" self ",\"then\":" self ",\"else\":"   \
        self ",\"allOf\":" LIST_REF ",\"anyOf\":" LIST_REF ",\"oneOf\":" LIST_REF ",\"not\":" self                    \
        "},\"$defs\":{\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":" self "}}}"

static const char applicator_2019[] =
                PART_2019("applicator")
                "\"properties\":{\"additionalItems\":" SELF_2019 ",\"unevaluatedItems\":" SELF_2019 ","
                "\"items\":{\"anyOf\":[" SELF_2019 "," LIST_REF "]},\"unevaluatedProperties\":" SELF_2019 ","
                APPLICATORS(SELF_2019);

#define VALIDATIONS                                                                                                   \
        "\"properties\":{\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"maximum\":{\"type\":"          \
        "\"number\"},\"exclusiveMaximum\":{\"type\":\"number\"},\"minimum\":{\"type\":\"number\"},"                   \
        "\"exclusiveMinimum\":{\"type\":\"number\"},\"maxLength\":" NATURAL_REF ",\"minLength\":" NATURAL_0_REF ","   \
        "\"pattern\":{\"type\":\"string\",\"format\":\"regex\"},\"maxItems\":" NATURAL_REF ",\"minItems\":"           \
        NATURAL_0_REF ",\"uniqueItems\":" TRUE_BOOLEAN ",\"maxContains\":" NATURAL_REF ",\"minContains\":{\"$ref\":"  \
        "\"#/$defs/nonNegativeInteger\",\"default\":1},\"maxProperties\":" NATURAL_REF ",\"minProperties\":"          \
        NATURAL_0_REF ",\"required\":" NAMES_REF ",\"dependentRequired\":{\"type\":\"object\","                       \
        "\"additionalProperties\":" NAMES_REF "},\"const\":true,\"enum\":{\"type\":\"array\",\"items\":true},"        \
        "\"type\":{\"anyOf\":[{\"$ref\":\"#/$defs/simpleTypes\"},{\"type\":\"array\",\"items\":{\"$ref\":"            \
        "\"#/$defs/simpleTypes\"},\"minItems\":1,\"uniqueItems\":true}]}},"                                           \
        "\"$defs\":{\"nonNegativeInteger\":" NATURAL ",\"nonNegativeIntegerDefault0\":{\"$ref\":"                     \
        "\"#/$defs/nonNegativeInteger\",\"default\":0},\"simpleTypes\":{\"enum\":" SIMPLE_TYPES "},\"stringArray\":"  \
        NAMES "}}"

#define METADATA                                                                                                      \
        "\"properties\":{\"title\":{\"type\":\"string\"},\"description\":{\"type\":\"string\"},\"default\":true,"     \
        "\"deprecated\":" TRUE_BOOLEAN ",\"readOnly\":" TRUE_BOOLEAN ",\"writeOnly\":" TRUE_BOOLEAN ","               \
        "\"examples\":{\"type\":\"array\",\"items\":true}}}"
#define FORMATS "\"properties\":{\"format\":{\"type\":\"string\"}}}"
#define CONTENT(self)                                                                                                 \
        "\"properties\":{\"contentMediaType\":{\"type\":\"string\"},\"contentEncoding\":{\"type\":\"string\"},"       \
        "\"contentSchema\":" self "}}"

static const char validation_2019[] = PART_2019("validation") VALIDATIONS;
static const char metadata_2019[] = PART_2019("meta-data") METADATA;
static const char format_2019[] = PART_2019("format") FORMATS;
static const char content_2019[] = PART_2019("content") CONTENT(SELF_2019);

static const char schema_2020[] =
                HEAD_2020("schema")
                "\"$vocabulary\":{\"" VOCABULARY_2020("core") "\":true,\"" VOCABULARY_2020("applicator") "\":true,\""
                VOCABULARY_2020("unevaluated") "\":true,\"" VOCABULARY_2020("validation") "\":true,\""
                VOCABULARY_2020("meta-data") "\":true,\"" VOCABULARY_2020("format-annotation") "\":true,\""
                VOCABULARY_2020("content") "\":true},"
                "\"allOf\":[" META("core") "," META("applicator") "," META("unevaluated") "," META("validation") ","
                META("meta-data") "," META("format-annotation") "," META("content") "]," OBJECT_OR_BOOLEAN
                "\"properties\":{\"definitions\":{\"type\":\"object\",\"additionalProperties\":" SELF_2020 ","
                "\"deprecated\":true,\"default\":{}},\"dependencies\":{\"type\":\"object\",\"additionalProperties\":"
                "{\"anyOf\":[" SELF_2020 ",{\"$ref\":\"meta/validation#/$defs/stringArray\"}]},\"deprecated\":true,"
                "\"default\":{}},\"$recursiveAnchor\":{\"$ref\":\"meta/core#/$defs/anchorString\",\"deprecated\":true},"
                "\"$recursiveRef\":{\"$ref\":\"meta/core#/$defs/uriReferenceString\",\"deprecated\":true}}}";

static const char core_2020[] =
                PART_2020("core")
                "\"properties\":{\"$id\":{\"$ref\":\"#/$defs/uriReferenceString\",\"pattern\":\"^[^#]*#?$\"},"
                "\"$schema\":{\"$ref\":\"#/$defs/uriString\"},\"$ref\":{\"$ref\":\"#/$defs/uriReferenceString\"},"
                "\"$anchor\":{\"$ref\":\"#/$defs/anchorString\"},"
                "\"$dynamicRef\":{\"$ref\":\"#/$defs/uriReferenceString\"},"
                "\"$dynamicAnchor\":{\"$ref\":\"#/$defs/anchorString\"},"
                "\"$vocabulary\":{\"type\":\"object\",\"propertyNames\":{\"$ref\":\"#/$defs/uriString\"},"
                "\"additionalProperties\":{\"type\":\"boolean\"}},\"$comment\":{\"type\":\"string\"},"
                "\"$defs\":{\"type\":\"object\",\"additionalProperties\":" SELF_2020 "}},"
                "\"$defs\":{\"anchorString\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"},"
                "\"uriString\":{\"type\":\"string\",\"format\":\"uri\"},"
                "\"uriReferenceString\":{\"type\":\"string\",\"format\":\"uri-reference\"}}}";

static const char applicator_2020[] =
                PART_2020("applicator")
                "\"properties\":{\"prefixItems\":" LIST_REF ",\"items\":" SELF_2020 "," APPLICATORS(SELF_2020);

static const char unevaluated_2020[] =
                PART_2020("unevaluated")
                "\"properties\":{\"unevaluatedItems\":" SELF_2020 ",\"unevaluatedProperties\":" SELF_2020 "}}";

static const char validation_2020[] = PART_2020("validation") VALIDATIONS;
static const char metadata_2020[] = PART_2020("meta-data") METADATA;
static const char annotation_2020[] = PART_2020("format-annotation") FORMATS;
static const char assertion_2020[] = PART_2020("format-assertion") FORMATS;
static const char content_2020[] = PART_2020("content") CONTENT(SELF_2020);

static const struct {
        const char *uri, *text;
        size_t size;
} metaschemas[] = {
#define METASCHEMA(uri, text) { uri, text, sizeof(text) - 1 }
        METASCHEMA("http://json-schema.org/draft-04/schema", draft4),
        METASCHEMA("http://json-schema.org/draft-06/schema", draft6),
        METASCHEMA("http://json-schema.org/draft-07/schema", draft7),
        METASCHEMA(BASE_2019 "schema", schema_2019),
        METASCHEMA(BASE_2019 "meta/core", core_2019),
        METASCHEMA(BASE_2019 "meta/applicator", applicator_2019),
        METASCHEMA(BASE_2019 "meta/validation", validation_2019),
        METASCHEMA(BASE_2019 "meta/meta-data", metadata_2019),
        METASCHEMA(BASE_2019 "meta/format", format_2019),
        METASCHEMA(BASE_2019 "meta/content", content_2019),
        METASCHEMA(BASE_2020 "schema", schema_2020),
        METASCHEMA(BASE_2020 "meta/core", core_2020),
        METASCHEMA(BASE_2020 "meta/applicator", applicator_2020),
        METASCHEMA(BASE_2020 "meta/unevaluated", unevaluated_2020),
        METASCHEMA(BASE_2020 "meta/validation", validation_2020),
        METASCHEMA(BASE_2020 "meta/meta-data", metadata_2020),
        METASCHEMA(BASE_2020 "meta/format-annotation", annotation_2020),
        METASCHEMA(BASE_2020 "meta/format-assertion", assertion_2020),
        METASCHEMA(BASE_2020 "meta/content", content_2020),
};

int metaschema_find(const char *uri, const char **ret_text, size_t *ret_size) {
        for (size_t i = 0; i < sizeof(metaschemas) / sizeof(*metaschemas); i++)
                if (strcmp(metaschemas[i].uri, uri) == 0) {
                        *ret_text = metaschemas[i].text;
                        *ret_size = metaschemas[i].size;
                        return 0;
                }
        return -ENOENT;
}
