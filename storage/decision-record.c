/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/jdoc.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/plain-text.h"
#include "common/sanitize.h"
#include "storage/decision-record.h"

/* No text of a record is longer; with these the rest of a record always fits. */
#define TEXT_BYTES_MAX 1024u
#define TRACE_ENDS     8u /* steps kept at each end of a trace that is too long */

static void member_text(JWriter *writer, const char *key, const char *text) {
        g_autofree char *clean = NULL;
        size_t size;

        if (!text)
                return;
        size = strlen(text);
        if (size <= TEXT_BYTES_MAX && plain_text_is(text, size)) {
                jwriter_key(writer, key);
                jwriter_string_n(writer, text, size);
                return;
        }
        /* One line each: a story told from the record must not get lines that somebody else wrote. */
        clean = sanitize_line(text, TEXT_BYTES_MAX, NULL);
        jwriter_member_string(writer, key, clean);
}

static void write_who(JWriter *writer, const DecisionRecord *record) {
        if (!record->who_unit && !record->who_exe && !record->who_name)
                return;

        jwriter_key(writer, "who");
        jwriter_begin_object(writer);
        member_text(writer, "unit", record->who_unit);
        member_text(writer, "exe", record->who_exe);
        member_text(writer, "name", record->who_name);
        jwriter_member_uint(writer, "uid", record->who_uid);
        jwriter_end_object(writer);
}

/* The first and the last steps of a trace: how it began and what decided. */
static void write_short_trace(JWriter *writer, const char *trace_json) {
        g_autoptr(Jdoc) doc = NULL;
        size_t length, at = 0, size;
        JIter iter;
        Jval key, step;

        jwriter_key(writer, "trace");
        jwriter_begin_array(writer);
        if (jdoc_parse(trace_json, strlen(trace_json), NULL, &doc, NULL) >= 0) {
                length = jval_length(jdoc_root(doc));
                iter = jval_iterate(jdoc_root(doc));
                for (; jiter_next(&iter, &key, &step); at++)
                        if (at < TRACE_ENDS || at + TRACE_ENDS >= length) {
                                const char *text = jval_source(step, &size);

                                if (size <= 2 * TEXT_BYTES_MAX)
                                        jwriter_raw(writer, text, size);
                        }
        }
        jwriter_end_array(writer);
}

typedef enum Shortening { SHORTEN_NOTHING, SHORTEN_ARGUMENTS, SHORTEN_TRACE, _SHORTENING_MAX } Shortening;

static void write_bulk(JWriter *writer, const DecisionRecord *record, Shortening shortening) {
        if (record->arguments_json && shortening < SHORTEN_ARGUMENTS)
                jwriter_member_raw(writer, "arguments", record->arguments_json);
        if (record->trace_json && shortening < SHORTEN_TRACE)
                jwriter_member_raw(writer, "trace", record->trace_json);
        else if (record->trace_json)
                write_short_trace(writer, record->trace_json);
        if (shortening != SHORTEN_NOTHING)
                jwriter_member_string(writer, "shortened",
                                shortening == SHORTEN_TRACE ? "arguments, trace" : "arguments");
}

static char *encode(const DecisionRecord *record, Shortening shortening, size_t *ret_size) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "time", record->time_usec);
        member_text(&writer, "kind", record->kind);
        member_text(&writer, "call", record->call);
        member_text(&writer, "parent", record->parent);
        member_text(&writer, "outcome", record->outcome);
        member_text(&writer, "session", record->session);
        member_text(&writer, "plugin", record->plugin);
        member_text(&writer, "build", record->build);
        if (record->generation > 0)
                jwriter_member_uint(&writer, "generation", record->generation);
        member_text(&writer, "tool", record->tool);
        write_who(&writer, record);
        member_text(&writer, "arguments_digest", record->arguments_digest);
        member_text(&writer, "original_digest", record->original_digest);
        member_text(&writer, "posture", record->posture);
        member_text(&writer, "mode", record->mode);
        member_text(&writer, "provenance", record->provenance);
        member_text(&writer, "hooks", record->hooks);
        member_text(&writer, "card", record->card);
        member_text(&writer, "answered_by", record->answered_by);
        if (record->grant > 0)
                jwriter_member_uint(&writer, "grant", record->grant);
        member_text(&writer, "result", record->result);
        member_text(&writer, "note", record->note);
        if (record->duration_usec > 0)
                jwriter_member_uint(&writer, "duration_usec", record->duration_usec);
        write_bulk(&writer, record, shortening);
        jwriter_end_object(&writer);

        /* Spliced JSON may be spread over lines. A line end inside a string is written as an escape, so what
         * is found here is white space between values. */
        for (char *at = strpbrk(writer.out->str, "\n\r"); at; at = strpbrk(at, "\n\r"))
                *at = ' ';
        g_string_append_c(writer.out, '\n');
        return jwriter_steal(&writer, ret_size);
}

char *decision_record_encode(const DecisionRecord *record, size_t *ret_size) {
        char *line = NULL;

        for (Shortening shortening = SHORTEN_NOTHING; shortening < _SHORTENING_MAX; shortening++) {
                g_free(line);
                line = encode(record, shortening, ret_size);
                if (*ret_size <= DECISION_RECORD_BYTES_MAX)
                        break;
        }
        return line;
}
