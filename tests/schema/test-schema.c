/* SPDX-License-Identifier: MIT */

/* Own cases of every group of keywords, and the rules of contract 5.1. The official suite is run by scripts/schema-suite. */

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "judged.h"

typedef struct Case {
        const char *schema;
        const char *valid[4];
        const char *invalid[4];
} Case;

static void run_cases(const Case *cases, size_t n) {
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < 4; j++) {
                        if (cases[i].valid[j] && judge(cases[i].schema, cases[i].valid[j]) != SCHEMA_VALID)
                                g_error("%s should take %s", cases[i].schema, cases[i].valid[j]);
                        if (cases[i].invalid[j] && judge(cases[i].schema, cases[i].invalid[j]) != SCHEMA_INVALID)
                                g_error("%s should refuse %s", cases[i].schema, cases[i].invalid[j]);
                }
}

static void test_values(void) {
        static const Case cases[] = {
                { "true", { "1", "null" }, {} },
                { "false", {}, { "1", "null" } },
                { "{}", { "1", "[]" }, {} },
                { "{\"type\":\"integer\"}", { "1", "1.0", "1e2", "-0.0" }, { "1.5", "\"1\"", "true", "1e-1" } },
                { "{\"type\":\"number\"}", { "1", "1.5" }, { "null" } },
                { "{\"type\":[\"null\",\"array\"]}", { "null", "[]" }, { "{}", "0", "false", "\"\"" } },
                { "{\"const\":1}", { "1", "1.0", "10e-1" }, { "true", "\"1\"", "1.0000000000000000000001" } },
                { "{\"const\":{\"a\":[0,{}]}}", { "{\"a\":[0.0,{}]}" }, { "{\"a\":[false,{}]}", "{\"a\":[0]}" } },
                { "{\"const\":\"a\\u0000b\"}", { "\"a\\u0000b\"" }, { "\"a\"", "\"a\\u0000c\"" } },
                { "{\"enum\":[\"a\",\"bcdefghijklmnopqrst\"]}", { "\"\\u0061\"", "\"bcdefghijklmnopqrst\"" },
                  { "\"b\"", "null", "[\"a\"]" } },
                { "{\"enum\":[]}", {}, { "null", "1" } },
                { "{\"enum\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,{\"x\":1}]}",
                  { "17", "17.0", "{\"x\":1e0}" }, { "18", "{\"x\":2}", "\"1\"" } },
        };

        run_cases(cases, G_N_ELEMENTS(cases));
}

static void test_numbers(void) {
        static const Case cases[] = {
                { "{\"minimum\":1.1}", { "1.10", "2", "\"x\"" }, { "1.09", "-2" } },
                { "{\"maximum\":3}", { "3", "3.0", "-1e300" }, { "3.0000000000000000000000000001", "4" } },
                { "{\"exclusiveMinimum\":0}", { "1e-400", "1" }, { "0", "-0.0" } },
                { "{\"exclusiveMaximum\":9007199254740993}", { "9007199254740992" }, { "9007199254740993" } },
                { "{\"multipleOf\":0.01}", { "4.35", "0", "19.99", "1e300" }, { "4.355", "0.001" } },
                { "{\"multipleOf\":0.0001}", { "0.0075" }, { "0.00751" } },
                { "{\"multipleOf\":3}", { "9", "-9", "111111111111111111111111111" }, { "10", "1e22", "3.1" } },
                { "{\"multipleOf\":0.123456789012345678901234567}",
                  { "0.123456789012345678901234567", "12345678901234567890.1234567" }, { "1", "12345678901234567890" } },
                { "{\"multipleOf\":1e-308}", { "1e308", "3e-308" }, { "1e-309" } },
                { "{\"multipleOf\":12345678901234567890123}", { "1.2345678901234567890123e300" }, { "1e300" } },
        };

        run_cases(cases, G_N_ELEMENTS(cases));
}

