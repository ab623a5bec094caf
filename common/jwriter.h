/* SPDX-License-Identifier: MIT */
#pragma once

/* Writes JSON, and splices in JSON text that was already read and judged. Splicing is the reason for not using json-glib
 * here: it can only re-serialise, which changes numbers, and then what was validated is not what runs. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JWRITER_DEPTH_MAX 64

typedef struct JWriter {
        GString *out;
        unsigned depth;
        uint64_t filled; /* one bit a level: something was written there already */
        bool after_key;
} JWriter;

/** jwriter_init() - begin a text; @writer is the caller's, end it with jwriter_steal() or jwriter_done() */
void jwriter_init(JWriter *writer);

/** jwriter_steal() - the finished text (g_free() it), its size by @ret_size unless NULL; the writer is done with */
char *jwriter_steal(JWriter *writer, size_t *ret_size);

/** jwriter_done() - drop whatever was written; harmless on a writer that was stolen from */
void jwriter_done(JWriter *writer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(JWriter, jwriter_done)

void jwriter_begin_object(JWriter *writer);
void jwriter_end_object(JWriter *writer);
void jwriter_begin_array(JWriter *writer);
void jwriter_end_array(JWriter *writer);
void jwriter_key(JWriter *writer, const char *key);

/** jwriter_string() - a string; NULL writes null. Bytes that are not UTF-8 become U+FFFD */
void jwriter_string(JWriter *writer, const char *text);
void jwriter_string_n(JWriter *writer, const char *text, size_t size);
void jwriter_int(JWriter *writer, int64_t value);
void jwriter_uint(JWriter *writer, uint64_t value);
void jwriter_boolean(JWriter *writer, bool value);
void jwriter_null(JWriter *writer);

/** jwriter_raw() - splice in a complete JSON value that jdoc_parse() accepted (or that we wrote) */
void jwriter_raw(JWriter *writer, const char *json, size_t size);

/* A member in one line */
void jwriter_member_string(JWriter *writer, const char *key, const char *text);
void jwriter_member_int(JWriter *writer, const char *key, int64_t value);
void jwriter_member_uint(JWriter *writer, const char *key, uint64_t value);
void jwriter_member_boolean(JWriter *writer, const char *key, bool value);
void jwriter_member_raw(JWriter *writer, const char *key, const char *json);
