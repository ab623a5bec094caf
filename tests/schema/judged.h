/* SPDX-License-Identifier: MIT */
#pragma once

/* What the tests of the validator share. */

#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "schema/schema.h"

#define DRAFT(n) "\"$schema\":\"http://json-schema.org/draft-0" #n "/schema#\","
#define DRAFT_2019 "\"$schema\":\"https://json-schema.org/draft/2019-09/schema\","

static inline Jdoc *parse(const char *text) {
        JdocError error;
        Jdoc *doc;

        if (jdoc_parse(text, strlen(text), NULL, &doc, &error) < 0)
                g_error("%s: %s at %zu", text, error.message, error.byte);
        return doc;
}

static inline Schema *compile_with(const char *text, const SchemaOptions *options) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Schema *schema;

        if (schema_compile(text, strlen(text), options, &schema, &error) < 0)
                g_error("%s: %s", text, error.message);
        return schema;
}

static inline SchemaVerdict judge(const char *schema_text, const char *instance) {
        g_autoptr(Schema) schema = compile_with(schema_text, NULL);
        g_autoptr(Jdoc) doc = parse(instance);
        SchemaVerdict verdict = schema_validate(schema, jdoc_root(doc));
        g_autofree char *reasons = schema_explain(schema, jdoc_root(doc));

        g_assert_cmpint(schema_validate(schema, jdoc_root(doc)), ==, verdict);
        g_assert_cmpint(!reasons, ==, verdict == SCHEMA_VALID);
        return verdict;
}

static inline char *repeat(const char *before, const char *part, size_t n, const char *between, const char *after) {
        GString *text = g_string_new(before);

        for (size_t i = 0; i < n; i++)
                g_string_append_printf(text, "%s%s", i > 0 ? between : "", part);
        g_string_append(text, after);
        return g_string_free(text, FALSE);
}
