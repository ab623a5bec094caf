/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "dbus/bus-act.h"
#include "dbus/server.h"

int bus_act_new(Face *face, Caller *caller, sd_bus_message *m, BusAct **ret, sd_bus_error *reterr) {
        Reply *reply;
        BusAct *act;
        int r;

        r = reply_new(caller, m, 0, &reply, reterr);
        if (r < 0)
                return r;

        act = g_new0(BusAct, 1);
        act->server = face->server;
        act->reply = reply;
        g_ptr_array_add(face->server->acts, act);
        *ret = act;
        return 0;
}

static const char *measure(uint64_t *ret_done, uint64_t *ret_total, void *userdata) {
        const BusAct *act = userdata;

        return act->work ? plugin_act_get_progress(act->work, ret_done, ret_total) : "asking";
}

static bool close_act(void *userdata) {
        BusAct *act = userdata;
        bool taken;

        act->closed = true;
        if (act->work)
                taken = plugin_act_cancel(act->work);
        else
                taken = act->record && personal_act_cancel(act->server->service, act->record->id);
        if (!taken) /* else the act is gone */
                act->closed = false;
        return taken;
}

static const RequestWork act_work = { .measure = measure, .close = close_act };

int bus_act_show(BusAct *act, Face *face, Caller *caller, const char *token, sd_bus_error *reterr) {
        return token ? request_handle_new(face, caller, token, &act_work, act, &act->handle, reterr) : 0;
}

static void bus_act_free(BusAct *act) {
        if (act->server)
                g_ptr_array_remove_fast(act->server->acts, act);
        request_handle_free(act->handle);
        reply_free(act->reply);
        act_record_free(act->record);
        g_free(act);
}

const char *bus_act_record(BusAct *act, const Caller *caller, const ActSubject *subject) {
        act->record = act_record_new(caller, subject);
        return act->record->id;
}

void bus_act_withdraw(BusAct *act) {
        act->reply = reply_withdraw(act->reply);
        bus_act_free(act);
}

void bus_act_done(const char *error_name, const char *error_message, void *userdata) {
        BusAct *act = userdata;

        /* Whatever was on its way, its caller took it back. */
        if (error_name && act->closed) {
                error_name = ERROR_CANCELLED;
                error_message = "The caller closed its request.";
        }
        request_handle_end(act->handle, &(InvocationAnswer) {
                .result = error_name ? NULL : "{}", .result_size = error_name ? 0 : strlen("{}"), .cancelled = act->closed,
                .error_name = error_name, .error_message = error_message ?: "It failed.",
        });
        if (act->record && act->server)
                act_record_end(act->record, act->server->service, error_name, error_message);
        if (act->reply && error_name)
                reply_fail(act->reply, error_name, error_message);
        else if (act->reply)
                reply_return(act->reply, NULL);
        bus_act_free(act);
}

void bus_act_report(const char *report, void *userdata) {
        BusAct *act = userdata;

        if (act->reply && strlen(report) > BUS_MESSAGE_BYTES_MAX)
                reply_fail(act->reply, ERROR_TOO_LARGE, "The report is too large for a message.");
        else if (act->reply)
                reply_text(act->reply, report);
        bus_act_free(act);
}

void bus_acts_forget(BusServer *server, const Caller *caller) {
        for (size_t i = 0; i < server->acts->len; i++) {
                BusAct *act = g_ptr_array_index(server->acts, i);

                if (act->handle && reply_get_caller(act->reply) == caller)
                        act->handle = request_handle_free(act->handle);
        }
}

void bus_acts_abandon(BusServer *server) {
        for (size_t i = 0; i < server->acts->len; i++) {
                BusAct *act = g_ptr_array_index(server->acts, i);

                act->handle = request_handle_free(act->handle);
                act->reply = reply_free(act->reply);
                act->server = NULL;
        }
        g_ptr_array_set_size(server->acts, 0);
}
