/* SPDX-License-Identifier: MIT */

/* Judging a valid instance must not allocate: counts what goes through malloc() and its kin. */

#include <dlfcn.h>
#include <glib.h>
#include <string.h>

#include "schema/schema.h"

#if defined(__SANITIZE_ADDRESS__)
#define COUNTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COUNTS 0
#endif
#endif
#ifndef COUNTS
#define COUNTS 1
#endif

static size_t n_allocations;

#if COUNTS
void *malloc(size_t size) {
        static void *(*next)(size_t);

        if (!next)
                next = (void *(*)(size_t)) dlsym(RTLD_NEXT, "malloc");
        n_allocations++;
        return next(size);
}

void *realloc(void *memory, size_t size) {
        static void *(*next)(void *, size_t);

        if (!next)
                next = (void *(*)(void *, size_t)) dlsym(RTLD_NEXT, "realloc");
        n_allocations++;
        return next(memory, size);
}
#endif

static void test_none(void) {
        static const char schema_text[] =
                        "{\"$defs\":{\"p\":{\"type\":\"object\",\"properties\":{\"mail\":{\"pattern\":\"^[^@]+@(a|b)+$\"}},"
                        "\"required\":[\"mail\"],\"additionalProperties\":false}},\"type\":\"object\",\"properties\":{"
                        "\"n\":{\"type\":\"integer\",\"minimum\":1,\"multipleOf\":0.5},\"e\":{\"enum\":[\"x\",\"y\",1]},"
                        "\"l\":{\"items\":{\"$ref\":\"#/$defs/p\"},\"maxItems\":5,\"uniqueItems\":true,\"contains\":{}},"
                        "\"a\":{\"anyOf\":[{\"type\":\"null\"},{\"const\":\"k\"}]},\"i\":{\"if\":{\"minLength\":1},\"then\":"
                        "{\"maxLength\":9},\"not\":{\"const\":0}},\"u\":{\"allOf\":[{\"properties\":{\"q\":{}}}],"
                        "\"unevaluatedProperties\":false}},\"patternProperties\":{\"^x-\":{\"oneOf\":[{\"type\":\"string\"},"
                        "{\"type\":\"number\"}]}},\"additionalProperties\":false,\"dependentRequired\":{\"n\":[\"e\"]}}";
        static const char text[] = "{\"n\":12.0,\"e\":\"y\",\"l\":[{\"mail\":\"z@ab\"},{\"mail\":\"zz@ba\"}],\"a\":\"k\","
                                   "\"i\":\"abc\",\"u\":{\"q\":1},\"x-1\":\"s\",\"x-2\":3}";
        g_autoptr(Schema) schema = NULL;
        g_autoptr(Jdoc) doc = NULL;
        SchemaVerdict verdict;
        size_t before;

        g_assert_cmpint(schema_compile(schema_text, strlen(schema_text), NULL, &schema, NULL), ==, 0);
        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
        before = n_allocations;
        verdict = schema_validate(schema, jdoc_root(doc));
        before = n_allocations - before;

        if (verdict != SCHEMA_VALID) {
                g_autofree char *reasons = schema_explain(schema, jdoc_root(doc));

                g_error("%s", reasons);
        }
        if (!COUNTS || n_allocations == 0) {
                g_test_skip("allocations cannot be counted here");
                return;
        }
        g_assert_cmpuint(before, ==, 0);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/schema/success-allocates-nothing", test_none);

        return g_test_run();
}
