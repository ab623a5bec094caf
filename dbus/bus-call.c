/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/plain-text.h"
#include "dbus/bus-call.h"
#include "dbus/bus-request.h"
#include "dbus/memfd.h"
#include "dbus/options.h"
#include "dbus/paths.h"
#include "dbus/server.h"
#include "policy/provenance.h"

typedef struct CallOptions {
        const char *session;
        uint32_t deadline_msec;
        const char *agent_id;
        const char *origin_turn_id;
        const char *provenance;
        const char *origin;
        const char *handle_token;
} CallOptions;

/* The last row is for Start only. */
static const Option call_options[] = {
        OPTION("session", 'o', CallOptions, session),
        OPTION("deadline-ms", 'u', CallOptions, deadline_msec),
        OPTION("agent-id", 's', CallOptions, agent_id),
        OPTION("origin-turn-id", 's', CallOptions, origin_turn_id),
        OPTION("provenance", 's', CallOptions, provenance),
        OPTION("origin", 's', CallOptions, origin),
        OPTION("handle-token", 's', CallOptions, handle_token),
};

static int read_options(sd_bus_message *m, BusCallForm form, CallOptions *ret, sd_bus_error *reterr) {
        size_t n = G_N_ELEMENTS(call_options) - (form == BUS_CALL_REQUEST ? 0 : 1);
        int r = options_read(m, call_options, n, ret, reterr);

        if (r < 0)
                return r;
        if (ret->deadline_msec > TOOL_DEADLINE_MSEC)
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option 'deadline-ms' is at most %u.", TOOL_DEADLINE_MSEC);
        if (ret->provenance && !provenance_is_valid(ret->provenance))
                return errors_set(reterr, ERROR_INVALID_OPTION,
                                "Option 'provenance' is one word of lower-case letters, such as user, runtime, sub-agent or web.");
        if (ret->origin && invocation_origin_from_string(ret->origin) < 0)
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option 'origin' is model, sub-agent or program.");
        if (ret->handle_token && !handle_token_is_valid(ret->handle_token))
                return errors_set(reterr, ERROR_INVALID_OPTION,
                                "Option 'handle-token' is made of 1 to %u letters, digits and underscores.",
                                HANDLE_TOKEN_CHARS_MAX);
        return 0;
}

/* ---- the end ---- */

static BusCall *bus_call_free(BusCall *call) {
        g_ptr_array_remove_fast(call->server->calls, call);
        if (call->path) {
                g_hash_table_remove(call->server->requests, call->path);
                caller_release(call->caller, call->bytes);
        }
        reply_free(call->reply);
        caller_unref(call->caller);
        g_free(call->path);
        g_free(call);
        return NULL;
}

static int append_string(sd_bus_message *m, const InvocationAnswer *answer) {
        char *space;
        int r = sd_bus_message_append_string_space(m, answer->result_size, &space);

        if (r >= 0)
                memcpy(space, answer->result, answer->result_size);
        return r;
}

static int append_fd(sd_bus_message *m, const InvocationAnswer *answer) {
        _cleanup_close_ int fd = memfd_seal("codewhale-result", answer->result, answer->result_size);

        return fd < 0 ? fd : sd_bus_message_append(m, "h", fd);
}

static int make_answer(BusCall *call, const InvocationAnswer *answer, sd_bus_message **ret) {
        g_autoptr(sd_bus_message) m = NULL;
        int r = reply_begin(call->reply, &m);

        if (r < 0)
                return r;
        if (call->form == BUS_CALL_STRING)
                r = append_string(m, answer);
        else if (call->form == BUS_CALL_BYTES)
                r = sd_bus_message_append_array(m, 'y', answer->result, answer->result_size);
        else
                r = append_fd(m, answer);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&m);
        return 0;
}

/* What would make a message that the bus throws us off for, or one larger than we promise, is no answer. */
static bool check_result(BusCall *call, const InvocationAnswer *answer) {
        if (call->form != BUS_CALL_FD && answer->result_size > BUS_MESSAGE_BYTES_MAX) {
                reply_fail(call->reply, ERROR_TOO_LARGE,
                                "The result is larger than a message may be; CallFd gives it as a memory file.");
                return false;
        }
        if (!plain_text_is(answer->result, answer->result_size) &&
                        !g_utf8_validate(answer->result, (gssize) answer->result_size, NULL)) {
                reply_fail(call->reply, ERROR_EXECUTION_FAILED, "The result is no valid text.");
                return false;
        }
        return true;
}

static void answer_method(BusCall *call, const InvocationAnswer *answer) {
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        if (!answer->result) {
                reply_fail(call->reply, answer->error_name, answer->error_message);
                return;
        }
        if (!check_result(call, answer))
                return;

        r = make_answer(call, answer, &m);
        if (r < 0)
                reply_fail(call->reply, ERROR_IO, "The result can't be put into a message.");
        else
                reply_send(call->reply, m);
}