static void test_strings(void) {
        static const Case cases[] = {
                { "{\"minLength\":2}", { "\"ab\"", "\"éé\"", "7" }, { "\"é\"", "\"😀\"", "\"\"" } },
                { "{\"maxLength\":2}", { "\"ab\"", "\"😀😀\"" }, { "\"abc\"", "\"ééé\"" } },
                { "{\"maxLength\":2.0}", { "\"ab\"" }, { "\"abc\"" } },
                { "{\"pattern\":\"^a*$\"}", { "\"aaa\"", "\"\"", "5" }, { "\"ab\"", "\"a\\n\"" } },
                { "{\"pattern\":\"b\"}", { "\"abc\"" }, { "\"ac\"", "\"\"" } },
                { "{\"format\":\"date\"}", { "\"never\"" }, {} },
        };

        run_cases(cases, G_N_ELEMENTS(cases));
}

static void test_arrays(void) {
        static const Case cases[] = {
                { "{\"items\":{\"type\":\"integer\"}}", { "[]", "[1,2]", "{}" }, { "[1,\"x\"]" } },
                { "{\"prefixItems\":[{\"type\":\"integer\"},true],\"items\":false}", { "[]", "[1]", "[1,{}]" },
                  { "[\"x\"]", "[1,2,3]" } },
                { "{" DRAFT(7) "\"items\":[{\"type\":\"integer\"}],\"additionalItems\":{\"type\":\"null\"}}",
                  { "[1,null]", "[]" }, { "[1,1]", "[null]" } },
                { "{" DRAFT(7) "\"additionalItems\":false}", { "[1]" }, {} },
                { "{\"contains\":{\"const\":1}}", { "[2,1]", "{}" }, { "[]", "[2]" } },
                { "{\"contains\":{\"const\":1},\"minContains\":2,\"maxContains\":3}", { "[1,1]", "[1,1,1,2]" },
                  { "[1]", "[1,1,1,1]" } },
                { "{\"contains\":{\"const\":1},\"minContains\":0}", { "[]", "[2]" }, {} },
                { "{\"minItems\":1,\"maxItems\":2}", { "[1]", "[1,2]", "\"\"" }, { "[]", "[1,2,3]" } },
                { "{\"uniqueItems\":true}", { "[]", "[1,true]", "[0,false]", "[{\"a\":1,\"b\":2},{\"a\":2,\"b\":1}]" },
                  { "[1,1.0]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]", "[[1],[1]]", "[\"a\",\"\\u0061\"]" } },
                { "{\"uniqueItems\":true}", { "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,\"0\"]" },
                  { "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,0.0]", "[[],1,2,3,4,5,6,7,8,9,10,11,12,13,[]]" } },
        };

        run_cases(cases, G_N_ELEMENTS(cases));
}

static void test_objects(void) {
        static const Case cases[] = {
                { "{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":false}}", { "{\"a\":1}", "{\"c\":0}", "[]" },
                  { "{\"a\":\"\"}", "{\"b\":1}" } },
                { "{\"required\":[\"a\",\"\"]}", { "{\"\":0,\"a\":0}" }, { "{\"a\":0}", "{}" } },
                { "{\"patternProperties\":{\"^x\":{\"type\":\"null\"}},\"additionalProperties\":false}",
                  { "{\"xa\":null}", "{}" }, { "{\"xa\":1}", "{\"a\":null}" } },
                { "{\"properties\":{\"a\":true},\"additionalProperties\":{\"type\":\"null\"}}",
                  { "{\"a\":1,\"b\":null}" }, { "{\"b\":1}" } },
                { "{\"propertyNames\":{\"maxLength\":2}}", { "{\"ab\":1}" }, { "{\"abc\":1}" } },
                { "{\"minProperties\":1,\"maxProperties\":2}", { "{\"a\":1}" }, { "{}", "{\"a\":1,\"b\":1,\"c\":1}" } },
                { "{\"dependentRequired\":{\"a\":[\"b\"]}}", { "{\"b\":1}", "{\"a\":1,\"b\":1}" }, { "{\"a\":1}" } },
                { "{\"dependentSchemas\":{\"a\":{\"minProperties\":2}}}", { "{}", "{\"a\":1,\"b\":1}" }, { "{\"a\":1}" } },
                { "{" DRAFT(7) "\"dependencies\":{\"a\":[\"b\"],\"c\":{\"minProperties\":2}}}",
                  { "{\"a\":1,\"b\":1}", "{\"c\":1,\"d\":1}" }, { "{\"a\":1}", "{\"c\":1}" } },
                { "{\"properties\":{\"__proto__\":{\"type\":\"integer\"}},\"required\":[\"__proto__\"]}",
                  { "{\"__proto__\":1}" }, { "{\"__proto__\":\"\"}", "{}" } },
                { "{\"properties\":{\"a\\u0000b\":false}}", { "{\"a\":1}" }, { "{\"a\\u0000b\":1}" } },
        };

        run_cases(cases, G_N_ELEMENTS(cases));
}

