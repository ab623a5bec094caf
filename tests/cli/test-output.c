/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/review.h"
#include "cli/table.h"
#include "cli/view.h"
#include "common/jdoc.h"

static void test_width(void) {
        static const struct {
                const char *line;
                size_t width;
        } cases[] = { { "", 0 }, { "abc", 3 }, { "é", 1 }, { "你好", 4 }, { "e\u0301", 1 } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpuint(text_width(cases[i].line), ==, cases[i].width);
}

/* The escaped text is the same JSON: it reads back as the same value. */
static void test_json_escape(void) {
        static const struct {
                const char *json, *shown;
        } cases[] = {
                { "{\"a\":1}", "{\"a\":1}" },
                { "[\"\xc2\x9b"
                  "31m\"]",
                                "[\"\\u009b31m\"]" },
                { "[\"\u202e\"]", "[\"\\u202e\"]" },
                { "[\"\U000e0001\"]", "[\"\\udb40\\udc01\"]" },
                { "[\"é你\"]", "[\"é你\"]" },
                { "[1,\n\t2]", "[1,\n\t2]" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *shown = output_json_escape(cases[i].json);
                g_autoptr(Jdoc) before = NULL, after = NULL;

                g_assert_cmpstr(shown, ==, cases[i].shown);
                g_assert_cmpint(jdoc_parse(cases[i].json, strlen(cases[i].json), NULL, &before, NULL), ==,
                                0);
                g_assert_cmpint(jdoc_parse(shown, strlen(shown), NULL, &after, NULL), ==, 0);
                g_assert_true(jval_equal(jdoc_root(before), jdoc_root(after)));
        }
}

static void test_style(void) {
        Cli plain = {}, colour = { .colour = true };
        g_autoptr(GString) out = g_string_new(NULL);

        g_assert_cmpstr(style_on(&plain, STYLE_BAD), ==, "");
        g_assert_cmpstr(style_on(&colour, STYLE_BAD), ==, "\x1b[31m");
        style_append(&colour, out, STYLE_BAD, "a\x1b[2Jb\n");
        g_assert_cmpstr(out->str, ==, "\x1b[31ma\\x1b[2Jb\\x0a\x1b[0m");

        g_assert_cmpint(style_for_word("active"), ==, STYLE_GOOD);
        g_assert_cmpint(style_for_word("enabled-untrusted"), ==, STYLE_WARNING);
        g_assert_cmpint(style_for_word("failed"), ==, STYLE_BAD);
        g_assert_cmpint(style_for_word("whatever"), ==, STYLE_PLAIN);
}

static void test_table(void) {
        static const char *const headings[] = { "NAME", "STATE", "DESCRIPTION", NULL };
        static const char *const rows[][3] = {
                { "counter", "active", "Counts things" },
                { "你好", NULL, "" },
                { "a\x1b[2J", "\xff", "x\ny" },
        };
        g_autoptr(Table) table = table_new(headings);
        g_autoptr(GString) out = g_string_new(NULL);
        Cli cli = {};

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                table_add(table, rows[i]);
        g_assert_cmpuint(table_rows(table), ==, 3);

        table_render(table, &cli, 0, out);
        g_assert_cmpstr(out->str, ==,
                        "NAME      STATE   DESCRIPTION\n"
                        "counter   active  Counts things\n"
                        "你好      -       -\n"
                        "a\\x1b[2J  \\xff    x\\x0ay\n");
}

static void test_table_cut(void) {
        static const char *const headings[] = { "A", "B", NULL };
        static const char *const row[] = { "one", "a long description of something" };
        g_autoptr(Table) table = table_new(headings);
        g_autoptr(GString) out = g_string_new(NULL);
        Cli cli = {};

        table_add(table, row);
        table_render(table, &cli, 20, out);
        g_assert_cmpstr(out->str, ==, "A    B\none  a long descrip…\n");
}

static void check_view(const char *json, const char *expected) {
        g_autoptr(GString) out = g_string_new(NULL);
        g_autoptr(Jdoc) doc = NULL;
        Cli cli = {};

        g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
        view_append(&cli, out, jdoc_root(doc), 0, NULL);
        g_assert_cmpstr(out->str, ==, expected);
}

static void test_view(void) {
        check_view("{\"name\":\"x\",\"content_hash\":\"ab\",\"on\":true,\"n\":1.50,\"none\":null,\"list\":[]"
                   ",\"empty\":\"\"}",
                        "Name:         x\nContent hash: ab\nOn:           yes\nN:            1.50\nNone:    "
                        "     -\n"
                        "List:         none\nEmpty:        -\n");
        check_view("{\"tools\":[\"a\",\"b\"],\"limits\":{\"memory\":{\"max\":1}}}",
                        "Tools: a, b\nLimits:\n  Memory:\n    Max: 1\n");
        check_view("[{\"path\":\"a\",\"size\":1},{\"path\":\"b\",\"size\":2},\"text\"]",
                        "- Path: a\n  Size: 1\n- Path: b\n  Size: 2\ntext\n");
}

/* AP-07, C7: no byte that steers a terminal gets through, and no line of a stranger looks like one of ours.
 */
static void test_view_hostile(void) {
        check_view("{\"a\\u001b[2J\":\"\\u009b31m\\u202e\"}", "A\\x1b[2J: \\x9b31m\\u{202e}\n");
        check_view("{\"text\":\"one\\nTrust: trusted\"}", "Text:\n  │ one\n  │ Trust: trusted\n");
        check_view("{\"text\":\"a\\u0000b\"}", "Text: a\\x00b\n");
        check_view("{\"text\":\"%s%n%08x\"}", "Text: %s%n%08x\n");
}

static void test_view_json(void) {
        static const char json[] = "{\"b\":[1.0,{}],\"a\":{\"x\":\"\u202e\"},\"c\":[]}";
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *text = NULL;

        g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
        text = view_json(jdoc_root(doc));
        g_assert_cmpstr(text, ==,
                        "{\n  \"b\": [\n    1.0,\n    {}\n  ],\n  \"a\": {\n    \"x\": \"\\u202e\"\n  },\n  "
                        "\"c\": []\n}");
}

/* D1, 2.3: a person sees all parts, those of later versions too, and a command for exactly these bytes. */
static void test_review(void) {
        static const char json[] = "{\"identity\":{\"name\":\"counter\",\"description\":\"Counts\\u001b["
                                   "2J\"},\"novelty\":{\"a\":1},"
                                   "\"files\":{\"count\":1,\"bytes\":12,\"list\":[{\"path\":\"a\\u202eb\","
                                   "\"size\":12,\"sha256\":\"ab\",\"executable\":true}]},"
                                   "\"capabilities\":[{\"name\":\"native\",\"words\":\"runs "
                                   "code\",\"active\":false}],\"mcp_servers\":[],\"changes\":null,"
                                   "\"content_hash\":\"ab\",\"capability_hash\":\"cd\",\"token\":\"ab.cd\"}";
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *page = NULL;
        Cli cli = {};

        g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
        page = review_page(&cli, jdoc_root(doc), "counter");
        g_assert_cmpstr(page, ==,
                        "Review of counter\n"
                        "\nNovelty\n  A: 1\n"
                        "\nWhat it says about itself\n  Name:        counter\n  Description: "
                        "Counts\\x1b[2J\n"
                        "\nFiles\n  Count: 1\n  Bytes: 12\nSHA-256  BYTES  RUN  FILE\nab       12     x    "
                        "a\\u{202e}b\n"
                        "\nWhat it asks for\n  - native: runs code (not active here)\n"
                        "\nTo trust exactly this, run:\n  codewhalectl trust counter ab.cd\nTrusting runs "
                        "nothing yet; enabling does.\n");
}

/* Without a token, or with something that is no token, there is no command to copy. */
static void test_review_refused(void) {
        static const char *const cases[] = {
                "{\"refused\":\"manifest-missing: none\"}",
                "{\"token\":\"ab.cd; rm -rf x\"}",
                "{\"token\":\"\"}",
                "{\"token\":7}",
        };
        Cli cli = {};

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = NULL;
                g_autofree char *page = NULL;

                g_assert_cmpint(jdoc_parse(cases[i], strlen(cases[i]), NULL, &doc, NULL), ==, 0);
                page = review_page(&cli, jdoc_root(doc), "counter");
                g_assert_nonnull(strstr(page, "It cannot be trusted as it is:"));
                g_assert_null(strstr(page, "codewhalectl trust"));
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cli/output/width", test_width);
        g_test_add_func("/cli/output/json-escape", test_json_escape);
        g_test_add_func("/cli/output/style", test_style);
        g_test_add_func("/cli/output/table", test_table);
        g_test_add_func("/cli/output/table-cut", test_table_cut);
        g_test_add_func("/cli/output/view", test_view);
        g_test_add_func("/cli/output/AP-07-view-hostile", test_view_hostile);
        g_test_add_func("/cli/output/view-json", test_view_json);
        g_test_add_func("/cli/output/review", test_review);
        g_test_add_func("/cli/output/review-refused", test_review_refused);
        return g_test_run();
}