static void on_answer(const InvocationAnswer *answer, void *userdata) {
        BusCall *call = userdata;
        Face *face = call->face;

        assert(answer->result || answer->error_name);

        call->invocation = NULL;
        if (call->form == BUS_CALL_REQUEST)
                bus_request_respond(call, answer);
        else
                answer_method(call, answer);

        (void) bus_call_free(call);
        face_sent(face, answer->result_size);
}

/* ---- the beginning ---- */

static BusCall *bus_call_new(Face *face, Caller *caller, const BusCallInput *input) {
        BusCall *call = g_new0(BusCall, 1);

        call->server = face->server;
        call->face = face;
        call->caller = caller_ref(caller);
        call->form = input->form;
        call->bytes = input->size;
        g_ptr_array_add(face->server->calls, call);
        return call;
}

/* Makes the place where the answer will go. */
static int bus_call_prepare(
                BusCall *call, sd_bus_message *m, const char *handle_token, sd_bus_error *reterr) {
        g_autofree char *token = NULL, *path = NULL;
        int r;

        if (call->form != BUS_CALL_REQUEST)
                return reply_new(call->caller, m, call->bytes, &call->reply, reterr);

        token = handle_token ? g_strdup(handle_token) : handle_token_new();
        path = path_of_request(caller_get_name(call->caller), token);
        if (g_hash_table_contains(call->server->requests, path))
                return errors_set(reterr, ERROR_INVALID_OPTION, "Handle token '%s' belongs to a call in progress.", token);
        if (g_hash_table_size(call->server->requests) >= REQUESTS_MAX)
                return errors_set(reterr, ERROR_BUSY, "There are %u requests already, which is the most.", REQUESTS_MAX);
        r = caller_charge(call->caller, call->bytes, reterr);
        if (r < 0)
                return r;

        call->path = g_steal_pointer(&path);
        g_hash_table_insert(call->server->requests, call->path, call);
        return 0;
}

static int bus_call_start(
                BusCall *call, const BusCallInput *input, const CallOptions *options, Session *session, sd_bus_error *reterr) {
        const CallerIdentity *identity = caller_get_identity(call->caller);
        const InvocationRequest request = {
                .session = session,
                .client = caller_get_name(call->caller),
                .client_exe = identity->exe,
                .client_unit = identity->unit,
                .client_uid = identity->uid,
                .name = input->name,
                .input = input->text,
                .input_size = input->size,
                .deadline_msec = options->deadline_msec,
                .agent_id = options->agent_id,
                .origin_turn_id = options->origin_turn_id,
                .provenance = options->provenance,
                .origin = options->origin ? invocation_origin_from_string(options->origin) : INVOCATION_ORIGIN_MODEL,
        };
        Service *service = call->server->service;

        return input->command
                        ? invocation_start_command(service, &request, on_answer, call, &call->invocation, reterr)
                        : invocation_start_tool(service, &request, on_answer, call, &call->invocation, reterr);
}

/* The message itself carries the refusal, so the reply that was meant for later must keep still. */
static int bus_call_refuse(BusCall *call, int r) {
        call->reply = reply_withdraw(call->reply);
        (void) bus_call_free(call);
        return r;
}

int bus_call_begin(Face *face, Caller *caller, sd_bus_message *m, const BusCallInput *input, sd_bus_error *reterr) {
        CallOptions options = {};
        Session *session;
        BusCall *call;
        int r;

        r = read_options(m, input->form, &options, reterr);
        if (r < 0)
                return r;
        if (input->form != BUS_CALL_FD && input->size > BUS_MESSAGE_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE,
                                "The arguments are larger than %zu bytes; CallFd takes them as a memory file.",
                                BUS_MESSAGE_BYTES_MAX);
        r = face_find_session(face, caller, options.session, &session, reterr);
        if (r < 0)
                return r;

        call = bus_call_new(face, caller, input);
        r = bus_call_prepare(call, m, options.handle_token, reterr);
        if (r >= 0)
                r = bus_call_start(call, input, &options, session, reterr);
        if (r < 0)
                return bus_call_refuse(call, r);

        return call->path ? sd_bus_reply_method_return(m, "o", call->path) : 1;
}

void bus_call_cancel(BusCall *call, const char *reason) {
        invocation_cancel(call->invocation, reason);
}

void bus_calls_cancel(BusServer *server, const Face *face, const Caller *caller, const char *reason) {
        for (size_t i = server->calls->len; i > 0; i--) {
                BusCall *call = i <= server->calls->len ? g_ptr_array_index(server->calls, i - 1) : NULL;

                if (call && call->invocation && (!face || call->face == face) && (!caller || call->caller == caller))
                        bus_call_cancel(call, reason);
        }
}