static void test_applicators(void) {
        static const Case cases[] = {
                { "{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", { "1", "2", "\"\"" }, { "0", "3" } },
                { "{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":1}]}", { "null", "1" }, { "0" } },
                { "{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":1}]}", { "0", "1.5" }, { "1", "0.5" } },
                { "{\"not\":{\"type\":\"integer\"}}", { "\"\"", "1.5" }, { "1" } },
                { "{\"not\":false}", { "1" }, {} },
                { "{\"if\":{\"minimum\":1},\"then\":{\"maximum\":2},\"else\":{\"multipleOf\":2}}", { "1.5", "-2" },
                  { "3", "-1" } },
                { "{\"then\":false,\"else\":false}", { "1" }, {} },
                { "{\"$ref\":\"#/$defs/a%25~1b\",\"$defs\":{\"a%/b\":{\"type\":\"null\"}}}", { "null" }, { "1" } },
                { "{\"$ref\":\"#x\",\"maximum\":3,\"$defs\":{\"n\":{\"$anchor\":\"x\",\"minimum\":1}}}", { "2" },
                  { "0", "4" } },
                { "{" DRAFT(7) "\"$ref\":\"#/definitions/n\",\"maximum\":3,\"definitions\":{\"n\":{\"minimum\":1}}}",
                  { "2", "4" }, { "0" } },
                { "{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"additionalProperties\":false}", { "{\"a\":{\"a\":{}}}" },
                  { "{\"a\":{\"b\":{}}}" } },
                { "{\"$id\":\"http://a.example/x/y\",\"$ref\":\"z\",\"$defs\":{\"q\":{\"$id\":\"/x/z\",\"type\":\"null\"}}}",
                  { "null" }, { "1" } },
                { "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}", { "{\"type\":\"string\"}", "true" },
                  { "{\"type\":\"strng\"}", "{\"minLength\":-1}", "1" } },
                { "{\"$ref\":\"http://json-schema.org/draft-07/schema#\"}", { "{\"if\":true}" }, { "{\"if\":1}" } },
        };

        run_cases(cases, G_N_ELEMENTS(cases));
}

static void test_drafts(void) {
        static const Case cases[] = {
                { "{" DRAFT(4) "\"minimum\":1,\"exclusiveMinimum\":true}", { "2" }, { "1" } },
                { "{" DRAFT(4) "\"maximum\":1,\"exclusiveMaximum\":false}", { "1" }, { "2" } },
                { "{" DRAFT(4) "\"const\":1,\"if\":false}", { "2" }, {} },
                { "{" DRAFT(4) "\"id\":\"http://a.example/\",\"$ref\":\"#x\",\"definitions\":{\"x\":{\"id\":\"#x\","
                  "\"type\":\"null\"}}}", { "null" }, { "1" } },
                { "{" DRAFT(6) "\"const\":1,\"if\":true,\"then\":false}", { "1" }, { "2" } },
                { "{" DRAFT(7) "\"unevaluatedProperties\":false,\"dependentRequired\":{\"a\":[\"b\"]}}", { "{\"a\":1}" }, {} },
                { "{" DRAFT_2019 "\"prefixItems\":[false],\"items\":[{\"type\":\"null\"}]}", { "[null,1]" }, { "[1]" } },
                { "{" DRAFT_2019 "\"$recursiveAnchor\":true,\"properties\":{\"a\":{\"$recursiveRef\":\"#\"}},"
                  "\"additionalProperties\":false}", { "{\"a\":{}}" }, { "{\"a\":{\"b\":1}}" } },
                { "{\"items\":{\"type\":\"null\"},\"additionalItems\":false}", { "[null]" }, { "[1]" } },
        };

        run_cases(cases, G_N_ELEMENTS(cases));
}

