/* SPDX-License-Identifier: MIT */

/* Measures the reader and the validator: bench-schema-worker FOLDER, then one command a line, one answer a line.
 *
 *   check NAME MSEC      read and validate again and again for so long: {"per_s": …}
 *   read NAME MSEC       only read
 *   json-glib NAME MSEC  the same with json-glib
 *   compile NAME         {"ms": …}
 *   pattern | unique | deep | text   one hard case: {"ms": …} */

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/jdoc.h"
#include "schema/schema.h"

static const char *folder;

static double now(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static char *load(const char *name, const char *suffix, gsize *ret_size) {
        g_autofree char *path = g_strconcat(folder, "/", name, suffix, NULL);
        char *text;

        if (!g_file_get_contents(path, &text, ret_size, NULL))
                g_error("%s: cannot be read", path);
        return text;
}

static Schema *compile(const char *text, size_t size) {
        Schema *schema;

        if (schema_compile(text, size, NULL, &schema, NULL) < 0)
                g_error("the schema does not compile");
        return schema;
}

static void read_once(const char *text, size_t size, const Schema *schema) {
        g_autoptr(Jdoc) doc = NULL;

        if (jdoc_parse(text, size, NULL, &doc, NULL) < 0)
                g_error("the document is refused");
        if (schema && schema_validate(schema, jdoc_root(doc)) != SCHEMA_VALID)
                g_error("the document is not valid");
}

static void read_json_glib(const char *text, size_t size) {
        g_autoptr(JsonParser) parser = json_parser_new();

        if (!json_parser_load_from_data(parser, text, (gssize) size, NULL))
                g_error("json-glib refuses the document");
}

static void rate(const char *what, const char *name, unsigned msec) {
        gsize size, schema_size;
        g_autofree char *text = load(name, ".json", &size), *schema_text = NULL;
        g_autoptr(Schema) schema = NULL;
        size_t batch = 200000 / (size + 100) + 1, n = 0;
        double begin, spent;

        if (g_str_equal(what, "check")) {
                schema_text = load(name, ".schema.json", &schema_size);
                schema = compile(schema_text, schema_size);
        }
        begin = now();
        do {
                for (size_t i = 0; i < batch; i++)
                        if (g_str_equal(what, "json-glib"))
                                read_json_glib(text, size);
                        else
                                read_once(text, size, schema);
                n += batch;
                spent = now() - begin;
        } while (spent < msec / 1000.0);
        printf("{\"per_s\": %.1f}\n", (double) n / spent);
}

static void compile_rate(const char *name) {
        gsize size;
        g_autofree char *text = load(name, ".schema.json", &size);
        double begin = now();

        for (int i = 0; i < 50; i++)
                schema_unref(compile(text, size));
        printf("{\"ms\": %.5f}\n", (now() - begin) * 1000 / 50);
}

/* One instance against one schema; the verdict does not matter, only that there is one. */
static void hard(const char *schema_text, const char *instance, size_t size) {
        g_autoptr(Schema) schema = compile(schema_text, strlen(schema_text));
        JdocLimits limits = { .bytes_max = SIZE_MAX, .depth_max = 64, .nodes_max = SIZE_MAX };
        g_autoptr(Jdoc) doc = NULL;
        double begin = now();

        if (jdoc_parse(instance, size, &limits, &doc, NULL) >= 0)
                (void) schema_validate(schema, jdoc_root(doc));
        printf("{\"ms\": %.5f}\n", (now() - begin) * 1000);
}

static void hard_case(const char *name) {
        g_autoptr(GString) text = g_string_new(NULL);

        if (g_str_equal(name, "pattern"))
                return hard("{\"pattern\":\"^(a+)+$\"}", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"", 31);
        if (g_str_equal(name, "deep")) {
                for (int i = 0; i < 1000000; i++)
                        g_string_append_c(text, '[');
                return hard("{}", text->str, text->len);
        }
        if (g_str_equal(name, "text")) {
                g_string_append_c(text, '"');
                for (int i = 0; i < 128 * 1024 / 4; i++)
                        g_string_append(text, "ab\xc3\xa9");
                g_string_append_c(text, '"');
                return hard("{\"pattern\":\"^(ab|\xc3\xa9)*$\",\"minLength\":1000,\"maxLength\":100000}", text->str,
                                text->len);
        }
        for (int i = 0; i < 10000; i++)
                g_string_append_printf(text, "%c{\"id\":%d,\"name\":\"n%d\"}", i ? ',' : '[', i, i % 7);
        g_string_append_c(text, ']');
        return hard("{\"uniqueItems\":true}", text->str, text->len);
}

int main(int argc, char *argv[]) {
        char line[256];

        if (argc != 2)
                return 2;
        folder = argv[1];
        while (fgets(line, sizeof(line), stdin)) {
                g_auto(GStrv) words = g_strsplit(g_strchomp(line), " ", -1);

                if (g_strv_length(words) == 3)
                        rate(words[0], words[1], (unsigned) atoi(words[2]));
                else if (g_strv_length(words) == 2 && g_str_equal(words[0], "compile"))
                        compile_rate(words[1]);
                else
                        hard_case(words[0]);
                fflush(stdout);
        }
        return 0;
}
