/* SPDX-License-Identifier: MIT */
#pragma once

/* The story of one decision: each layer that decided something leaves who, what and why (contract 5.7, pains
 * C12). */

#include <errno.h>
#include <glib.h>
#include <stddef.h>

#include "common/jwriter.h"

/* The nine layers of contract 5.7, in order. */
typedef enum DecisionLayer {
        LAYER_CONFIGURATION,
        LAYER_ADMISSION,
        LAYER_HOOKS,
        LAYER_BASELINE,
        LAYER_RULES,
        LAYER_AUTO_REVIEW,
        LAYER_REPOSITORY_LAW,
        LAYER_APPROVAL,
        LAYER_ENVELOPE,
        _DECISION_LAYER_MAX,
        _DECISION_LAYER_INVALID = -EINVAL,
} DecisionLayer;

typedef enum Verdict {
        VERDICT_ALLOW,
        VERDICT_ASK,
        VERDICT_DENY,
        VERDICT_NOTE, /* in a trace only: the layer saw something and changed nothing */
        _VERDICT_MAX,
        _VERDICT_INVALID = -EINVAL,
} Verdict;

const char *decision_layer_to_string(DecisionLayer layer);
const char *verdict_to_string(Verdict verdict);

typedef struct TraceStep {
        DecisionLayer layer;
        Verdict verdict;
        char *source; /* "rule:user:push", "hook:counter", "posture:ask", "grant:12", "person:..." */
        char *why;    /* a sentence for people, sanitised, without a full stop */
        bool escaped; /* that changed the source or the sentence */
        char *at;     /* where what decided is written: "permissions.toml:12"; NULL when nowhere */
} TraceStep;

typedef struct Trace Trace;

Trace *trace_new(void);
Trace *trace_free(Trace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Trace, trace_free)

/**
 * trace_add() - append a step; @source and the text are copied, made one line and bounded; one full stop in its end goes
 *
 * Beyond TRACE_STEPS_MAX further steps are counted, not kept. The service adds its own steps too: which
 * approver answered (LAYER_APPROVAL), what the sandbox said (LAYER_ENVELOPE).
 */
void trace_add(Trace *trace, DecisionLayer layer, Verdict verdict, const char *source, const char *format,
                ...) __attribute__((format(printf, 5, 6)));

/** trace_at() - say of the last step where what decided is written; NULL says nothing */
void trace_at(Trace *trace, const char *at);

size_t trace_length(const Trace *trace);
const TraceStep *trace_step(const Trace *trace, size_t index);

/** trace_last() - the last step that decided (no note), NULL when there is none */
const TraceStep *trace_last(const Trace *trace);

/** trace_write() - the steps as an array of {"layer","verdict","source","why"} and "at" where it is known */
void trace_write(const Trace *trace, JWriter *writer);

/** trace_write_layer() - the steps of one layer alone, as such an array */
void trace_write_layer(const Trace *trace, DecisionLayer layer, JWriter *writer);

/** trace_to_json() - the same as a text of its own, for DecisionRecord.trace_json (storage/decision-log.h);
 * g_free() it */
char *trace_to_json(const Trace *trace);
