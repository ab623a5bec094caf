/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "common/limits.h"
#include "sandbox/core-tool/answer.h"

#define TAIL_BYTES (CORE_TEXT_BYTES_MAX / 4)
#define NOTE_BYTES 128 /* for the line that says what was left out */
#define HEAD_BYTES (CORE_TEXT_BYTES_MAX - TAIL_BYTES - NOTE_BYTES)

void answer_init(Answer *answer) {
        *answer = (Answer){ .head = g_string_new(NULL), .tail = g_string_new(NULL) };
}

void answer_done(Answer *answer) {
        (void) g_string_free(answer->head, TRUE);
        (void) g_string_free(answer->tail, TRUE);
        g_free(answer->refused);
        jwriter_done(&answer->facts);
}

void answer_add(Answer *answer, const char *text, size_t size) {
        size_t head = MIN(size, HEAD_BYTES - answer->head->len);

        answer->said += size;
        (void) g_string_append_len(answer->head, text, (gssize) head);
        (void) g_string_append_len(answer->tail, text + head, (gssize) (size - head));
        /* Not at every byte: moving the rest down costs. */
        if (answer->tail->len > 2 * TAIL_BYTES)
                (void) g_string_erase(answer->tail, 0, (gssize) (answer->tail->len - TAIL_BYTES));
}

void answer_printf(Answer *answer, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        answer_add(answer, text, strlen(text));
}

bool answer_is_full(const Answer *answer) {
        return answer->head->len >= HEAD_BYTES;
}

void answer_fail(Answer *answer, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        (void) g_string_truncate(answer->head, 0);
        (void) g_string_truncate(answer->tail, 0);
        answer->said = answer->more = 0;
        answer->is_error = true;
        answer_add(answer, text, strlen(text));
}

void answer_refuse(Answer *answer, const char *format, ...) {
        va_list arguments;

        if (answer->refused)
                return;
        va_start(arguments, format);
        answer->refused = g_strdup_vprintf(format, arguments);
        va_end(arguments);
}

JWriter *answer_facts(Answer *answer) {
        if (!answer->has_facts) {
                jwriter_init(&answer->facts);
                jwriter_begin_object(&answer->facts);
                answer->has_facts = true;
        }
        return &answer->facts;
}

/* A cut must not fall into the middle of a character. */
static size_t skip_partial(const char *text, size_t size) {
        size_t i = 0;

        while (i < size && i < 4 && ((unsigned char) text[i] & 0xc0) == 0x80)
                i++;
        return i;
}

static size_t keep_whole(const char *text, size_t size) {
        const char *end = text + size;

        if (size == 0 || g_utf8_validate(text, (gssize) size, NULL))
                return size;
        for (size_t i = 1; i <= 4 && i <= size; i++)
                if (((unsigned char) end[-i] & 0xc0) != 0x80)
                        return ((unsigned char) end[-i] & 0x80) ? size - i : size;
        return size;
}

static GString *join(const Answer *answer, uint64_t *ret_kept) {
        GString *text = g_string_new(NULL);
        size_t at, n;

        if (answer->said <= HEAD_BYTES + TAIL_BYTES) {
                (void) g_string_append_len(text, answer->head->str, (gssize) answer->head->len);
                (void) g_string_append_len(text, answer->tail->str, (gssize) answer->tail->len);
                *ret_kept = text->len;
                return text;
        }

        at = answer->tail->len > TAIL_BYTES ? answer->tail->len - TAIL_BYTES : 0;
        at += skip_partial(answer->tail->str + at, answer->tail->len - at);
        n = keep_whole(answer->head->str, answer->head->len);
        *ret_kept = n + answer->tail->len - at;
        (void) g_string_append_len(text, answer->head->str, (gssize) n);
        g_string_append_printf(text, "\n[... %" PRIu64 " bytes left out ...]\n", answer->said - *ret_kept);
        (void) g_string_append_len(text, answer->tail->str + at, (gssize) (answer->tail->len - at));
        return text;
}

static void write_cut(JWriter *writer, uint64_t original, uint64_t kept) {
        jwriter_key(writer, "cut");
        jwriter_begin_object(writer);
        jwriter_member_uint(writer, "original_bytes", original);
        jwriter_member_uint(writer, "kept_bytes", kept);
        jwriter_end_object(writer);
}

static void write_facts(Answer *answer, JWriter *writer) {
        g_autofree char *facts = NULL;
        size_t size;

        if (!answer->has_facts)
                return;
        jwriter_end_object(&answer->facts);
        facts = jwriter_steal(&answer->facts, &size);
        jwriter_key(writer, "structured");
        jwriter_raw(writer, facts, size);
}

char *answer_to_json(Answer *answer, size_t *ret_size) {
        uint64_t kept = 0;
        GString *text = join(answer, &kept);
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        if (answer->refused)
                jwriter_member_string(&writer, "refused", answer->refused);
        else {
                jwriter_key(&writer, "content");
                jwriter_begin_array(&writer);
                jwriter_begin_object(&writer);
                jwriter_member_string(&writer, "type", "text");
                jwriter_key(&writer, "text");
                jwriter_string_n(&writer, text->str, text->len);
                jwriter_end_object(&writer);
                jwriter_end_array(&writer);
                jwriter_member_boolean(&writer, "is_error", answer->is_error);
                write_facts(answer, &writer);
                if (answer->said + answer->more > kept)
                        write_cut(&writer, answer->said + answer->more, kept);
        }
        jwriter_end_object(&writer);
        (void) g_string_free(text, TRUE);
        return jwriter_steal(&writer, ret_size);
}
