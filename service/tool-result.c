/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "service/core-gate.h"

/* The result of tool/call as it must come from a host, and as the caller gets it (contract 3.17, 4.1). */

static const char *const content_words[] = { "text", NULL };
static const ShapeField content_fields[] = {
        { .name = "type", .type = SHAPE_WORD, .words = content_words },
        { .name = "text", .type = SHAPE_STRING },
        {},
};
static const ShapeField result_fields[] = {
        { .name = "content", .type = SHAPE_ARRAY, .fields = content_fields },
        { .name = "is_error", .type = SHAPE_BOOLEAN },
        { .name = "structured", .type = SHAPE_ANY, .optional = true },
        {},
};

static void member_spliced(JWriter *writer, const char *key, Jval value) {
        size_t size;
        const char *source = jval_source(value, &size);

        if (!source)
                return;
        jwriter_key(writer, key);
        jwriter_raw(writer, source, size);
}

int tool_result_shape(const Invocation *invocation, Jval result, char **ret_json, size_t *ret_size, char **ret_reason) {
        const char *context = invocation->fold ? hook_fold_context(invocation->fold) : NULL;
        g_auto(JWriter) writer = {};
        size_t size;
        int r;

        r = shape_check(result, result_fields, ret_reason);
        if (r < 0)
                return r;
        (void) jval_source(result, &size);
        if (size > CALL_RESULT_BYTES_MAX) {
                *ret_reason = g_strdup_printf("it is %zu bytes, the most is %zu", size, CALL_RESULT_BYTES_MAX);
                return -EFBIG;
        }

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "call_id", invocation->call_id);
        member_spliced(&writer, "content", jval_member(result, "content"));
        member_spliced(&writer, "is_error", jval_member(result, "is_error"));
        member_spliced(&writer, "structured", jval_member(result, "structured"));
        if (context)
                jwriter_member_string(&writer, "context", context);
        if (invocation->gate)
                core_gate_write(invocation->gate, &writer);
        jwriter_end_object(&writer);
        *ret_json = jwriter_steal(&writer, ret_size);
        return 0;
}
