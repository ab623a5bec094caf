/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "service/core-result.h"

typedef struct Shape {
        JWriter writer;
        Jval structured;
        size_t kept;       /* bytes of text that were taken over */
        uint64_t original; /* bytes of text that there were */
} Shape;

/* A character is not cut in the middle. */
static size_t whole_characters(const char *text, size_t size) {
        while (size > 0 && ((unsigned char) text[size] & 0xc0) == 0x80)
                size--;
        return size;
}

static void add_text(Shape *shape, const char *text, size_t size) {
        size_t room = CORE_TEXT_BYTES_MAX - shape->kept;

        shape->original += size;
        if (size > room)
                size = whole_characters(text, room);
        shape->kept += size;
        jwriter_begin_object(&shape->writer);
        jwriter_member_string(&shape->writer, "type", "text");
        jwriter_key(&shape->writer, "text");
        jwriter_string_n(&shape->writer, text, size);
        jwriter_end_object(&shape->writer);
}

/* Without what stands between its parts; numbers and strings keep their spelling. */
static char *compact(const char *json, size_t size, size_t *ret_size) {
        char *text = g_malloc(size + 1), *at = text;
        bool quoted = false;

        for (size_t i = 0; i < size; i++) {
                if (!quoted && memchr(" \t\r\n", json[i], 4))
                        continue;
                *at++ = json[i];
                if (quoted && json[i] == '\\')
                        *at++ = json[++i];
                else if (json[i] == '"')
                        quoted = !quoted;
        }
        *at = '\0';
        *ret_size = (size_t) (at - text);
        return text;
}

static int add_block(Shape *shape, Jval block, char **ret_reason) {
        const char *text = jval_string(jval_member(block, "text"), NULL);
        Jval value = jval_member(block, "value");
        size_t size;

        if (jval_equals_text(jval_member(block, "type"), "text") && text) {
                size = jval_length(jval_member(block, "text"));
                add_text(shape, text, size);
        } else if (jval_equals_text(jval_member(block, "type"), "json") && !jval_is(value, J_ABSENT)) {
                g_autofree char *json = NULL;

                text = jval_source(value, &size);
                json = compact(text, size, &size);
                add_text(shape, json, size);
                if (jval_is(shape->structured, J_ABSENT))
                        shape->structured = value;
        } else if (!jval_is(jval_member(block, "type"), J_STRING)) {
                *ret_reason = g_strdup("a block of its content has no type");
                return -EBADMSG;
        }
        return 0;
}

static void add_note(Shape *shape, Jval cut) {
        uint64_t original = shape->original, kept = shape->kept;
        g_autofree char *note = NULL;

        if (jval_uint64(jval_member(cut, "original_bytes"), &original) >= 0)
                original = MAX(original, shape->original);
        if (jval_uint64(jval_member(cut, "kept_bytes"), &kept) < 0 || kept > shape->kept)
                kept = shape->kept;
        if (original <= kept)
                return;

        note = g_strdup_printf("[The result was cut: %" PRIu64 " bytes, of which %" PRIu64 " are here.]", original, kept);
        jwriter_begin_object(&shape->writer);
        jwriter_member_string(&shape->writer, "type", "text");
        jwriter_member_string(&shape->writer, "text", note);
        jwriter_end_object(&shape->writer);
}

static int shape_content(Shape *shape, Jval answer, char **ret_reason) {
        Jval content = jval_member(answer, "content"), key, block;
        JIter iter = jval_iterate(content);
        int r;

        if (!jval_is(answer, J_OBJECT) || (!jval_is(content, J_ARRAY) && !jval_is(content, J_ABSENT))) {
                *ret_reason = g_strdup("it is no object with an array 'content'");
                return -EBADMSG;
        }
        jwriter_key(&shape->writer, "content");
        jwriter_begin_array(&shape->writer);
        while (jiter_next(&iter, &key, &block)) {
                r = add_block(shape, block, ret_reason);
                if (r < 0)
                        return r;
        }
        add_note(shape, jval_member(answer, "cut"));
        jwriter_end_array(&shape->writer);
        return 0;
}

int core_result_shape(Jval answer, char **ret_json, size_t *ret_size, char **ret_reason) {
        Shape shape = { .structured = jval_member(answer, "structured") };
        Jval flag = jval_member(answer, "is_error");
        bool is_error = false;
        const char *source;
        size_t size;
        int r;

        jwriter_init(&shape.writer);
        jwriter_begin_object(&shape.writer);
        r = shape_content(&shape, answer, ret_reason);
        if (r >= 0 && !jval_is(flag, J_ABSENT) && jval_boolean(flag, &is_error) < 0) {
                *ret_reason = g_strdup("its 'is_error' is no boolean");
                r = -EBADMSG;
        }
        if (r < 0) {
                jwriter_done(&shape.writer);
                return r;
        }

        jwriter_member_boolean(&shape.writer, "is_error", is_error);
        source = jval_source(shape.structured, &size);
        if (source && size <= CORE_STRUCTURED_BYTES_MAX) {
                jwriter_key(&shape.writer, "structured");
                jwriter_raw(&shape.writer, source, size);
        }
        jwriter_end_object(&shape.writer);
        *ret_json = jwriter_steal(&shape.writer, ret_size);
        return 0;
}

const char *core_result_refusal(Jval answer) {
        return jval_string(jval_member(answer, "refused"), NULL);
}

char *core_result_error(const char *text, size_t *ret_size) {
        g_autofree char *clean = sanitize_block(text, CORE_TEXT_BYTES_MAX, NULL);
        Shape shape = {};

        jwriter_init(&shape.writer);
        jwriter_begin_object(&shape.writer);
        jwriter_key(&shape.writer, "content");
        jwriter_begin_array(&shape.writer);
        add_text(&shape, clean, strlen(clean));
        jwriter_end_array(&shape.writer);
        jwriter_member_boolean(&shape.writer, "is_error", true);
        jwriter_end_object(&shape.writer);
        return jwriter_steal(&shape.writer, ret_size);
}

bool core_result_is_error(const char *json, size_t size) {
        g_autoptr(Jdoc) doc = NULL;
        bool flag = false;

        if (jdoc_parse(json, size, NULL, &doc, NULL) < 0)
                return true;
        return jval_boolean(jval_member(jdoc_root(doc), "is_error"), &flag) < 0 || flag;
}
