/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/log.h"
#include "dbus/bus-interfaces.h"
#include "dbus/bus-request.h"
#include "dbus/memfd.h"
#include "dbus/paths.h"
#include "dbus/request-handle.h"
#include "dbus/server.h"

typedef enum RequestOutcome {
        REQUEST_ANSWERED,
        REQUEST_FAILED,
        REQUEST_CANCELLED,
        _REQUEST_OUTCOME_MAX,
        _REQUEST_OUTCOME_INVALID = -EINVAL,
} RequestOutcome;

static RequestOutcome outcome_of(const InvocationAnswer *answer) {
        if (answer->result)
                return REQUEST_ANSWERED;

        return answer->cancelled ? REQUEST_CANCELLED : REQUEST_FAILED;
}

static int append_text(sd_bus_message *m, const char *key, const char *text) {
        int r = sd_bus_message_open_container(m, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append(m, "s", key);
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'v', "s");
        if (r >= 0)
                r = message_append_text(m, text);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_result(sd_bus_message *m, const InvocationAnswer *answer) {
        _cleanup_close_ int fd = -EBADF;
        g_autofree char *copy = NULL;

        if (answer->result_size > RESPONSE_INLINE_BYTES_MAX) {
                fd = memfd_seal("codewhale-result", answer->result, answer->result_size);
                return fd < 0 ? fd : sd_bus_message_append(m, "{sv}", "result-fd", "h", fd);
        }

        copy = g_strndup(answer->result, answer->result_size);
        return append_text(m, "result", copy);
}

static int append_results(sd_bus_message *m, const InvocationAnswer *answer) {
        int r = sd_bus_message_open_container(m, 'a', "{sv}");

        if (r >= 0 && answer->result)
                r = append_result(m, answer);
        if (r >= 0 && !answer->result)
                r = append_text(m, "error-name", answer->error_name);
        if (r >= 0 && !answer->result)
                r = append_text(m, "error-message", answer->error_message);
        if (r >= 0 && answer->call_id)
                r = append_text(m, "call-id", answer->call_id);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int new_signal(const RequestAddress *to, const char *member, sd_bus_message **ret) {
        int r = sd_bus_message_new_signal(to->bus, ret, to->path, INTERFACE_REQUEST, member);

        return r < 0 || !to->destination ? r : sd_bus_message_set_destination(*ret, to->destination);
}

static int send_response(const RequestAddress *to, const InvocationAnswer *answer) {
        g_autoptr(sd_bus_message) m = NULL;
        int r = new_signal(to, "Response", &m);

        if (r >= 0)
                r = sd_bus_message_append(m, "u", outcome_of(answer));
        if (r >= 0)
                r = append_results(m, answer);
        return r < 0 ? r : sd_bus_send(to->bus, m, NULL);
}

void bus_request_tell(const RequestAddress *to, const char *stage, uint64_t done, uint64_t total) {
        g_autoptr(sd_bus_message) m = NULL;
        int r = new_signal(to, "Progressed", &m);

        if (r >= 0)
                r = sd_bus_message_append(m, "stt", stage, done, total);
        if (r >= 0)
                r = sd_bus_send(to->bus, m, NULL);
        if (r < 0)
                log_debug("Progress of %s could not be sent: %s", to->path, g_strerror(-r));
}

void bus_request_end(const RequestAddress *to, const InvocationAnswer *answer) {
        const InvocationAnswer failed = {
                .call_id = answer->call_id,
                .error_name = ERROR_IO,
                .error_message = "The result can't be put into a message.",
        };

        if (send_response(to, answer) < 0 && send_response(to, &failed) < 0)
                log_debug("The response of %s could not be sent.", to->path);
}

void bus_request_respond(BusCall *call, const InvocationAnswer *answer) {
        /* On a channel there is nobody else. */
        const RequestAddress to = {
                .bus = call->face->bus,
                .destination = call->face->caller ? NULL : caller_get_name(call->caller),
                .path = call->path,
        };

        if (!caller_is_gone(call->caller))
                bus_request_end(&to, answer);
}

/* ---- the object ---- */

static int handle_close(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        BusCall *call = g_hash_table_lookup(face->server->requests, sd_bus_message_get_path(m));
        RequestHandle *handle = request_handle_find(face->server, sd_bus_message_get_path(m));
        int r;

        if (handle) {
                r = request_handle_close(handle, caller, reterr);
                return r < 0 ? r : message_reply_empty(m);
        }
        if (!call || call->caller != caller)
                return errors_set(reterr, ERROR_NO_SUCH_REQUEST, "You have no such request; it may have ended.");
        bus_call_cancel(call, "the caller closed its request");
        return message_reply_empty(m);
}
BUS_METHOD(close)

static int request_find(
                sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found, sd_bus_error *reterr) {
        Face *face = userdata;

        (void) bus;
        (void) interface;

        if (!path_is_request(path))
                return 0;
        if (!g_hash_table_contains(face->server->requests, path) && !request_handle_find(face->server, path))
                return errors_set(reterr, ERROR_NO_SUCH_REQUEST, "There is no such request; it may have ended.");

        *ret_found = face;
        return 1;
}

static int property_get_progress(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Face *face = userdata;
        const RequestHandle *handle = request_handle_find(face->server, path);
        uint64_t done = 0, total = 0;
        const char *stage = "calling";

        (void) bus;
        (void) interface;
        (void) property;
        (void) reterr;

        if (handle)
                stage = request_handle_measure(handle, &done, &total);
        return sd_bus_message_append(reply, "(stt)", stage, done, total);
}

static const sd_bus_vtable request_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Progress", "(stt)", property_get_progress, 0, 0),
        SD_BUS_METHOD_WITH_ARGS("Close", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_close, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Progressed", SD_BUS_ARGS("s", stage, "t", done, "t", total), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Response", SD_BUS_ARGS("u", outcome, "a{sv}", results), 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_request = {
        .path = PATH_REQUEST,
        .name = INTERFACE_REQUEST,
        .vtable = request_vtable,
        .find = request_find,
};