static void test_unevaluated(void) {
        static const Case cases[] = {
                { "{\"properties\":{\"a\":true},\"allOf\":[{\"properties\":{\"b\":true}}],\"unevaluatedProperties\":false}",
                  { "{\"a\":1,\"b\":1}", "{}", "[]" }, { "{\"c\":1}" } },
                { "{\"anyOf\":[{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"]},{\"properties\":{\"b\":true}}],"
                  "\"unevaluatedProperties\":false}", { "{\"a\":1,\"b\":1}", "{\"b\":1}" }, { "{\"a\":2,\"b\":1}" } },
                { "{\"not\":{\"not\":{\"properties\":{\"a\":true}}},\"unevaluatedProperties\":false}", { "{}" },
                  { "{\"a\":1}" } },
                { "{\"if\":{\"required\":[\"a\"],\"properties\":{\"a\":true}},\"else\":{\"properties\":{\"b\":true}},"
                  "\"unevaluatedProperties\":{\"type\":\"null\"}}", { "{\"a\":1,\"c\":null}", "{\"b\":1}" },
                  { "{\"a\":1,\"b\":1}" } },
                { "{\"prefixItems\":[true],\"contains\":{\"const\":5},\"unevaluatedItems\":false}", { "[1,5,5]", "[5]" },
                  { "[1,5,2]" } },
                { "{" DRAFT_2019 "\"items\":[true],\"contains\":{\"const\":5},\"unevaluatedItems\":false}", { "[5]" },
                  { "[1,5]" } },
                { "{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":{\"$id\":\"t\",\"$dynamicAnchor\":\"n\",\"properties\":{\"kids\":"
                  "{\"items\":{\"$dynamicRef\":\"#n\"}},\"v\":true}}},\"$dynamicAnchor\":\"n\","
                  "\"unevaluatedProperties\":false}", { "{\"kids\":[{\"v\":1}]}" }, { "{\"kids\":[{\"w\":1}]}" } },
        };

        run_cases(cases, G_N_ELEMENTS(cases));
}

static char *explain(const char *schema_text, const char *instance) {
        g_autoptr(Schema) schema = compile_with(schema_text, NULL);
        g_autoptr(Jdoc) doc = parse(instance);

        return schema_explain(schema, jdoc_root(doc));
}

