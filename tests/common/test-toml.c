/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "common/jdoc.h"
#include "common/toml.h"

static void test_json(void) {
        static const struct {
                const char *toml, *json;
        } cases[] = {
                { "", "{}" },
                { "a = 1\nb = [1, 2.5, \"x\\n\\\"\", true]\n", "{\"a\":1,\"b\":[1,2.5,\"x\\n\\\"\",true]}" },
                { "[t]\nk = { x = {} }\n", "{\"t\":{\"k\":{\"x\":{}}}}" },
                { "[[r]]\na = 1\n[[r]]\n", "{\"r\":[{\"a\":1},{}]}" },
                { "a.b.c = -9223372036854775808\n", "{\"a\":{\"b\":{\"c\":-9223372036854775808}}}" },
                { "d = 2026-11-30\n", "{\"d\":\"2026-11-30\"}" },
                { "\"\" = 1\n\"a b\" = 0x10\n", "{\"\":1,\"a b\":16}" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *json = NULL;
                g_autoptr(Jdoc) doc = NULL, expected = NULL;
                TomlError error = {};

                g_test_message("%s", cases[i].toml);
                g_assert_cmpint(toml_to_json(cases[i].toml, strlen(cases[i].toml), &json, &error), ==, 0);
                g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
                g_assert_cmpint(jdoc_parse(cases[i].json, strlen(cases[i].json), NULL, &expected, NULL), ==, 0);
                g_assert_true(jval_equal(jdoc_root(doc), jdoc_root(expected)));
        }
}

static void test_refused(void) {
        static const struct {
                const char *toml;
                size_t line;
        } cases[] = {
                { "a = 1\na = 2\n", 2 }, { "\n\n[x\n", 3 }, { "a = nan\n", 1 }, { "b = 1\n[x]\na = [1.0, -inf]\n", 3 }, { "[[[\n", 1 }, { "a = '\xff'\n", 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                TomlLines *lines = NULL;
                TomlError error = {};
                char *json = NULL;

                g_test_message("%s", cases[i].toml);
                g_assert_cmpint(toml_to_json_lines(cases[i].toml, strlen(cases[i].toml), &json, &lines, &error), ==, -EBADMSG);
                g_assert_null(json);
                g_assert_null(lines);
                g_assert_cmpuint(error.line, ==, cases[i].line);
                g_assert_cmpstr(error.description, !=, "");
                g_test_message("%s", error.detail);
        }
}

static size_t line_of(const TomlLines *lines, Jval value) {
        size_t size;

        return toml_lines_find(lines, (size_t) (jval_source(value, &size) - jval_source(jdoc_root(value.doc), &size)), NULL);
}

/* Members come in the order of the JSON, which is not that of the file. */
static void test_lines(void) {
        static const char toml[] =
                        "# a comment\n"          /* 1 */
                        "zebra = 1\n"            /* 2 */
                        "\n"                     /* 3 */
                        "[[rule]]\n"             /* 4 */
                        "outcome = \"deny\"\n"   /* 5 */
                        "  [[ rule ]]\n"         /* 6 */
                        "why = '''\n"            /* 7 */
                        "two lines'''\n"         /* 8 */
                        "tool = \"x\"\n"         /* 9 */
                        "[commands]\n"           /* 10 */
                        "deny = [\n"             /* 11 */
                        "  \"a\",\n"             /* 12 */
                        "  \"b\",\n"             /* 13 */
                        "]\n"                    /* 14 */
                        "[deep.er]\n"            /* 15 */
                        "x = 1\n";               /* 16 */
        g_autoptr(TomlLines) lines = NULL;
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *json = NULL;
        TomlError error;
        Jval root, rules, deny;

        g_assert_cmpint(toml_to_json_lines(toml, strlen(toml), &json, &lines, &error), ==, 0);
        g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
        root = jdoc_root(doc);
        rules = jval_member(root, "rule");
        deny = jval_member(jval_member(root, "commands"), "deny");
        g_assert_cmpuint(line_of(lines, jval_member(root, "zebra")), ==, 2);
        g_assert_cmpuint(line_of(lines, jval_element(rules, 0)), ==, 4);
        g_assert_cmpuint(line_of(lines, jval_member(jval_element(rules, 0), "outcome")), ==, 5);
        g_assert_cmpuint(line_of(lines, jval_element(rules, 1)), ==, 6);
        g_assert_cmpuint(line_of(lines, jval_member(jval_element(rules, 1), "why")), ==, 7);
        g_assert_cmpuint(line_of(lines, jval_member(jval_element(rules, 1), "tool")), ==, 9);
        g_assert_cmpuint(line_of(lines, jval_member(root, "commands")), ==, 10);
        g_assert_cmpuint(line_of(lines, deny), ==, 11);
        g_assert_cmpuint(line_of(lines, jval_element(deny, 1)), ==, 13);
        g_assert_cmpuint(line_of(lines, jval_member(jval_member(jval_member(root, "deep"), "er"), "x")), ==, 16);

        g_assert_cmpuint(toml_lines_find(NULL, 0, NULL), ==, 0);
        g_assert_null(toml_lines_free(NULL));
}

/* A key has a line too: it is what an unknown member is about. */
static void test_lines_of_keys(void) {
        static const char toml[] = "[t]\n\nknown = [\n1]\nmisspelt\n = 2\n";
        static const char fine[] = "[t]\n\nknown = [\n1]\nmisspelt = 2\n";
        g_autoptr(TomlLines) lines = NULL;
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *json = NULL;
        TomlError error;
        Jval key, value;
        JIter iter;

        g_assert_cmpint(toml_to_json_lines(toml, strlen(toml), &json, &lines, &error), ==, -EBADMSG);
        g_assert_cmpint(toml_to_json_lines(fine, strlen(fine), &json, &lines, &error), ==, 0);
        g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
        iter = jval_iterate(jval_member(jdoc_root(doc), "t"));
        while (jiter_next(&iter, &key, &value))
                g_assert_cmpuint(line_of(lines, key), ==, jval_equals_text(key, "known") ? 3 : 5);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/common/toml/json", test_json);
        g_test_add_func("/common/toml/refused", test_refused);
        g_test_add_func("/common/toml/lines", test_lines);
        g_test_add_func("/common/toml/lines-of-keys", test_lines_of_keys);
        return g_test_run();
}
