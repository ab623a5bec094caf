/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "service/command-result.h"
#include "service/wire-shape.h"

#define CUT_NOTE "\n[cut: the command's text was longer than 64 KiB]"

static const char *const kind_words[] = { "success", "error", "submit", NULL };
static const ShapeField result_fields[] = {
        { .name = "kind", .type = SHAPE_WORD, .words = kind_words },
        { .name = "text", .type = SHAPE_STRING, .optional = true },
        { .name = "prompt", .type = SHAPE_STRING, .optional = true },
        {},
};

/* The text without terminal escapes, cut with a note; NULL when there is none. */
static char *shape_text(Jval value) {
        g_autofree char *stripped = NULL;
        const char *text, *end;
        size_t size;

        text = jval_string(value, &size);
        if (!text)
                return NULL;
        stripped = sanitize_strip(text, size);
        if (strlen(stripped) <= COMMAND_TEXT_BYTES_MAX)
                return g_steal_pointer(&stripped);

        end = g_utf8_find_prev_char(stripped, stripped + COMMAND_TEXT_BYTES_MAX + 1);
        stripped[end - stripped] = '\0';
        return g_strconcat(stripped, CUT_NOTE, NULL);
}

/* The prompt without terminal escapes; refused, never cut, since half an instruction is another instruction. */
static int shape_prompt(Jval value, char **ret, const char **ret_reason) {
        g_autofree char *stripped = NULL, *trimmed = NULL;
        const char *prompt;
        size_t size;

        prompt = jval_string(value, &size);
        if (!prompt) {
                *ret_reason = "it submits no prompt";
                return -EBADMSG;
        }
        stripped = sanitize_strip(prompt, size);
        trimmed = g_strstrip(g_strdup(stripped));
        if (trimmed[0] == '\0' || strlen(stripped) > COMMAND_PROMPT_BYTES_MAX) {
                *ret_reason = trimmed[0] == '\0' ? "it submits a blank prompt" : "it submits a prompt of over 128 KiB";
                return -EBADMSG;
        }
        *ret = g_steal_pointer(&stripped);
        return 0;
}

/* Which of the members that the table knows belong to which kind */
static int check_kind(const char *kind, bool text, bool prompt, const char **ret_reason) {
        bool submit = strcmp(kind, "submit") == 0;

        if (submit != prompt) {
                *ret_reason = submit ? "it submits no prompt" : "its answer has a prompt and does not submit it";
                return -EBADMSG;
        }
        if (!text && strcmp(kind, "error") == 0) {
                *ret_reason = "its answer is an error without a text";
                return -EBADMSG;
        }
        return 0;
}

int command_result_shape(const char *command_id, Jval result, char **ret_json, size_t *ret_size, const char **ret_reason) {
        g_autofree char *detail = NULL, *text = NULL, *prompt = NULL;
        Jval said = jval_member(result, "prompt");
        g_auto(JWriter) writer = {};
        const char *kind;
        int r;

        *ret_reason = "its answer has not the shape of a command's result";
        r = shape_check(result, result_fields, &detail);
        if (r < 0)
                return r;
        kind = jval_text(jval_member(result, "kind"));
        text = shape_text(jval_member(result, "text"));
        r = check_kind(kind, text != NULL, !jval_is(said, J_ABSENT), ret_reason);
        if (r >= 0 && !jval_is(said, J_ABSENT))
                r = shape_prompt(said, &prompt, ret_reason);
        if (r < 0)
                return r;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "command_id", command_id);
        jwriter_member_string(&writer, "kind", kind);
        if (text)
                jwriter_member_string(&writer, "text", text);
        if (prompt)
                jwriter_member_string(&writer, "prompt", prompt);
        jwriter_end_object(&writer);
        *ret_json = jwriter_steal(&writer, ret_size);
        return 0;
}
