/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "policy/trace.h"

static const char *const layer_table[_DECISION_LAYER_MAX] = {
        [LAYER_CONFIGURATION] = "configuration",
        [LAYER_ADMISSION] = "admission",
        [LAYER_HOOKS] = "hooks",
        [LAYER_BASELINE] = "baseline",
        [LAYER_RULES] = "rules",
        [LAYER_AUTO_REVIEW] = "auto-review",
        [LAYER_REPOSITORY_LAW] = "repository-law",
        [LAYER_APPROVAL] = "approval",
        [LAYER_ENVELOPE] = "envelope",
};

static const char *const verdict_table[_VERDICT_MAX] = {
        [VERDICT_ALLOW] = "allow",
        [VERDICT_ASK] = "ask",
        [VERDICT_DENY] = "deny",
        [VERDICT_NOTE] = "note",
};

struct Trace {
        GArray *steps;
        size_t dropped;
};

const char *decision_layer_to_string(DecisionLayer layer) {
        return layer >= 0 && layer < _DECISION_LAYER_MAX ? layer_table[layer] : NULL;
}

const char *verdict_to_string(Verdict verdict) {
        return verdict >= 0 && verdict < _VERDICT_MAX ? verdict_table[verdict] : NULL;
}

static void step_clear(void *data) {
        TraceStep *step = data;

        g_free(step->source);
        g_free(step->why);
        g_free(step->at);
}

Trace *trace_new(void) {
        Trace *trace = g_new0(Trace, 1);

        trace->steps = g_array_sized_new(FALSE, FALSE, sizeof(TraceStep), 8);
        g_array_set_clear_func(trace->steps, step_clear);
        return trace;
}

Trace *trace_free(Trace *trace) {
        if (!trace)
                return NULL;

        g_array_unref(trace->steps);
        g_free(trace);
        return NULL;
}

/* What people write often ends in a full stop. Here a source follows it, and then ours. */
static void drop_full_stop(char *text) {
        size_t size = strlen(text);

        if (size > 1 && text[size - 1] == '.' && text[size - 2] != '.')
                text[size - 1] = '\0';
}

void trace_add(Trace *trace, DecisionLayer layer, Verdict verdict, const char *source, const char *format,
                ...) {
        g_autofree char *why = NULL;
        TraceStep step = { .layer = layer, .verdict = verdict };
        SanitizeFlags of_source = 0, of_why = 0;
        va_list arguments;

        assert(trace);
        assert(source);
        if (trace->steps->len >= TRACE_STEPS_MAX) {
                trace->dropped++;
                return;
        }

        va_start(arguments, format);
        why = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        step.source = sanitize_line(source, TRACE_SOURCE_BYTES_MAX, &of_source);
        step.why = sanitize_line(why, TRACE_WHY_BYTES_MAX, &of_why);
        drop_full_stop(step.why);
        step.escaped = of_source != 0 || of_why != 0;
        g_array_append_val(trace->steps, step);
}

void trace_at(Trace *trace, const char *at) {
        TraceStep *step;

        /* A step that was counted and not kept has no place either. */
        if (!at || trace->steps->len == 0 || trace->dropped > 0)
                return;

        step = &g_array_index(trace->steps, TraceStep, trace->steps->len - 1);
        g_free(step->at);
        step->at = sanitize_line(at, TRACE_SOURCE_BYTES_MAX, NULL);
}

size_t trace_length(const Trace *trace) {
        return trace->steps->len;
}

const TraceStep *trace_step(const Trace *trace, size_t index) {
        return index < trace->steps->len ? &g_array_index(trace->steps, TraceStep, index) : NULL;
}

const TraceStep *trace_last(const Trace *trace) {
        for (size_t i = trace->steps->len; i > 0; i--) {
                const TraceStep *step = trace_step(trace, i - 1);

                if (step->verdict != VERDICT_NOTE)
                        return step;
        }
        return NULL;
}

static void write_step(const TraceStep *step, JWriter *writer) {
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "layer", decision_layer_to_string(step->layer));
        jwriter_member_string(writer, "verdict", verdict_to_string(step->verdict));
        jwriter_member_string(writer, "source", step->source);
        jwriter_member_string(writer, "why", step->why);
        if (step->at)
                jwriter_member_string(writer, "at", step->at);
        jwriter_end_object(writer);
}

void trace_write(const Trace *trace, JWriter *writer) {
        jwriter_begin_array(writer);
        for (size_t i = 0; i < trace->steps->len; i++)
                write_step(trace_step(trace, i), writer);
        if (trace->dropped > 0) {
                jwriter_begin_object(writer);
                jwriter_member_uint(writer, "dropped", trace->dropped);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

void trace_write_layer(const Trace *trace, DecisionLayer layer, JWriter *writer) {
        jwriter_begin_array(writer);
        for (size_t i = 0; i < trace->steps->len; i++)
                if (trace_step(trace, i)->layer == layer)
                        write_step(trace_step(trace, i), writer);
        jwriter_end_array(writer);
}

char *trace_to_json(const Trace *trace) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        trace_write(trace, &writer);
        return jwriter_steal(&writer, NULL);
}
