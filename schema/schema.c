/* SPDX-License-Identifier: MIT */
#include "common/limits.h"
#include "common/sanitize.h"
#include "schema/evaluate.h"
#include "schema/words.h"

#define PLACE_BYTES_MAX 256u

static const char undecided_text[] = "the check was given up: it takes too much work";

static SchemaVerdict run(const Schema *schema, Jval instance, Report *report, GArray *applied) {
        uint64_t values = (uint64_t) (jnode_next(instance.node) - instance.node);
        uint64_t steps = SCHEMA_STEPS_MAX + SCHEMA_STEPS_PER_VALUE * values + instance.node->size;
        Evaluator evaluator = {
                .schema = schema,
                .doc = instance.doc,
                .steps = schema->options.steps_max ?: steps,
                .careful = schema->dynamic || applied,
                .report = report,
                .applied = applied,
        };
        bool ok = evaluate(&evaluator, schema->root, instance.node, NULL);

        if (evaluator.undecided)
                return SCHEMA_UNDECIDED;
        return ok ? SCHEMA_VALID : SCHEMA_INVALID;
}

SchemaVerdict schema_validate(const Schema *schema, Jval instance) {
        return instance.node ? run(schema, instance, NULL, NULL) : SCHEMA_INVALID;
}

static void put_reason(GString *out, const Reason *reason, Jval instance) {
        g_autofree char *place = reason_place(reason, instance), *text = reason_text(reason, instance.doc);
        g_autofree char *clean = sanitize_line(place, PLACE_BYTES_MAX, NULL);

        g_string_append_printf(out, "%s%s: %s (%s)", out->len > 0 ? "; " : "", *clean ? clean : "(root)", text,
                        reason_keyword(reason));
}

char *schema_explain(const Schema *schema, Jval instance) {
        g_autoptr(GString) out = g_string_new(NULL);
        SchemaVerdict verdict;
        Report report;
        size_t more;

        if (!instance.node)
                return g_strdup("(root): no value");
        /* The verdict first: looking for reasons takes more steps and must not change it. */
        verdict = schema_validate(schema, instance);
        if (verdict == SCHEMA_VALID)
                return NULL;
        if (verdict == SCHEMA_UNDECIDED)
                return g_strconcat("(root): ", undecided_text, NULL);

        report_init(&report);
        (void) run(schema, instance, &report, NULL);
        for (guint i = 0; i < MIN(report.reasons->len, SCHEMA_REASONS_MAX); i++)
                put_reason(out, &g_array_index(report.reasons, Reason, i), instance);
        more = report.reasons->len - MIN(report.reasons->len, SCHEMA_REASONS_MAX) + report.n_left_out;
        report_done(&report);

        if (out->len == 0)
                g_string_append(out, "(root): not valid");
        if (more > 0) {
                g_autofree char *count = g_strdup_printf("; and %zu more", more);
                g_autofree char *cut = sanitize_line(out->str, SCHEMA_REPORT_BYTES_MAX - strlen(count), NULL);

                return g_strconcat(cut, count, NULL);
        }
        return sanitize_line(out->str, SCHEMA_REPORT_BYTES_MAX, NULL);
}

SchemaVerdict schema_report(const Schema *schema, Jval instance, SchemaOnNote on_reason, void *userdata) {
        SchemaVerdict verdict = schema_validate(schema, instance);
        Report report;

        if (verdict == SCHEMA_UNDECIDED)
                on_reason(&(SchemaNote) { "", "", "", undecided_text }, userdata);
        if (verdict != SCHEMA_INVALID || !instance.node)
                return verdict;

        report_init(&report);
        (void) run(schema, instance, &report, NULL);
        for (guint i = 0; i < report.reasons->len; i++) {
                const Reason *reason = &g_array_index(report.reasons, Reason, i);
                g_autofree char *place = reason_place(reason, instance);
                g_autofree char *text = reason_text(reason, instance.doc), *schema_text = subschema_place(reason->sub);

                on_reason(&(SchemaNote) { place, reason_keyword(reason), schema_text, text }, userdata);
        }
        report_done(&report);
        return verdict;
}

static size_t annotate(const Applied *applied, Jval instance, SchemaOnNote on_annotation, void *userdata) {
        static const char *const keywords[] = { "title", "description", "default", "examples", "deprecated",
                "readOnly", "writeOnly", "format", "contentMediaType", "contentEncoding", "contentSchema" };
        const Resource *resource = applied->sub->resource;
        Jval object = { resource->doc, applied->sub->source };
        size_t count = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++) {
                Jval value = jval_member(object, keywords[i]);
                g_autofree char *text = NULL, *place = NULL, *schema_text = NULL;
                const char *source;
                size_t size;

                if (!value.node || !keyword_find(keywords[i], strlen(keywords[i]), resource->draft,
                                                   resource->vocabularies))
                        continue;
                source = jval_source(value, &size);
                text = g_strndup(source, size);
                place = jnode_pointer(instance.doc, instance.node, applied->node);
                schema_text = subschema_place(applied->sub);
                on_annotation(&(SchemaNote) { place, keywords[i], schema_text, text }, userdata);
                count++;
        }
        return count;
}

SchemaVerdict schema_annotate(const Schema *schema, Jval instance, SchemaOnNote on_annotation, void *userdata) {
        g_autoptr(GArray) applied = g_array_new(FALSE, FALSE, sizeof(Applied));
        SchemaVerdict verdict = schema_validate(schema, instance);
        size_t count = 0;

        if (verdict != SCHEMA_VALID)
                return verdict;
        verdict = run(schema, instance, NULL, applied);
        for (guint i = 0; verdict == SCHEMA_VALID && i < applied->len && count < SCHEMA_NOTES_MAX; i++)
                count += annotate(&g_array_index(applied, Applied, i), instance, on_annotation, userdata);
        return verdict;
}
