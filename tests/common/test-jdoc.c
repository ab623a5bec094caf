/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "common/jdoc-node.h"
#include "common/jdoc.h"
#include "common/jval-compare.h"
#include "common/limits.h"

static Jdoc *parse(const char *text) {
        JdocError error = {};
        Jdoc *doc = NULL;

        if (jdoc_parse(text, strlen(text), NULL, &doc, &error) < 0)
                g_error("%s: %s at byte %zu", text, error.message, error.byte);
        return doc;
}

typedef struct Refused {
        const char *text;
        size_t size; /* 0: strlen */
        int code;
        size_t byte;
} Refused;

static void refuse(const Refused *c) {
        size_t size = c->size ?: strlen(c->text);
        /* Of exactly this size, so that a read beyond the end shows. */
        g_autofree char *text = g_memdup2(c->text, size);
        JdocError error = {};
        Jdoc *doc = (Jdoc *) 1;
        int r = jdoc_parse(text, size, NULL, &doc, &error);

        if (r != c->code || error.byte != c->byte)
                g_error("'%s': %d at %zu (%s)", c->text, r, error.byte, error.message);
        g_assert_true(doc == (Jdoc *) 1);
        g_assert_nonnull(error.message);
}

static void test_refused(void) {
        static const Refused cases[] = {
                { "", 0, -EBADMSG, 0 },
                { " \n", 0, -EBADMSG, 2 },
                { "nul", 0, -EBADMSG, 0 },
                { "nulL", 0, -EBADMSG, 0 },
                { "true1", 0, -EBADMSG, 4 },
                { "[1][2]", 0, -EBADMSG, 3 },
                { "{} {}", 0, -EBADMSG, 3 },
                { "[1,]", 0, -EBADMSG, 3 },
                { "[,1]", 0, -EBADMSG, 1 },
                { "[1 2]", 0, -EBADMSG, 3 },
                { "[1", 0, -EBADMSG, 2 },
                { "[", 0, -EBADMSG, 1 },
                { "[1}", 0, -EBADMSG, 2 },
                { "{\"a\":1]", 0, -EBADMSG, 6 },
                { "{\"a\":1,}", 0, -EBADMSG, 7 },
                { "{\"a\" 1}", 0, -EBADMSG, 5 },
                { "{\"a\"", 0, -EBADMSG, 4 },
                { "{\"a\":", 0, -EBADMSG, 5 },
                { "{a:1}", 0, -EBADMSG, 1 },
                { "{1:1}", 0, -EBADMSG, 1 },
                { "{'a':1}", 0, -EBADMSG, 1 },
                { "/* c */ [1]", 0, -EBADMSG, 0 },
                { "[1] // c", 0, -EBADMSG, 4 },
                { "var x = [1];", 0, -EBADMSG, 0 },
                { "NaN", 0, -EBADMSG, 0 },
                { "[Infinity]", 0, -EBADMSG, 1 },
                { "[-Infinity]", 0, -EBADMSG, 2 },
                { "[012]", 0, -EBADMSG, 1 },
                { "[-012]", 0, -EBADMSG, 2 },
                { "[0x1F]", 0, -EBADMSG, 2 },
                { "[.5]", 0, -EBADMSG, 1 },
                { "[1.]", 0, -EBADMSG, 3 },
                { "[1.e3]", 0, -EBADMSG, 3 },
                { "[1e]", 0, -EBADMSG, 3 },
                { "[1e+]", 0, -EBADMSG, 4 },
                { "[+1]", 0, -EBADMSG, 1 },
                { "[-]", 0, -EBADMSG, 2 },
                { "-", 0, -EBADMSG, 1 },
                { "[1e400]", 0, -EBADMSG, 1 },
                { "[\"\\x\"]", 0, -EBADMSG, 2 },
                { "[\"\\\0\"]", 5, -EBADMSG, 2 },
                { "[\"\\u12\"]", 0, -EBADMSG, 2 },
                { "[\"\\u12g4\"]", 0, -EBADMSG, 2 },
                { "\"\\u1", 0, -EBADMSG, 1 },
                { "\"\\", 0, -EBADMSG, 1 },
                { "\"abc", 0, -EBADMSG, 0 },
                { "[\"a\nb\"]", 0, -EBADMSG, 3 },
                { "[\"a\0b\"]", 7, -EBADMSG, 3 },
                { "[\"a\tb\"]", 0, -EBADMSG, 3 },
                { "\xef\xbb\xbf[]", 0, -EBADMSG, 0 },
                { "[1]\0", 4, -EBADMSG, 3 },
                { "[\f1]", 0, -EBADMSG, 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                refuse(&cases[i]);
}

static void test_utf8(void) {
        static const Refused cases[] = {
                { "\"\xff\"", 0, -EBADMSG, 1 },
                { "\"\x80\"", 0, -EBADMSG, 1 },
                { "\"\xc0\xaf\"", 0, -EBADMSG, 1 },
                { "\"\xc1\xbf\"", 0, -EBADMSG, 1 },
                { "\"\xe0\x80\x80\"", 0, -EBADMSG, 1 },
                { "\"\xed\xa0\x80\"", 0, -EBADMSG, 1 },
                { "\"\xf0\x8f\xbf\xbf\"", 0, -EBADMSG, 1 },
                { "\"\xf4\x90\x80\x80\"", 0, -EBADMSG, 1 },
                { "\"\xf5\x80\x80\x80\"", 0, -EBADMSG, 1 },
                { "\"\xc3\"", 0, -EBADMSG, 1 },
                { "\"\xe2\x82\"", 0, -EBADMSG, 1 },
                { "\"\xf0\x9f\x98\"", 0, -EBADMSG, 1 },
                { "\"\xc3", 0, -EBADMSG, 1 },
                { "\"\xe2\x82", 0, -EBADMSG, 1 },
                { "\"0123456789abcdef\xe2\x82", 0, -EBADMSG, 17 },
                { "{\"\xff\":1}", 0, -EBADMSG, 2 },
        };
        g_autoptr(Jdoc) doc = parse(
                        "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                refuse(&cases[i]);
        g_assert_cmpuint(jval_length(jdoc_root(doc)), ==, 18);
}

static void test_surrogates(void) {
        static const Refused cases[] = {
                { "{\"t\":\"\\ud83d\"}", 0, -EBADMSG, 6 },
                { "\"\\udc00\"", 0, -EBADMSG, 1 },
                { "\"\\ud83d\\ud83d\"", 0, -EBADMSG, 1 },
                { "\"\\ud83dx\\ude00\"", 0, -EBADMSG, 1 },
                { "\"\\ud83d\\u", 0, -EBADMSG, 1 },
        };
        g_autoptr(Jdoc) doc = parse("\"\\ud83d\\uDE00\"");

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                refuse(&cases[i]);
        g_assert_cmpstr(jval_text(jdoc_root(doc)), ==, "😀");
}

static void test_hardening(void) {
        static const Refused cases[] = {
                { "{\"a\":1,\"a\":2}", 0, -EBADMSG, 7 },
                { "{\"a\":1,\"\\u0061\":2}", 0, -EBADMSG, 7 },
                { "{\"x\":{\"b\":{},\"c\":0,\"b\":[]}}", 0, -EBADMSG, 19 },
                { "{\"\":1,\"\":2}", 0, -EBADMSG, 6 },
                { "1e999", 0, -EBADMSG, 0 },
                { "-1e999", 0, -EBADMSG, 0 },
                { "1e99999999999999999999", 0, -EBADMSG, 0 },
                { "1e-99999999999999999999", 0, -EBADMSG, 0 },
                { "NaN", 0, -EBADMSG, 0 },
        };
        g_autoptr(Jdoc) doc = parse("{\"__proto__\":{},\"constructor\":1}");

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                refuse(&cases[i]);
        g_assert_true(jval_is(jval_member(jdoc_root(doc), "__proto__"), J_OBJECT));
        g_assert_cmpuint(jval_length(jdoc_root(doc)), ==, 2);
}

static void test_nul_in_keys(void) {
        g_autoptr(Jdoc) doc = parse("{\"a\\u0000b\":1,\"a\\u0000c\":2,\"a\":3}");
        int64_t value;

        g_assert_cmpint(jval_int64(jval_member_n(jdoc_root(doc), "a\0c", 3), &value), ==, 0);
        g_assert_cmpint(value, ==, 2);
        g_assert_cmpint(jval_int64(jval_member(jdoc_root(doc), "a"), &value), ==, 0);
        g_assert_cmpint(value, ==, 3);
        refuse(&(Refused){ "{\"a\\u0000b\":1,\"a\\u0000b\":2}", 0, -EBADMSG, 14 });
}

static void test_depth(void) {
        size_t n = 1000000;
        g_autofree char *arrays = g_malloc(n), *objects = g_malloc(5 * n + 1);
        JdocLimits deep = { .bytes_max = SIZE_MAX, .depth_max = 2000000, .nodes_max = 4000000 };
        JdocError error;
        Jdoc *doc = NULL;

        memset(arrays, '[', n);
        for (size_t i = 0; i < n; i++)
                memcpy(objects + 5 * i, "{\"a\":", 6);

        g_assert_cmpint(jdoc_parse(arrays, n, NULL, &doc, &error), ==, -E2BIG);
        g_assert_cmpuint(error.byte, ==, JSON_DEPTH_MAX);
        g_assert_cmpint(jdoc_parse(objects, 5 * n, NULL, &doc, &error), ==, -E2BIG);
        g_assert_cmpuint(error.byte, ==, 5 * JSON_DEPTH_MAX);
        /* Even when allowed it costs memory, not stack. */
        g_assert_cmpint(jdoc_parse(arrays, n, &deep, &doc, &error), ==, -EBADMSG);
        g_assert_cmpuint(error.byte, ==, n);

        memset(arrays + n / 2, ']', n / 2);
        g_assert_cmpint(jdoc_parse(arrays, n, &deep, &doc, &error), ==, 0);
        g_assert_true(jval_equal(jdoc_root(doc), jdoc_root(doc)));
        {
                g_autofree char *canonical = jval_canonical(jdoc_root(doc));

                g_assert_cmpuint(strlen(canonical), ==, n);
        }
        jdoc_free(doc);

        arrays[JSON_DEPTH_MAX - 1] = '[';
        memset(arrays + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
        g_assert_cmpint(jdoc_parse(arrays, 2 * JSON_DEPTH_MAX, NULL, &doc, NULL), ==, 0);
        jdoc_free(doc);
}

static void test_limits(void) {
        JdocLimits limits = { .bytes_max = 7, .depth_max = 2, .nodes_max = 4 };
        Jdoc *doc;

        g_assert_cmpint(jdoc_parse("[1,2,3]", 7, &limits, &doc, NULL), ==, 0);
        jdoc_free(doc);
        g_assert_cmpint(jdoc_parse("[1,2,3] ", 8, &limits, &doc, NULL), ==, -E2BIG);
        g_assert_cmpint(jdoc_parse_copy("[1,2,3] ", 8, &limits, &doc, NULL), ==, -E2BIG);
        g_assert_cmpint(jdoc_parse("[[[]]]", 6, &limits, &doc, NULL), ==, -E2BIG);
        limits.nodes_max = 3;
        g_assert_cmpint(jdoc_parse("[1,2,3]", 7, &limits, &doc, NULL), ==, -E2BIG);
}

static void test_position(void) {
        JdocError error;
        Jdoc *doc;

        g_assert_cmpint(jdoc_parse("{\n  \"a\": 1,\n  \"b\": x\n}", 22, NULL, &doc, &error), ==, -EBADMSG);
        g_assert_cmpuint(error.byte, ==, 19);
        g_assert_cmpuint(error.line, ==, 3);
        g_assert_cmpuint(error.column, ==, 8);
}

static void test_walk(void) {
        g_autoptr(Jdoc) doc =
                        parse(" { \"a\" : [ 1 , { \"b\" : [ ] } , \"x\" ] , \"c\" : { } , \"d\" : null } ");
        Jval root = jdoc_root(doc), key, value;
        static const char *const sources[] = { "[ 1 , { \"b\" : [ ] } , \"x\" ]", "{ }", "null" };
        static const char *const keys[] = { "a", "c", "d" };
        JIter iter = jval_iterate(root);
        size_t i = 0, size;

        for (; jiter_next(&iter, &key, &value); i++) {
                const char *source = jval_source(value, &size);

                g_assert_cmpstr(jval_text(key), ==, keys[i]);
                g_assert_cmpmem(source, size, sources[i], strlen(sources[i]));
        }
        g_assert_cmpuint(i, ==, 3);

        value = jval_element(jval_member(root, "a"), 2);
        g_assert_true(jval_equals_text(value, "x"));
        g_assert_true(jval_is(jval_element(jval_member(root, "a"), 3), J_ABSENT));
        g_assert_true(jval_is(jval_member(root, "e"), J_ABSENT));
        g_assert_true(jval_is(jval_member(value, "e"), J_ABSENT));
        iter = jval_iterate(value);
        g_assert_false(jiter_next(&iter, &key, &value));
        iter = jval_iterate(jval_member(root, "a"));
        g_assert_true(jiter_next(&iter, &key, &value));
        g_assert_true(jval_is(key, J_ABSENT));
}

static void test_strings(void) {
        g_autoptr(Jdoc) doc = parse("[\"\",\"plain\",\"a\\u0000b\",\"\\\"\\\\\\/"
                                    "\\b\\f\\n\\r\\t\",\"\\u00e9\\u20ac\",\"caf\xc3\xa9\"]");
        static const struct {
                const char *bytes;
                size_t size;
        } wanted[] = { { "", 0 }, { "plain", 5 }, { "a\0b", 3 }, { "\"\\/\b\f\n\r\t", 8 }, { "é€", 5 },
                { "café", 5 } };
        JIter iter = jval_iterate(jdoc_root(doc));
        Jval value;

        for (size_t i = 0; jiter_next(&iter, NULL, &value); i++) {
                size_t size;
                const char *bytes = jval_string(value, &size);

                g_assert_cmpmem(bytes, size, wanted[i].bytes, wanted[i].size);
                g_assert_cmpint(bytes[size], ==, '\0');
                g_assert_true(jval_string(value, NULL) == bytes);
                g_assert_cmpuint(jval_length(value), ==, size);
        }
        g_assert_null(jval_text(jval_element(jdoc_root(doc), 2)));
        g_assert_null(jval_string(jdoc_root(doc), NULL));
}

static void test_numbers(void) {
        static const struct {
                const char *text;
                int r;
                int64_t value;
                JNumberClass class;
        } cases[] = {
                { "0", 0, 0, J_INT64 },
                { "-0", 0, 0, J_INT64 },
                { "0e5", 0, 0, J_INT64 },
                { "0E-999999999999999", 0, 0, J_INT64 },
                { "0.0e999999999999999", 0, 0, J_INT64 },
                { "1.0", 0, 1, J_INT64 },
                { "1e2", 0, 100, J_INT64 },
                { "120e-1", 0, 12, J_INT64 },
                { "0.0012e4", 0, 12, J_INT64 },
                { "-999999999", 0, -999999999, J_INT64 },
                { "1000000000", 0, 1000000000, J_INT64 },
                { "9223372036854775807", 0, INT64_MAX, J_INT64 },
                { "-9223372036854775808", 0, INT64_MIN, J_INT64 },
                { "9223372036854775808", -ERANGE, 0, J_BIG_INTEGER },
                { "-9223372036854775809", -ERANGE, 0, J_BIG_INTEGER },
                { "18446744073709551616", -ERANGE, 0, J_BIG_INTEGER },
                { "1e300", -ERANGE, 0, J_BIG_INTEGER },
                { "0.5", -EINVAL, 0, J_REAL },
                { "1e-400", -EINVAL, 0, J_REAL },
                { "123456789.000000001", -EINVAL, 0, J_REAL },
        };
        uint64_t value;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = parse(cases[i].text);
                int64_t whole = 0;
                size_t size;
                const char *text = jval_number_text(jdoc_root(doc), &size);

                g_assert_cmpint(jval_int64(jdoc_root(doc), &whole), ==, cases[i].r);
                g_assert_cmpint(whole, ==, cases[i].value);
                g_assert_cmpint(jval_number_class(jdoc_root(doc)), ==, cases[i].class);
                g_assert_cmpmem(text, size, cases[i].text, strlen(cases[i].text));
        }
        {
                g_autoptr(Jdoc) big = parse("18446744073709551615"), minus = parse("-1");

                g_assert_cmpint(jval_uint64(jdoc_root(big), &value), ==, 0);
                g_assert_cmpuint(value, ==, UINT64_MAX);
                g_assert_cmpint(jval_uint64(jdoc_root(minus), &value), ==, -ERANGE);
        }
}

/* The edge is where a double rounds to infinity. */
static void test_overflow(void) {
        static const char *const fine[] = {
                "1.7976931348623157e308",
                "1.79769313486231580e308",
                "-1.7976931348623157e+308",
                "0.00017976931348623157e312",
                "1797693134862315700000000000000000000000000000000000000000000000000000000000000000000000000"
                "00000000000"
                "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                "0000000000"
                "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                "0000000000"
                "00000",
        };
        static const char *const over[] = { "1.7976931348623159e308", "1.8e308", "2e308", "-1e309",
                "10000000000000000000000000000000000e280" };

        for (size_t i = 0; i < G_N_ELEMENTS(fine); i++) {
                g_autoptr(Jdoc) doc = parse(fine[i]);

                g_assert_true(jval_is(jdoc_root(doc), J_NUMBER));
        }
        for (size_t i = 0; i < G_N_ELEMENTS(over); i++)
                refuse(&(Refused){ over[i], 0, -EBADMSG, 0 });
}

static char *big_object(size_t n, const char *before, const char *after) {
        GString *text = g_string_new("{");

        for (size_t i = 0; i < n; i++)
                g_string_append_printf(text, "%s\"%s%06zu%s\":%zu", i > 0 ? "," : "", before, i, after, i);
        g_string_append_c(text, '}');
        return g_string_free(text, FALSE);
}

/* Names that share their first and last eight bytes and their length all have the same hash. */
static void test_many_keys(void) {
        static const char *const around[][2] = { { "", "" }, { "aaaaaaaa", "bbbbbbbb" } };

        for (size_t f = 0; f < G_N_ELEMENTS(around); f++) {
                g_autofree char *text = big_object(100000, around[f][0], around[f][1]), *twice = NULL;
                g_autoptr(Jdoc) doc = parse(text);
                char *end = strrchr(text, '}');
                Jdoc *none;

                g_assert_cmpuint(jval_length(jdoc_root(doc)), ==, 100000);
                for (unsigned i = 0; i < 100000; i += 7) {
                        g_autofree char *key = g_strdup_printf("%s%06u%s", around[f][0], i, around[f][1]);
                        uint64_t value;

                        g_assert_cmpint(jval_uint64(jval_member(jdoc_root(doc), key), &value), ==, 0);
                        g_assert_cmpuint(value, ==, i);
                }
                g_assert_true(jval_is(jval_member(jdoc_root(doc), "x"), J_ABSENT));

                *end = '\0';
                twice = g_strdup_printf("%s,\"%s000500%s\":0}", text, around[f][0], around[f][1]);
                g_assert_cmpint(jdoc_parse(twice, strlen(twice), NULL, &none, NULL), ==, -EBADMSG);
        }
}

static void test_equal(void) {
        static const struct {
                const char *a, *b;
                bool equal;
        } cases[] = {
                { "1", "1.0", true },
                { "1e0", "10e-1", true },
                { "0", "-0.0", true },
                { "0", "false", false },
                { "1", "true", false },
                { "null", "false", false },
                { "9007199254740993", "9007199254740992", false },
                { "0.1", "0.10000000000000000001", false },
                { "-1", "1", false },
                { "\"a\"", "\"\\u0061\"", true },
                { "\"a\\u0000b\"", "\"a\"", false },
                { "[]", "{}", false },
                { "[1,2]", "[2,1]", false },
                { "[1,2]", "[ 1.0, 20e-1 ]", true },
                { "{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}", true },
                { "{\"a\":1}", "{\"a\":1,\"b\":1}", false },
                { "{\"a\":1,\"c\":1}", "{\"a\":1,\"b\":1}", false },
                { "[{\"a\":[{\"b\":1}]}]", "[{\"a\":[{\"b\":2}]}]", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) a = parse(cases[i].a), b = parse(cases[i].b);
                g_autofree char *x = jval_canonical(jdoc_root(a)), *y = jval_canonical(jdoc_root(b));

                g_assert_cmpint(jval_equal(jdoc_root(a), jdoc_root(b)), ==, cases[i].equal);
                g_assert_cmpint(jval_equal(jdoc_root(b), jdoc_root(a)), ==, cases[i].equal);
                g_assert_cmpint(g_str_equal(x, y), ==, cases[i].equal);
                if (cases[i].equal)
                        g_assert_cmpuint(jval_hash(jdoc_root(a)), ==, jval_hash(jdoc_root(b)));
        }
}

static void test_canonical(void) {
        static const struct {
                const char *text, *canonical;
        } cases[] = {
                { "1e0", "1" },
                { "-0", "0" },
                { "1.50", "1.5" },
                { "-120e-1", "-12" },
                { "100000000000000000000", "100000000000000000000" },
                { "1e21", "1e21" },
                { "1e20", "100000000000000000000" },
                { "12345e20", "1.2345e24" },
                { "1e-5", "0.00001" },
                { "12e-7", "0.0000012" },
                { "12e-8", "1.2e-7" },
                { "1e-999999999", "1e-999999999" },
                { "1234.5", "1234.5" },
                { "[ ]", "[]" },
                { "{ }", "{}" },
                { "{\"b\":[true,null,{}],\"a\\u0000\":\"\\n\\u00e9\\/\",\"a\":false}",
                                "{\"a\":false,\"a\\u0000\":\"\\u000aé/\",\"b\":[true,null,{}]}" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = parse(cases[i].text), again = NULL;
                g_autofree char *canonical = jval_canonical(jdoc_root(doc)), *second = NULL;

                g_assert_cmpstr(canonical, ==, cases[i].canonical);
                again = parse(canonical);
                second = jval_canonical(jdoc_root(again));
                g_assert_cmpstr(second, ==, canonical);
        }
}

/* Line separators of Unicode need no escape and are no white space. */
static void test_line_separators(void) {
        g_autoptr(Jdoc) doc = parse("{\"t\":\"A\xe2\x80\xa8" "B\xe2\x80\xa9" "C\"}");

        g_assert_cmpstr(jval_text(jval_member(jdoc_root(doc), "t")), ==, "A\xe2\x80\xa8" "B\xe2\x80\xa9" "C");
        refuse(&(Refused) { "[1,\xe2\x80\xa8" "2]", 0, -EBADMSG, 3 });
}

static void test_copy(void) {
        char text[] = "[\"abc\"]";
        Jdoc *doc;

        g_assert_cmpint(jdoc_parse_copy(text, strlen(text), NULL, &doc, NULL), ==, 0);
        memset(text, 'x', sizeof(text));
        g_assert_true(jval_equals_text(jval_element(jdoc_root(doc), 0), "abc"));
        jdoc_free(doc);
        g_assert_null(jdoc_free(NULL));
}

/* A node for two bytes is the densest text; nothing may take more than eight times the text. */
static void test_memory(void) {
        g_autoptr(GString) text = g_string_new("[1");
        Jdoc *doc;

        g_assert_cmpuint(sizeof(Jnode), ==, 16);
        for (size_t i = 0; i < 1000000; i++)
                g_string_append(text, ",1");
        g_string_append_c(text, ']');
        g_assert_cmpint(jdoc_parse(text->str, text->len, NULL, &doc, NULL), ==, 0);
        g_assert_cmpuint(jval_length(jdoc_root(doc)), ==, 1000001);
        g_assert_cmpuint(doc->used * sizeof(Jnode), <=, 8 * (text->len + 2));
        jdoc_free(doc);
}

/* Every short text over a small alphabet: the answer is never a crash, and what is taken reads the same
 * again. */
static void test_exhaustive(void) {
        static const char alphabet[] = "[]{}\",:1-.e\\ut \x80\xc3";
        const size_t letters = sizeof(alphabet) - 1;
        size_t taken = 0, total = 0;

        for (size_t length = 1; length <= 4; length++) {
                size_t count = 1;

                for (size_t i = 0; i < length; i++)
                        count *= letters;
                for (size_t n = 0; n < count; n++, total++) {
                        g_autofree char *text = g_malloc(length), *canonical = NULL;
                        g_autoptr(Jdoc) doc = NULL;

                        for (size_t i = 0, rest = n; i < length; i++, rest /= letters)
                                text[i] = alphabet[rest % letters];
                        if (jdoc_parse(text, length, NULL, &doc, NULL) < 0)
                                continue;
                        taken++;
                        canonical = jval_canonical(jdoc_root(doc));
                        jdoc_free(parse(canonical));
                }
        }
        g_assert_cmpuint(taken, >, 50);
        g_assert_cmpuint(taken, <, total / 20);
}

int main(int argc, char *argv[]) {
        setlocale(LC_ALL, "");
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/jdoc/refused", test_refused);
        g_test_add_func("/jdoc/utf8", test_utf8);
        g_test_add_func("/jdoc/FR-08-lone-surrogates", test_surrogates);
        g_test_add_func("/jdoc/FR-16-hardening", test_hardening);
        g_test_add_func("/jdoc/nul-in-keys", test_nul_in_keys);
        g_test_add_func("/jdoc/FR-16-depth", test_depth);
        g_test_add_func("/jdoc/limits", test_limits);
        g_test_add_func("/jdoc/position", test_position);
        g_test_add_func("/jdoc/walk", test_walk);
        g_test_add_func("/jdoc/strings", test_strings);
        g_test_add_func("/jdoc/numbers", test_numbers);
        g_test_add_func("/jdoc/overflow", test_overflow);
        g_test_add_func("/jdoc/many-keys", test_many_keys);
        g_test_add_func("/jdoc/equal", test_equal);
        g_test_add_func("/jdoc/canonical", test_canonical);
        g_test_add_func("/jdoc/FR-05-line-separators", test_line_separators);
        g_test_add_func("/jdoc/copy", test_copy);
        g_test_add_func("/jdoc/memory", test_memory);
        g_test_add_func("/jdoc/exhaustive", test_exhaustive);

        return g_test_run();
}
