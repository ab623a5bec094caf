/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/jwriter.h"
#include "common/plain-text.h"

void jwriter_init(JWriter *writer) {
        *writer = (JWriter) { .out = g_string_sized_new(256) };
}

char *jwriter_steal(JWriter *writer, size_t *ret_size) {
        GString *out = g_steal_pointer(&writer->out);

        assert(writer->depth == 0 && !writer->after_key);
        if (ret_size)
                *ret_size = out->len;
        return g_string_free(out, FALSE);
}

void jwriter_done(JWriter *writer) {
        if (writer->out)
                g_string_free(g_steal_pointer(&writer->out), TRUE);
}

/* Puts the comma that belongs before a value or key. */
static void jwriter_separate(JWriter *writer) {
        uint64_t level = UINT64_C(1) << (writer->depth & 63);

        if (writer->after_key) {
                writer->after_key = false;
                return;
        }
        if (writer->depth > 0 && (writer->filled & level))
                g_string_append_c(writer->out, ',');
        writer->filled |= level;
}

static void jwriter_begin(JWriter *writer, char bracket) {
        assert(writer->depth + 1 < JWRITER_DEPTH_MAX);
        jwriter_separate(writer);
        g_string_append_c(writer->out, bracket);
        writer->depth++;
        writer->filled &= ~(UINT64_C(1) << (writer->depth & 63));
}

static void jwriter_end(JWriter *writer, char bracket) {
        assert(writer->depth > 0 && !writer->after_key);
        writer->depth--;
        g_string_append_c(writer->out, bracket);
}

void jwriter_begin_object(JWriter *writer) {
        jwriter_begin(writer, '{');
}

void jwriter_end_object(JWriter *writer) {
        jwriter_end(writer, '}');
}

void jwriter_begin_array(JWriter *writer) {
        jwriter_begin(writer, '[');
}

void jwriter_end_array(JWriter *writer) {
        jwriter_end(writer, ']');
}

static void append_quoted(GString *out, const char *text, size_t size) {
        size_t plain = 0; /* begin of the run that needs no escape */

        g_string_append_c(out, '"');
        for (size_t at = 0; at < size; at++) {
                unsigned char c = (unsigned char) text[at];

                if (c >= 0x20 && c != '"' && c != '\\')
                        continue;

                g_string_append_len(out, text + plain, (gssize) (at - plain));
                plain = at + 1;
                if (c == '"' || c == '\\') {
                        g_string_append_c(out, '\\');
                        g_string_append_c(out, (char) c);
                } else if (c == '\n')
                        g_string_append(out, "\\n");
                else
                        g_string_append_printf(out, "\\u%04x", c);
        }
        g_string_append_len(out, text + plain, (gssize) (size - plain));
        g_string_append_c(out, '"');
}

/* As g_string_set_size() does it, but without a call for nearly every one of the short texts that a record is made of. */
static char *grow(GString *out, size_t size) {
        gsize at = out->len;

        if (size < out->allocated_len - at) {
                out->len = at + size;
                out->str[out->len] = '\0';
        } else
                g_string_set_size(out, at + size);
        return out->str + at;
}

static void append_plain(GString *out, const char *text, size_t size) {
        char *at = grow(out, size + 2);

        at[0] = '"';
        memcpy(at + 1, text, size);
        at[1 + size] = '"';
}

void jwriter_string_n(JWriter *writer, const char *text, size_t size) {
        g_autofree char *valid = NULL;

        if (!text) {
                jwriter_null(writer);
                return;
        }

        jwriter_separate(writer);
        if (plain_text_is_json(text, size)) {
                append_plain(writer->out, text, size);
                return;
        }
        /* g_utf8_validate() stops at NUL, which is a fine character here: validate each part. */
        for (size_t at = 0; at < size;) {
                const char *end = memchr(text + at, '\0', size - at);
                size_t part = end ? (size_t) (end - text) - at : size - at;

                if (!g_utf8_validate(text + at, (gssize) part, NULL)) {
                        valid = g_utf8_make_valid(text, (gssize) size);
                        text = valid;
                        size = strlen(valid);
                        break;
                }
                at += part + 1;
        }
        append_quoted(writer->out, text, size);
}

void jwriter_string(JWriter *writer, const char *text) {
        jwriter_string_n(writer, text, text ? strlen(text) : 0);
}

void jwriter_key(JWriter *writer, const char *key) {
        assert(!writer->after_key);
        jwriter_string(writer, key);
        g_string_append_c(writer->out, ':');
        writer->after_key = true;
}

static void append_digits(GString *out, uint64_t value) {
        char digits[20]; /* of 2^64 - 1 */
        size_t at = sizeof digits;

        do {
                digits[--at] = (char) ('0' + value % 10);
                value /= 10;
        } while (value > 0);
        g_string_append_len(out, digits + at, (gssize) (sizeof digits - at));
}

void jwriter_int(JWriter *writer, int64_t value) {
        jwriter_separate(writer);
        if (value < 0)
                g_string_append_c(writer->out, '-');
        append_digits(writer->out, value < 0 ? -(uint64_t) value : (uint64_t) value);
}

void jwriter_uint(JWriter *writer, uint64_t value) {
        jwriter_separate(writer);
        append_digits(writer->out, value);
}

void jwriter_boolean(JWriter *writer, bool value) {
        jwriter_separate(writer);
        g_string_append(writer->out, value ? "true" : "false");
}

void jwriter_null(JWriter *writer) {
        jwriter_separate(writer);
        g_string_append(writer->out, "null");
}

void jwriter_raw(JWriter *writer, const char *json, size_t size) {
        assert(size > 0);
        jwriter_separate(writer);
        g_string_append_len(writer->out, json, (gssize) size);
}

void jwriter_member_string(JWriter *writer, const char *key, const char *text) {
        jwriter_key(writer, key);
        jwriter_string(writer, text);
}

void jwriter_member_int(JWriter *writer, const char *key, int64_t value) {
        jwriter_key(writer, key);
        jwriter_int(writer, value);
}

void jwriter_member_uint(JWriter *writer, const char *key, uint64_t value) {
        jwriter_key(writer, key);
        jwriter_uint(writer, value);
}

void jwriter_member_boolean(JWriter *writer, const char *key, bool value) {
        jwriter_key(writer, key);
        jwriter_boolean(writer, value);
}

void jwriter_member_raw(JWriter *writer, const char *key, const char *json) {
        jwriter_key(writer, key);
        jwriter_raw(writer, json, strlen(json));
}
