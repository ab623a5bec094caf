/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "service/command-result.h"
#include "service/invocation-state.h"

/* A command is typed by a person, so nobody is asked; it can't reach tools either (contract 4.2, 5.6.3). */

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
        else if (command_result_shape(invocation->call_id, answer->result, &json, &size, &reason) < 0)
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
