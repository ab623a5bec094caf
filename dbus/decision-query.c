/* SPDX-License-Identifier: MIT */
#include "dbus/decision-query.h"

#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/reply.h"

typedef struct DecisionQuery {
        BusServer *server;
        Reply *reply;
        DecisionCursor *cursor;
        sd_event_source *step;
        DecisionAnswer answer;
        char *userdata;
} DecisionQuery;

static DecisionQuery *decision_query_free(DecisionQuery *query) {
        g_ptr_array_remove_fast(query->server->queries, query);
        sd_event_source_disable_unref(query->step);
        decision_cursor_free(query->cursor);
        reply_free(query->reply);
        g_free(query->userdata);
        g_free(query);
        return NULL;
}

static void finish(DecisionQuery *query) {
        g_autoptr(GPtrArray) lines = decision_cursor_steal(query->cursor);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = query->answer(lines, query->userdata, &error);

        if (json)
                reply_text(query->reply, json);
        else
                reply_fail(query->reply, error.name ?: ERROR_IO, error.message);
}

static int on_step(sd_event_source *source, void *userdata) {
        DecisionQuery *query = userdata;
        int r = decision_cursor_step(query->cursor);

        if (r > 0)
                return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);

        if (r < 0)
                reply_fail(query->reply, ERROR_IO, "The decision log can't be read.");
        else
                finish(query);
        (void) decision_query_free(query);
        return 0;
}

static int check_limits(const BusServer *server, const Caller *caller, sd_bus_error *reterr) {
        unsigned n = 0;

        for (size_t i = 0; i < server->queries->len; i++)
                n += reply_get_caller(((DecisionQuery *) g_ptr_array_index(server->queries, i))->reply) == caller;
        if (n >= CLIENT_QUERIES_MAX || server->queries->len >= QUERIES_MAX)
                return errors_set(reterr, ERROR_BUSY, "Too many look-ups in the decision log are running.");
        if (!server->service->decisions)
                return errors_set(reterr, ERROR_IO, "There is no decision log; codewhalectl doctor tells why.");

        return 0;
}

int decision_query_begin(
                Face *face, Caller *caller, sd_bus_message *m, const DecisionFilter *filter, DecisionAnswer answer,
                const char *userdata, sd_bus_error *reterr) {
        BusServer *server = face->server;
        DecisionQuery *query;
        Reply *reply;
        int r;

        r = check_limits(server, caller, reterr);
        if (r >= 0)
                r = reply_new(caller, m, 0, &reply, reterr);
        if (r < 0)
                return r;

        query = g_new0(DecisionQuery, 1);
        query->server = server;
        query->reply = reply;
        query->answer = answer;
        query->userdata = g_strdup(userdata);
        query->cursor = decision_cursor_new(server->service->decisions, filter);
        g_ptr_array_add(server->queries, query);

        r = sd_event_add_defer(server->event, &query->step, on_step, query);
        if (r >= 0)
                return 1;

        query->reply = reply_withdraw(query->reply);
        (void) decision_query_free(query);
        return r;
}

void decision_queries_drop(BusServer *server, const Caller *caller) {
        for (size_t i = server->queries->len; i > 0; i--) {
                DecisionQuery *query = g_ptr_array_index(server->queries, i - 1);

                if (!caller || reply_get_caller(query->reply) == caller)
                        (void) decision_query_free(query);
        }
}
