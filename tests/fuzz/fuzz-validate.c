/* SPDX-License-Identifier: MIT */

/* The validator: a schema, a NUL, an instance. All ways to ask must agree. */

#include <string.h>

#include "common/limits.h"
#include "fuzz.h"
#include "schema/schema.h"

static void take_note(const SchemaNote *note, void *userdata) {
        size_t *count = userdata;

        MUST(note->instance && note->keyword && note->schema && note->text);
        ++*count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
        SchemaOptions options = { .assert_formats = true, .steps_max = 50000 };
        g_autoptr(Schema) schema = NULL;
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *reasons = NULL;
        SchemaVerdict verdict;
        size_t n_reasons = 0, n_notes = 0;

        if (!end || schema_compile((const char *) data, (size_t) (end - data), &options, &schema, NULL) < 0 ||
                        jdoc_parse((const char *) end + 1, size - (size_t) (end + 1 - data), NULL, &doc, NULL) < 0)
                return 0;

        verdict = schema_validate(schema, jdoc_root(doc));
        MUST(schema_validate(schema, jdoc_root(doc)) == verdict);
        reasons = schema_explain(schema, jdoc_root(doc));
        MUST(!reasons == (verdict == SCHEMA_VALID));
        MUST(!reasons || (strlen(reasons) <= SCHEMA_REPORT_BYTES_MAX && g_utf8_validate(reasons, -1, NULL)));
        MUST(schema_report(schema, jdoc_root(doc), take_note, &n_reasons) == verdict);
        MUST(n_reasons <= SCHEMA_NOTES_MAX && (verdict != SCHEMA_VALID || n_reasons == 0));
        /* Collecting annotations walks further and may run out of steps where the verdict alone did not. */
        if (schema_annotate(schema, jdoc_root(doc), take_note, &n_notes) != verdict)
                MUST(verdict == SCHEMA_VALID);
        return 0;
}
