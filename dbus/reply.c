/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdarg.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/log.h"
#include "dbus/message.h"
#include "dbus/reply.h"

struct Reply {
        Caller *caller;
        sd_bus_message *envelope; /* a call without arguments that has the sender and cookie of the real one */
        size_t bytes;
        bool answered;
};

static int make_envelope(sd_bus_message *call, sd_bus_message **ret) {
        g_autoptr(sd_bus_message) envelope = NULL;
        const char *sender = sd_bus_message_get_sender(call);
        uint64_t cookie;
        int r;

        r = sd_bus_message_new_method_call(
                        sd_bus_message_get_bus(call), &envelope, NULL, sd_bus_message_get_path(call),
                        sd_bus_message_get_interface(call), sd_bus_message_get_member(call));
        if (r >= 0 && sender)
                r = sd_bus_message_set_sender(envelope, sender);
        if (r >= 0)
                r = sd_bus_message_set_expect_reply(envelope, sd_bus_message_get_expect_reply(call));
        if (r >= 0)
                r = sd_bus_message_get_cookie(call, &cookie);
        if (r >= 0)
                r = sd_bus_message_seal(envelope, cookie, 0);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&envelope);
        return 0;
}

int reply_new(Caller *caller, sd_bus_message *call, size_t bytes, Reply **ret, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) envelope = NULL;
        Reply *reply;
        int r;

        r = make_envelope(call, &envelope);
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "The call can't be kept: %s", g_strerror(-r));
        r = caller_charge(caller, bytes, reterr);
        if (r < 0)
                return r;

        reply = g_new0(Reply, 1);
        reply->caller = caller_ref(caller);
        reply->envelope = g_steal_pointer(&envelope);
        reply->bytes = bytes;
        *ret = reply;
        return 0;
}

Reply *reply_free(Reply *reply) {
        if (!reply)
                return NULL;

        if (!reply->answered)
                reply_fail(reply, ERROR_CANCELLED, "The call was cancelled.");
        sd_bus_message_unref(reply->envelope);
        caller_unref(reply->caller);
        g_free(reply);
        return NULL;
}

Reply *reply_withdraw(Reply *reply) {
        if (!reply)
                return NULL;

        reply->answered = true;
        caller_release(reply->caller, reply->bytes);
        return reply_free(reply);
}

Caller *reply_get_caller(const Reply *reply) {
        return reply->caller;
}

bool reply_is_wanted(const Reply *reply) {
        return !reply->answered && !caller_is_gone(reply->caller);
}

int reply_begin(const Reply *reply, sd_bus_message **ret) {
        return sd_bus_message_new_method_return(reply->envelope, ret);
}

/* The one place where an answer is counted. */
static void reply_answered(Reply *reply, int r) {
        assert(!reply->answered);

        reply->answered = true;
        caller_release(reply->caller, reply->bytes);
        if (r < 0)
                log_debug("An answer to %s could not be sent: %s", caller_get_name(reply->caller), g_strerror(-r));
}

void reply_send(Reply *reply, sd_bus_message *answer) {
        reply_answered(reply, sd_bus_send(NULL, answer, NULL));
}

void reply_fail(Reply *reply, const char *name, const char *message) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        (void) errors_set(&error, name, "%s", message ?: "");
        reply_answered(reply, sd_bus_reply_method_error(reply->envelope, &error));
}

void reply_text(Reply *reply, const char *text) {
        g_autoptr(sd_bus_message) answer = NULL;
        int r;

        r = reply_begin(reply, &answer);
        if (r >= 0)
                r = message_append_text(answer, text);
        if (r < 0)
                reply_fail(reply, ERROR_IO, "The answer can't be put into a message.");
        else
                reply_send(reply, answer);
}

void reply_return(Reply *reply, const char *types, ...) {
        g_autoptr(sd_bus_message) answer = NULL;
        va_list arguments;
        int r;

        r = reply_begin(reply, &answer);
        if (r >= 0 && types) {
                va_start(arguments, types);
                r = sd_bus_message_appendv(answer, types, arguments);
                va_end(arguments);
        }

        if (r < 0)
                reply_fail(reply, ERROR_IO, "The answer can't be put into a message.");
        else
                reply_send(reply, answer);
}
