/* SPDX-License-Identifier: MIT */

/* Schemas that are refused: each with the place and the reason (contract 5.1). */

#include <errno.h>

#include "judged.h"

typedef struct Refusal {
        const char *schema;
        int code;
        const char *place; /* that the text begins with */
} Refusal;

static void refuse(const Refusal *c, const SchemaOptions *options) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Schema *schema = (Schema *) 1;
        int r = schema_compile(c->schema, strlen(c->schema), options, &schema, &error);

        if (r != c->code || !g_str_has_prefix(error.message ?: "", c->place))
                g_error("%.80s: %d, %s", c->schema, r, error.message);
        g_assert_true(schema == (Schema *) 1);
        g_assert_cmpstr(error.name, ==, r == -E2BIG ? ERROR_TOO_LARGE : ERROR_INVALID_ARGUMENTS);
        g_assert_cmpint(schema_compile(c->schema, strlen(c->schema), options, &schema, NULL), ==, r);
}

static void test_uncompilable(void) {
        static const Refusal cases[] = {
                { "{", -EBADMSG, "schema, line 1, column 2" },
                { "{\"a\":1,\"a\":2}", -EBADMSG, "schema, line 1, column 8" },
                { "1", -EINVAL, "schema, at (root)" },
                { "{\"type\":1}", -EINVAL, "schema, at /type" },
                { "{\"type\":[]}", -EINVAL, "schema, at /type" },
                { "{\"type\":[\"null\",\"null\"]}", -EINVAL, "schema, at /type/1" },
                { "{\"properties\":{\"a\":1}}", -EINVAL, "schema, at /properties/a" },
                { "{\"properties\":[]}", -EINVAL, "schema, at /properties" },
                { "{\"$defs\":{\"unused\":{\"minimum\":\"1\"}}}", -EINVAL, "schema, at /$defs/unused/minimum" },
                { "{\"required\":\"a\"}", -EINVAL, "schema, at /required" },
                { "{\"required\":[1]}", -EINVAL, "schema, at /required/0" },
                { "{\"required\":[\"a\",\"a\"]}", -EINVAL, "schema, at /required/1" },
                { "{\"items\":[{}]}", -EINVAL, "schema, at /items" },
                { "{\"prefixItems\":[]}", -EINVAL, "schema, at /prefixItems" },
                { "{\"allOf\":[]}", -EINVAL, "schema, at /allOf" },
                { "{\"anyOf\":{}}", -EINVAL, "schema, at /anyOf" },
                { "{\"then\":1}", -EINVAL, "schema, at /then" },
                { "{\"enum\":1}", -EINVAL, "schema, at /enum" },
                { "{\"multipleOf\":0}", -EINVAL, "schema, at /multipleOf" },
                { "{\"multipleOf\":-1}", -EINVAL, "schema, at /multipleOf" },
                { "{\"minLength\":-1}", -EINVAL, "schema, at /minLength" },
                { "{\"minLength\":1.5}", -EINVAL, "schema, at /minLength" },
                { "{\"uniqueItems\":1}", -EINVAL, "schema, at /uniqueItems" },
                { "{\"pattern\":\"(\"}", -EINVAL, "schema, at /pattern" },
                { "{\"pattern\":1}", -EINVAL, "schema, at /pattern" },
                { "{\"patternProperties\":{\"[\":{}}}", -EINVAL, "schema, at /patternProperties/[" },
                { "{\"title\":1}", -EINVAL, "schema, at /title" },
                { "{\"format\":1}", -EINVAL, "schema, at /format" },
                { "{\"$ref\":1}", -EINVAL, "schema, at /$ref" },
                { "{\"$ref\":\"#/$defs/none\"}", -ENOKEY, "schema, at /$ref" },
                { "{\"$ref\":\"#none\"}", -ENOKEY, "schema, at /$ref" },
                { "{\"$ref\":\"#/enum/0\",\"enum\":[1]}", -EINVAL, "schema, at /enum/0" },
                { "{\"$id\":\"a#b\"}", -EINVAL, "schema, at (root)" },
                { "{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}", -EINVAL, "schema, at /$defs/b" },
                { "{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"x\"}}}", -EINVAL, "schema, at /$defs/b" },
                { "{\"$schema\":\"http://example.com/mine\"}", -EINVAL, "schema, at /$schema" },
                { "{\"$schema\":7}", -EINVAL, "schema, at /$schema" },
                { "{" DRAFT(4) "\"properties\":{\"a\":true}}", -EINVAL, "schema, at /properties/a" },
                { "{" DRAFT(4) "\"exclusiveMinimum\":true}", -EINVAL, "schema, at (root)" },
                { "{" DRAFT(4) "\"minimum\":1,\"exclusiveMinimum\":1}", -EINVAL, "schema, at /exclusiveMinimum" },
                { "{" DRAFT(7) "\"exclusiveMinimum\":true}", -EINVAL, "schema, at /exclusiveMinimum" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                refuse(&cases[i], NULL);
}

static void test_unknown_type(void) {
        refuse(&(Refusal) { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"strng\"}}}", -EINVAL,
                               "schema, at /properties/a/type: unknown type 'strng'" },
                        NULL);
}

static void test_object_root(void) {
        static const SchemaOptions tool = { .object_root = true };
        static const char *const schemas[] = { "{}", "true", "{\"type\":\"string\"}", "{\"type\":[\"object\"]}",
                "{\"properties\":{}}", "[]" };
        g_autoptr(Schema) schema = compile_with("{\"type\":\"object\"}", &tool);
        g_autoptr(Jdoc) doc = parse("[]");

        for (size_t i = 0; i < G_N_ELEMENTS(schemas); i++)
                refuse(&(Refusal) { schemas[i], -EINVAL, "schema, at (root): the root must say" }, &tool);
        /* Non-object input is refused however permissive the rest is. */
        g_assert_cmpint(schema_validate(schema, jdoc_root(doc)), ==, SCHEMA_INVALID);
}

static void test_external(void) {
        static const char *const references[] = { "https://example.invalid/s.json", "file:///etc/hostname", "other.json",
                "http://json-schema.org/draft-03/schema#", "//example.invalid", "" };

        for (size_t i = 0; i + 1 < G_N_ELEMENTS(references); i++) {
                g_autofree char *ref = g_strdup_printf("{\"$defs\":{\"x\":{\"$ref\":\"%s\"}}}", references[i]);
                g_autofree char *dynamic = g_strdup_printf("{\"$dynamicRef\":\"%s\"}", references[i]);

                refuse(&(Refusal) { ref, -ENOKEY, "schema, at /$defs/x/$ref: the reference" }, NULL);
                refuse(&(Refusal) { dynamic, -ENOKEY, "schema, at /$dynamicRef: the reference" }, NULL);
        }
}

static void test_circle(void) {
        static const Refusal cases[] = {
                { "{\"$ref\":\"#\"}", -ELOOP, "schema, at" },
                { "{\"$defs\":{\"A\":{\"$ref\":\"#/$defs/A\"}}}", -ELOOP, "schema, at /$defs/A" },
                { "{\"$defs\":{\"A\":{\"$ref\":\"#/$defs/B\"},\"B\":{\"allOf\":[{\"$ref\":\"#/$defs/A\"}]}}}", -ELOOP,
                  "schema, at /$defs" },
                { "{\"anyOf\":[{\"type\":\"null\"},{\"$ref\":\"#\"}]}", -ELOOP, "schema, at" },
                { "{\"if\":true,\"else\":{\"$ref\":\"#\"}}", -ELOOP, "schema, at" },
                { "{\"dependentSchemas\":{\"a\":{\"$ref\":\"#\"}}}", -ELOOP, "schema, at" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                refuse(&cases[i], NULL);
        /* Round through the instance is no circle: it ends with the instance. */
        g_assert_cmpint(judge("{\"$ref\":\"#/$defs/A\",\"$defs\":{\"A\":{\"items\":{\"$ref\":\"#/$defs/A\"}}}}", "[[[]]]"),
                        ==, SCHEMA_VALID);
        /* The same subschema reached twice side by side is none either. */
        g_assert_cmpint(judge("{\"allOf\":[{\"$ref\":\"#/$defs/A\"},{\"$ref\":\"#/$defs/A\"}],\"$defs\":{\"A\":{\"$ref\":"
                              "\"#/$defs/B\"},\"B\":{\"type\":\"null\"}}}", "null"), ==, SCHEMA_VALID);
}

static void test_limits(void) {
        SchemaOptions large = { .bytes_max = MIB(4) };
        g_autoptr(GString) heavy = g_string_new("{\"allOf\":[");
        g_autofree char *padding = g_strnfill(TOOL_SCHEMA_BYTES_MAX - 2, ' '), *pattern = NULL, *too_long = NULL;
        g_autofree char *at_edge = g_strconcat("{}", padding, NULL), *over = g_strconcat(at_edge, " ", NULL);
        g_autofree char *many = repeat("{\"allOf\":[", "{}", SCHEMA_SUBSCHEMAS_MAX - 1, ",", "]}");
        g_autofree char *too_many = repeat("{\"allOf\":[", "{}", SCHEMA_SUBSCHEMAS_MAX, ",", "]}");
        g_autofree char *deep = repeat("", "{\"not\":", JSON_DEPTH_MAX + 1, "", "{}");
        g_autofree char *digits = repeat("{\"multipleOf\":0.1", "1", 400, "", "}");
        g_autofree char *a = g_strnfill(SCHEMA_PATTERN_BYTES_MAX, 'a');
        g_autofree char *light = repeat("{\"allOf\":[", "{\"pattern\":\"a\"}", 3900, ",", "]}");

        schema_unref(compile_with(at_edge, NULL));
        refuse(&(Refusal) { over, -E2BIG, "schema: 65537 bytes, at most 65536" }, NULL);
        schema_unref(compile_with(many, &large));
        refuse(&(Refusal) { too_many, -E2BIG, "schema, at /allOf/9999: more than 10000 subschemas" }, &large);
        refuse(&(Refusal) { deep, -E2BIG, "schema, line 1" }, NULL);
        refuse(&(Refusal) { digits, -E2BIG, "schema, at /multipleOf" }, NULL);
        for (int i = 0; i < 1500; i++)
                g_string_append_printf(heavy, "%s{\"pattern\":\"(((a{20}){20}){20})%d\"}", i > 0 ? "," : "", i);
        g_string_append(heavy, "]}");
        refuse(&(Refusal) { heavy->str, -E2BIG, "schema, at /allOf/" }, NULL);
        schema_unref(compile_with(light, NULL));
        pattern = g_strdup_printf("{\"pattern\":\"%s\"}", a);
        too_long = g_strdup_printf("{\"pattern\":\"%sa\"}", a);
        schema_unref(compile_with(pattern, NULL));
        refuse(&(Refusal) { too_long, -E2BIG, "schema, at /pattern" }, NULL);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/schema-refusal/O05-uncompilable", test_uncompilable);
        g_test_add_func("/schema-refusal/SC-02-unknown-type", test_unknown_type);
        g_test_add_func("/schema-refusal/O05-SC-01-SC-07-non-object-root", test_object_root);
        g_test_add_func("/schema-refusal/O05-SC-05-external-reference", test_external);
        g_test_add_func("/schema-refusal/SC-05-circle", test_circle);
        g_test_add_func("/schema-refusal/O05-limits", test_limits);
        return g_test_run();
}
