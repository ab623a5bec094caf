/* SPDX-License-Identifier: MIT */

/* The compiler: any text as a schema, in each draft. What compiles must give the same verdict twice, on itself too. */

#include "common/cleanup.h"
#include "fuzz.h"
#include "schema/schema.h"

static void judge(const Schema *schema, const char *text, size_t size) {
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *reasons = NULL;
        SchemaVerdict verdict;

        if (jdoc_parse(text, size, NULL, &doc, NULL) < 0)
                return;
        verdict = schema_validate(schema, jdoc_root(doc));
        MUST(schema_validate(schema, jdoc_root(doc)) == verdict);
        reasons = schema_explain(schema, jdoc_root(doc));
        MUST(!reasons == (verdict == SCHEMA_VALID));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const char instance[] = "{\"a\":[1,\"x\",null,{\"b\":true}],\"\":-0.5}";

        for (int draft = 0; draft < _SCHEMA_DRAFT_MAX; draft++) {
                SchemaOptions options = { .draft = (SchemaDraft) draft, .assert_formats = draft == 0, .steps_max = 20000 };
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_autoptr(Schema) schema = NULL;

                if (schema_compile((const char *) data, size, &options, &schema, &error) < 0) {
                        MUST(error.name && error.message);
                        continue;
                }
                judge(schema, instance, sizeof(instance) - 1);
                judge(schema, (const char *) data, size);
        }
        return 0;
}