static void test_wording(void) {
        static const char *const cases[][3] = {
                { "{\"properties\":{\"count\":{\"type\":\"integer\"}}}", "{\"count\":\"5\"}",
                  "/count: expected integer, found string \"5\" (type)" },
                { "{\"type\":[\"null\",\"integer\"]}", "1.5", "(root): expected integer or null, found number 1.5 (type)" },
                { "{\"additionalProperties\":false}", "{\"x~/\":1}", "(root): unknown property \"x~/\" (additionalProperties)" },
                { "{\"required\":[\"a\",\"b\"]}", "{}",
                  "(root): the property \"a\" is missing (required); (root): the property \"b\" is missing (required)" },
                { "{\"items\":{\"minimum\":3}}", "[4,2]", "/1: expected at least 3, found 2 (minimum)" },
                { "{\"minLength\":3}", "\"éa\"", "(root): expected at least 3 characters, found 2 (minLength)" },
                { "{\"pattern\":\"^x$\"}", "\"y\"", "(root): expected a match of \"^x$\", found string \"y\" (pattern)" },
                { "{\"enum\":[1,\"a\"]}", "{}", "(root): expected one of 1, \"a\", found object (enum)" },
                { "{\"const\":[1]}", "[2]", "(root): expected the value [1], found array (const)" },
                { "{\"uniqueItems\":true}", "[1,2,1]", "/2: equal to another item, all must be different (uniqueItems)" },
                { "{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}",
                  "/ab: a name that is not allowed: \"ab\" (propertyNames)" },
                { "{\"anyOf\":[{\"type\":\"null\"},{\"properties\":{\"k\":{\"const\":1}}}]}", "{\"k\":2}",
                  "(root): matches none of the 2 alternatives, found object (anyOf); /k: expected the value 1, found number 2 "
                  "(const)" },
                { "{\"oneOf\":[{},{}]}", "1", "(root): matches more than one of the 2 alternatives, found number 1 (oneOf)" },
                { "{\"properties\":{\"a\":{},\"b\":false}}", "{\"b\":1}", "/b: no value is allowed here (false)" },
                { "{\"properties\":{\"a/b\":{\"items\":{\"not\":{}}}}}", "{\"a/b\":[0]}",
                  "/a~1b/0: matches what it must not match (not)" },
                { "{\"unevaluatedProperties\":false}", "{\"z\":1}", "(root): unknown property \"z\" (unevaluatedProperties)" },
                { "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
                  "(root): the property \"b\" is missing (dependentRequired)" },
                { "{\"contains\":{\"const\":1}}", "[]", "(root): expected at least 1 matching items (contains)" },
                { "{\"multipleOf\":0.5}", "0.7", "(root): expected a multiple of 0.5, found 0.7 (multipleOf)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *reasons = explain(cases[i][0], cases[i][1]);

                g_assert_cmpstr(reasons, ==, cases[i][2]);
        }
}

static void test_reasons(void) {
        g_autofree char *seven = explain("{\"items\":{\"type\":\"null\"}}", "[1,1,1,1,1,1,1]");
        g_autofree char *five = explain("{\"items\":{\"type\":\"null\"}}", "[1,1,1,1,1]");
        g_autofree char *three = explain("{\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"m\"],"
                                         "\"additionalProperties\":false}", "{\"n\":\"1\",\"o\":2}");

        g_assert_true(g_str_has_suffix(seven, "/4: expected null, found number 1 (type); and 2 more"));
        g_assert_true(g_str_has_suffix(five, "/4: expected null, found number 1 (type)"));
        g_assert_cmpstr(three, ==,
                        "/n: expected integer, found string \"1\" (type); (root): unknown property \"o\" "
                        "(additionalProperties); (root): the property \"m\" is missing (required)");
}

/* The whole text is bounded whatever is quoted, and never cut inside a character. */
static void test_report_bound(void) {
        g_autoptr(GString) schema = g_string_new("{\"properties\":{"), instance = g_string_new("{");
        g_autofree char *name = g_strnfill(300, 'n'), *reasons = NULL;

        for (int i = 0; i < 7; i++) {
                g_string_append_printf(schema, "%s\"%s€%d\":{\"enum\":[", i ? "," : "", name, i);
                for (int j = 0; j < 10; j++)
                        g_string_append_printf(schema, "%s\"€€€€€€€€€€€€€€€€€€€€€€€%d\"", j ? "," : "", j);
                g_string_append(schema, "]}");
                g_string_append_printf(instance, "%s\"%s€%d\":\"€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€\"", i ? "," : "", name, i);
        }
        g_string_append(schema, "}}");
        g_string_append_c(instance, '}');
        reasons = explain(schema->str, instance->str);
        g_assert_cmpuint(strlen(reasons), <=, SCHEMA_REPORT_BYTES_MAX);
        g_assert_cmpuint(strlen(reasons), >, SCHEMA_REPORT_BYTES_MAX - 600);
        g_assert_true(g_utf8_validate(reasons, -1, NULL));
        g_assert_true(g_str_has_suffix(reasons, "and 2 more"));
}

static void test_safe_text(void) {
        g_autofree char *reasons = explain("{\"additionalProperties\":{\"type\":\"null\"}}",
                        "{\"\\u001b[2J\xe2\x80\xae\":\"\x7f\xc2\x9b\"}");

        for (const char *at = reasons; *at; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                g_assert_true(c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && c != 0x202e);
        }
}

static void test_slow_pattern(void) {
        static const char *const schemas[] = { "{\"pattern\":\"^(a+)+$\"}", "{\"pattern\":\"^(a|a)*\\\\1?$\"}",
                "{\"pattern\":\"^(?=(a+)+$)b\"}", "{\"patternProperties\":{\"^(?!(a+)+$)\":{}}}" };
        g_autofree char *instance = repeat("", "a", 40, "", "!");

        for (size_t i = 0; i < G_N_ELEMENTS(schemas); i++) {
                g_autofree char *json = g_strdup_printf(i == 3 ? "{\"%s\":1}" : "\"%s\"", instance);

                /* An answer, soon: the runner's time limit for tests is the judge. */
                (void) judge(schemas[i], json);
        }
}

static void test_budget(void) {
        SchemaOptions options = { .steps_max = 100 };
        g_autoptr(Schema) schema = compile_with("{\"not\":{\"items\":{\"type\":\"integer\"}}}", &options);
        g_autofree char *long_array = repeat("[", "1", 1000, ",", "]"), *reasons = NULL;
        g_autoptr(Jdoc) small = parse("[1,2]"), large = parse(long_array);

        g_assert_cmpint(schema_validate(schema, jdoc_root(small)), ==, SCHEMA_INVALID);
        /* "not" must not turn giving up into a yes. */
        g_assert_cmpint(schema_validate(schema, jdoc_root(large)), ==, SCHEMA_UNDECIDED);
        reasons = schema_explain(schema, jdoc_root(large));
        g_assert_cmpstr(reasons, ==, "(root): the check was given up: it takes too much work");
}

/* Schemas whose evaluation would double at every level. */
static void test_explosion(void) {
        g_autoptr(GString) schema = g_string_new("{\"$ref\":\"#/$defs/s0\",\"$defs\":{");
        g_autofree char *colliding = NULL, *deep = NULL;

        for (int i = 0; i < 40; i++)
                g_string_append_printf(schema, "\"s%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/s%d\"},{\"$ref\":\"#/$defs/s%d\"}]},", i,
                                i + 1, i + 1);
        g_string_append(schema, "\"s40\":{\"type\":\"null\"}}}");
        g_assert_cmpint(judge(schema->str, "1"), ==, SCHEMA_UNDECIDED);
        g_assert_cmpint(judge(schema->str, "null"), ==, SCHEMA_VALID);

        deep = repeat("", "[", 60, "", "");
        colliding = g_strconcat(deep, "", NULL);
        for (size_t i = 0; i < strlen(colliding); i++)
                colliding[i] = ']';
        {
                g_autofree char *instance = g_strconcat(deep, colliding, NULL);

                (void) judge("{\"$defs\":{\"a\":{\"allOf\":[{\"items\":{\"$ref\":\"#/$defs/a\"}},{\"items\":{\"$ref\":\"#/$defs/a\"}"
                             "}]}},\"$ref\":\"#/$defs/a\"}", instance);
        }
}

static void test_dynamic_depth(void) {
        /* The dynamic scope makes a circle that no look at the schema alone can find: it must end. */
        const char *schema = "{\"$id\":\"r\",\"$ref\":\"x\",\"$defs\":{\"a\":{\"$dynamicAnchor\":\"n\",\"$ref\":\"x\"},"
                             "\"x\":{\"$id\":\"x\",\"$dynamicRef\":\"#n\",\"$defs\":{\"b\":{\"$dynamicAnchor\":\"n\"}}}}}";

        g_assert_cmpint(judge(schema, "1"), ==, SCHEMA_UNDECIDED);
}

static void count_note(const SchemaNote *note, void *userdata) {
        GString *out = userdata;

        g_string_append_printf(out, "%s|%s|%s|%s\n", note->instance, note->keyword, note->schema, note->text);
}

static void test_notes(void) {
        g_autoptr(Schema) schema = compile_with("{\"$id\":\"http://a.example/s\",\"title\":\"T\",\"properties\":{\"a\":{\"anyOf\":[{"
                                                "\"type\":\"null\",\"title\":\"no\"},{\"title\":\"yes\",\"format\":\"date\"}]},"
                                                "\"n\":{\"type\":\"null\"}}}", NULL);
        g_autoptr(Jdoc) good = parse("{\"a\":\"x\"}"), bad = parse("{\"n\":1}");
        g_autoptr(GString) notes = g_string_new(NULL), reasons = g_string_new(NULL);

        g_assert_cmpint(schema_annotate(schema, jdoc_root(good), count_note, notes), ==, SCHEMA_VALID);
        g_assert_cmpstr(notes->str, ==,
                        "|title|http://a.example/s#|\"T\"\n"
                        "/a|title|http://a.example/s#/properties/a/anyOf/1|\"yes\"\n"
                        "/a|format|http://a.example/s#/properties/a/anyOf/1|\"date\"\n");
        g_assert_cmpint(schema_report(schema, jdoc_root(bad), count_note, reasons), ==, SCHEMA_INVALID);
        g_assert_cmpstr(reasons->str, ==, "/n|type|http://a.example/s#/properties/n|expected null, found number 1\n");
        g_string_truncate(notes, 0);
        g_assert_cmpint(schema_annotate(schema, jdoc_root(bad), count_note, notes), ==, SCHEMA_INVALID);
        g_assert_cmpuint(notes->len, ==, 0);
}

static void test_sharing(void) {
        g_autoptr(Schema) schema = compile_with("{\"type\":\"object\"}", NULL), other = schema_ref(schema);
        g_autoptr(Jdoc) doc = parse("[{},{\"a\":1}]");

        /* A part of a document can be judged too; places are seen from there. */
        g_assert_cmpint(schema_validate(other, jval_element(jdoc_root(doc), 1)), ==, SCHEMA_VALID);
        g_assert_cmpint(schema_validate(other, jval_element(jdoc_root(doc), 2)), ==, SCHEMA_INVALID);
        g_assert_cmpint(schema_draft(schema), ==, SCHEMA_DRAFT_2020_12);
        g_assert_null(schema_unref(NULL));
}

static void test_part(void) {
        g_autoptr(Schema) schema = compile_with("{\"properties\":{\"a\":{\"type\":\"null\"}}}", NULL);
        g_autoptr(Jdoc) doc = parse("[{},{\"a\":1}]");
        g_autofree char *reasons = schema_explain(schema, jval_element(jdoc_root(doc), 1));

        g_assert_cmpstr(reasons, ==, "/a: expected null, found number 1 (type)");
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/schema/values", test_values);
        g_test_add_func("/schema/numbers", test_numbers);
        g_test_add_func("/schema/strings", test_strings);
        g_test_add_func("/schema/arrays", test_arrays);
        g_test_add_func("/schema/objects", test_objects);
        g_test_add_func("/schema/SC-04-references-and-applicators", test_applicators);
        g_test_add_func("/schema/drafts", test_drafts);
        g_test_add_func("/schema/unevaluated", test_unevaluated);
        g_test_add_func("/schema/FR-11-wording", test_wording);
        g_test_add_func("/schema/O03-O04-reasons", test_reasons);
        g_test_add_func("/schema/O04-report-bound", test_report_bound);
        g_test_add_func("/schema/safe-text", test_safe_text);
        g_test_add_func("/schema/SC-08-slow-pattern", test_slow_pattern);
        g_test_add_func("/schema/budget", test_budget);
        g_test_add_func("/schema/explosion", test_explosion);
        g_test_add_func("/schema/dynamic-depth", test_dynamic_depth);
        g_test_add_func("/schema/notes", test_notes);
        g_test_add_func("/schema/sharing", test_sharing);
        g_test_add_func("/schema/part-of-a-document", test_part);
        return g_test_run();
}
