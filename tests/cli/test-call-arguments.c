/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "cli/call-arguments.h"
#include "common/limits.h"

static const char schema_text[] =
                "{\"type\":\"object\",\"properties\":{\"label\":{\"type\":\"string\"},\"list\":{\"type\":["
                "\"string\"]},"
                "\"n\":{\"type\":\"integer\"},\"any\":{},\"both\":{\"type\":[\"string\",\"number\"]}}}";

typedef struct Case {
        const char *words[5];
        const char *json; /* NULL: refused */
        const char *says;
} Case;

static void check(const Case *row, Jval schema) {
        g_autofree char *json = NULL, *error = NULL;
        int n = (int) g_strv_length((char **) row->words);
        int r;

        g_test_message("%s", n > 0 ? row->words[0] : "(nothing)");
        r = call_arguments_build((char **) row->words, n, schema, &json, &error);
        g_assert_cmpint(r, ==, row->json ? 0 : -EINVAL);
        g_assert_cmpstr(json, ==, row->json);
        if (row->says)
                g_assert_nonnull(strstr(error, row->says));
}

static void test_pairs(void) {
        static const Case cases[] = {
                { { NULL }, "{}", NULL },
                { { "label=first" }, "{\"label\":\"first\"}", NULL },
                { { "a=true", "b=false", "c=null" }, "{\"a\":true,\"b\":false,\"c\":null}", NULL },
                { { "n=3", "f=-1.5e3" }, "{\"n\":3,\"f\":-1.5e3}", NULL },
                { { "big=123456789012345678901234567890" }, "{\"big\":123456789012345678901234567890}",
                                NULL },
                { { "a=[1,2]", "o={\"x\":1}" }, "{\"a\":[1,2],\"o\":{\"x\":1}}", NULL },
                { { "s=\"3\"" }, "{\"s\":\"3\"}", NULL },
                { { "a=" }, "{\"a\":\"\"}", NULL },
                { { "a=b=c" }, "{\"a\":\"b=c\"}", NULL },
                { { "a=01" }, "{\"a\":\"01\"}", NULL },
                { { "a=True" }, "{\"a\":\"True\"}", NULL },
                { { "a=[1" }, "{\"a\":\"[1\"}", NULL },
                { { "a=say \"hi\"\n" }, "{\"a\":\"say \\\"hi\\\"\\n\"}", NULL },
                { { "a:=3" }, "{\"a\":3}", NULL },
                { { "a:=\"x\"" }, "{\"a\":\"x\"}", NULL },
                { { "a:=x" }, NULL, "What stands behind \"a:=\" is not JSON" },
                { { "a=1", "a=2" }, NULL, "\"a\" is given twice" },
                { { "=1" }, NULL, "no KEY=VALUE" },
                { { ":=1" }, NULL, "no KEY=VALUE" },
                { { "word" }, NULL, "\"word\" is no KEY=VALUE" },
                { { "a=1", "{}" }, NULL, "no KEY=VALUE" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                check(&cases[i], (Jval){});
}

static void test_schema(void) {
        static const Case cases[] = {
                { { "label=3" }, "{\"label\":\"3\"}", NULL },
                { { "label=true" }, "{\"label\":\"true\"}", NULL },
                { { "label={}" }, "{\"label\":\"{}\"}", NULL },
                { { "label:=3" }, "{\"label\":3}", NULL },
                { { "list=3" }, "{\"list\":\"3\"}", NULL },
                { { "n=3", "any=3", "both=3", "unknown=3" }, "{\"n\":3,\"any\":3,\"both\":3,\"unknown\":3}",
                                NULL },
        };
        g_autoptr(Jdoc) doc = NULL;

        g_assert_cmpint(jdoc_parse(schema_text, strlen(schema_text), NULL, &doc, NULL), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                check(&cases[i], jdoc_root(doc));
}

/* What is JSON travels byte by byte. */
static void test_json(void) {
        static const Case cases[] = {
                { { "{}" }, "{}", NULL },
                { { "{ \"b\": 1.0, \"a\": 1e2 }" }, "{ \"b\": 1.0, \"a\": 1e2 }", NULL },
                { { "{\"a\":1,\"a\":2}" }, NULL, "not JSON" },
                { { "{\"a\":}" }, NULL, "line 1, column" },
                { { "{}", "x=1" }, NULL, "Nothing may follow \"{}\"" },
                { { "{} {}" }, NULL, "not JSON" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                check(&cases[i], (Jval){});
}

static char *write_file(const char *text, size_t size) {
        g_autoptr(GError) error = NULL;
        g_autofree char *name = NULL;
        int fd = g_file_open_tmp("call-arguments-XXXXXX", &name, &error);

        g_assert_no_error(error);
        (void) close(fd);
        g_assert_true(g_file_set_contents(name, text, (gssize) size, &error));
        return g_steal_pointer(&name);
}

static void test_file(void) {
        static const struct {
                const char *text, *says;
        } cases[] = {
                { "{\"a\":1}\n", NULL },
                { "[1]", "must be one JSON object, not array" },
                { "", "not JSON" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *name = write_file(cases[i].text, strlen(cases[i].text));
                g_autofree char *word = g_strconcat("@", name, NULL), *json = NULL, *error = NULL;
                char *words[] = { word, NULL };
                int r = call_arguments_build(words, 1, (Jval){}, &json, &error);

                (void) unlink(name);
                g_assert_cmpint(r, ==, cases[i].says ? -EINVAL : 0);
                g_assert_cmpstr(json, ==, cases[i].says ? NULL : cases[i].text);
                g_assert_true(!cases[i].says || strstr(error, cases[i].says));
        }
}

static void test_file_missing(void) {
        char *words[] = { (char *) "@/nonexistent/arguments.json", NULL };
        g_autofree char *json = NULL, *error = NULL;

        g_assert_cmpint(call_arguments_build(words, 1, (Jval){}, &json, &error), ==, -ENOENT);
        g_assert_nonnull(strstr(error, "Cannot read /nonexistent/arguments.json"));
        g_assert_null(json);
}

static void test_file_large(void) {
        size_t size = CALL_ARGUMENTS_BYTES_MAX + 1;
        g_autofree char *text = g_strnfill(size, ' ');
        g_autofree char *name = write_file(text, size), *word = g_strconcat("@", name, NULL);
        g_autofree char *json = NULL, *error = NULL;
        char *words[] = { word, NULL };
        int r = call_arguments_build(words, 1, (Jval){}, &json, &error);

        (void) unlink(name);
        g_assert_cmpint(r, ==, -EFBIG);
        g_assert_nonnull(strstr(error, "at most 8388608 bytes"));
}

/* A NUL in a string can't travel in a bus string; the reader sees it as an escape only. */
static void test_nul(void) {
        g_autofree char *name = write_file("{\"a\":\"\0\"}", 9), *word = g_strconcat("@", name, NULL);
        g_autofree char *json = NULL, *error = NULL;
        char *words[] = { word, NULL };
        int r = call_arguments_build(words, 1, (Jval){}, &json, &error);

        (void) unlink(name);
        g_assert_cmpint(r, ==, -EINVAL);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cli/call-arguments/pairs", test_pairs);
        g_test_add_func("/cli/call-arguments/schema", test_schema);
        g_test_add_func("/cli/call-arguments/json", test_json);
        g_test_add_func("/cli/call-arguments/file", test_file);
        g_test_add_func("/cli/call-arguments/file-missing", test_file_missing);
        g_test_add_func("/cli/call-arguments/file-large", test_file_large);
        g_test_add_func("/cli/call-arguments/DB-15-nul", test_nul);
        return g_test_run();
}
