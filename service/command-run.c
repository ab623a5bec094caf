/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "service/invocation-state.h"

/* A command is typed by a person, so nobody is asked; it can't reach tools either (contract 4.2, 5.6.3). */

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

static int command_shape(const Invocation *invocation, Jval result, char **ret_json, size_t *ret_size, const char **ret_reason) {
        g_autofree char *detail = NULL, *text = NULL, *prompt = NULL;
        const char *kind = jval_text(jval_member(result, "kind"));
        g_auto(JWriter) writer = {};
        int r;

        *ret_reason = "its answer has not the shape of a command's result";
        r = shape_check(result, result_fields, &detail);
        if (r < 0)
                return r;
        if (strcmp(kind, "submit") == 0)
                r = shape_prompt(jval_member(result, "prompt"), &prompt, ret_reason);
        else if (!jval_is(jval_member(result, "prompt"), J_ABSENT))
                r = -EBADMSG;
        if (r < 0)
                return r;

        text = shape_text(jval_member(result, "text"));
        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "command_id", invocation->call_id);
        jwriter_member_string(&writer, "kind", kind);
        if (text)
                jwriter_member_string(&writer, "text", text);
        if (prompt)
                jwriter_member_string(&writer, "prompt", prompt);
        jwriter_end_object(&writer);
        *ret_json = jwriter_steal(&writer, ret_size);
        return 0;
}

static void on_command_answer(const RpcAnswer *answer, void *userdata) {
        Invocation *invocation = userdata;
        g_autofree char *json = NULL;
        const char *reason;
        size_t size;

        invocation->rpc_call = NULL;
        if (invocation->over)
                return;
        if (answer->outcome != RPC_OUTCOME_RESULT)
                invocation_fail_answer(invocation, answer);
        else if (command_shape(invocation, answer->result, &json, &size, &reason) < 0)
                invocation_fail(invocation, ERROR_EXECUTION_FAILED, "Command '%s' failed: %s.", invocation->target->name, reason);
        else
                invocation_succeed(invocation, json, size);
}

static void command_send(Invocation *invocation) {
        g_autofree char *raw = g_strstrip(g_strndup(invocation->input, invocation->input_size)), *params = NULL;
        g_auto(JWriter) writer = {};
        size_t size;
        Rpc *rpc;
        int r;

        if (!invocation_verify(invocation))
                return;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "command_id", invocation->call_id);
        jwriter_member_string(&writer, "raw_input", raw);
        invocation_write_context(invocation, &writer);
        jwriter_end_object(&writer);
        params = jwriter_steal(&writer, &size);

        invocation->state = INVOCATION_EXECUTING;
        rpc = invocation_rpc(invocation->service, invocation->target);
        r = rpc ? rpc_call(rpc, 0, "command/run", params, size, invocation_left_msec(invocation), on_command_answer, invocation,
                           &invocation->rpc_call) : -ENOTCONN;
        if (r < 0)
                invocation_fail(invocation, r == -EBUSY ? ERROR_BUSY : ERROR_HOST_UNAVAILABLE, "'%s' can't run now: %s.",
                                invocation->target->name, g_strerror(-r));
}

int invocation_start_command(
                Service *service, const InvocationRequest *request, InvocationDone done, void *userdata, Invocation **ret,
                sd_bus_error *reterr) {
        Registration *command;
        Invocation *invocation;
        int r;

        r = invocation_find(service, request, REGISTRATION_COMMAND, &command, reterr);
        if (r < 0)
                return r;
        if (request->input_size > COMMAND_TEXT_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "The input of a command may have at most %zu bytes.",
                                  COMMAND_TEXT_BYTES_MAX);
        if (!service->decisions)
                return errors_set(reterr, ERROR_IO, "Nothing runs while decisions can't be recorded; see 'codewhalectl doctor'.");

        invocation = invocation_new(service, request, command, COMMAND_DEADLINE_MSEC, done, userdata);
        if (invocation_verify(invocation))
                invocation_with_host(invocation, command_send);
        return invocation_started(invocation, ret, reterr);
}
