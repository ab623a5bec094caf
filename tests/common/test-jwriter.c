/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/jdoc.h"
#include "common/jwriter.h"

static char *quoted(const char *text, size_t size) {
        JWriter writer;

        jwriter_init(&writer);
        jwriter_string_n(&writer, text, size);
        return jwriter_steal(&writer, NULL);
}

typedef struct Case {
        const char *id;
        const char *text;
        size_t size;
        const char *expected;
} Case;

#define TEXT(literal) literal, sizeof literal - 1

static const Case string_cases[] = {
        { "plain", TEXT("Grüße"), "\"Grüße\"" },
        { "empty", TEXT(""), "\"\"" },
        { "quotes", TEXT("a\"b\\c/"), "\"a\\\"b\\\\c/\"" },
        { "newline", TEXT("a\nb\tc"), "\"a\\nb\\u0009c\"" },
        { "AP-07-controls", TEXT("\x1b[2J\x7f"), "\"\\u001b[2J\x7f\"" },
        { "nul", TEXT("a\0b\0"), "\"a\\u0000b\\u0000\"" },
        { "DB-03-invalid-utf8", TEXT("a\xff\xfe" "b"), "\"a\xef\xbf\xbd\xef\xbf\xbd" "b\"" },
        { "invalid-after-nul", TEXT("a\0\xff"), "\"a\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "surrogate", TEXT("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "DB-16-format", TEXT("%s%n%08x"), "\"%s%n%08x\"" },
};

static void test_string(const void *data) {
        const Case *row = data;
        g_autofree char *text = quoted(row->text, row->size);
        g_autoptr(Jdoc) doc = NULL;

        g_assert_cmpstr(text, ==, row->expected);
        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
}

static void test_shape(void) {
        g_auto(JWriter) writer = {};
        g_autofree char *text = NULL;
        g_autoptr(Jdoc) doc = NULL;
        size_t size;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "s", "x");
        jwriter_member_string(&writer, "absent", NULL);
        jwriter_member_int(&writer, "i", INT64_MIN);
        jwriter_member_uint(&writer, "u", UINT64_MAX);
        jwriter_member_boolean(&writer, "t", true);
        jwriter_member_boolean(&writer, "f", false);
        jwriter_member_raw(&writer, "raw", "{ \"n\": 1.50e+02 }");
        jwriter_key(&writer, "list");
        jwriter_begin_array(&writer);
        jwriter_null(&writer);
        jwriter_begin_object(&writer);
        jwriter_end_object(&writer);
        jwriter_begin_array(&writer);
        jwriter_end_array(&writer);
        jwriter_int(&writer, -1);
        jwriter_end_array(&writer);
        jwriter_key(&writer, "k\"ey");
        jwriter_null(&writer);
        jwriter_end_object(&writer);
        text = jwriter_steal(&writer, &size);

        g_assert_cmpstr(text, ==,
                        "{\"s\":\"x\",\"absent\":null,\"i\":-9223372036854775808,\"u\":18446744073709551615,\"t\":true,"
                        "\"f\":false,\"raw\":{ \"n\": 1.50e+02 },\"list\":[null,{},[],-1],\"k\\\"ey\":null}");
        g_assert_cmpuint(size, ==, strlen(text));
        g_assert_cmpint(jdoc_parse(text, size, NULL, &doc, NULL), ==, 0);
}

/* Commas are remembered by level, so deep and wide must not disturb each other. */
static void test_depth(void) {
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *text = NULL;
        JWriter writer;
        size_t size;

        jwriter_init(&writer);
        for (int i = 0; i < JWRITER_DEPTH_MAX - 1; i++) {
                jwriter_begin_array(&writer);
                jwriter_int(&writer, i);
        }
        for (int i = 0; i < JWRITER_DEPTH_MAX - 1; i++) {
                jwriter_int(&writer, i);
                jwriter_end_array(&writer);
        }
        text = jwriter_steal(&writer, &size);
        g_assert_true(g_str_has_prefix(text, "[0,[1,[2,"));
        g_assert_true(g_str_has_suffix(text, "],61],62]"));
        g_assert_cmpint(jdoc_parse(text, size, NULL, &doc, NULL), ==, 0);
}

static void test_dropped(void) {
        JWriter writer;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_done(&writer);
        jwriter_done(&writer);
        g_assert_null(writer.out);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(string_cases); i++) {
                g_autofree char *path = g_strdup_printf("/jwriter/string/%s", string_cases[i].id);

                g_test_add_data_func(path, &string_cases[i], test_string);
        }
        g_test_add_func("/jwriter/shape", test_shape);
        g_test_add_func("/jwriter/depth", test_depth);
        g_test_add_func("/jwriter/dropped", test_dropped);
        return g_test_run();
}
