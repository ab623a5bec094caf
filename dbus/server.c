/* SPDX-License-Identifier: MIT */
#include "dbus/server.h"

#include "common/cleanup.h"
#include "dbus/act-record.h"
#include "dbus/announcer.h"
#include "dbus/bus-act.h"
#include "dbus/bus-call.h"
#include "dbus/bus-interfaces.h"
#include "dbus/bus-job.h"
#include "dbus/channel.h"
#include "dbus/client-workspace.h"
#include "dbus/decision-query.h"
#include "dbus/notifier.h"

void bus_server_foreach_face(BusServer *server, void (*each)(Face *face, void *userdata), void *userdata) {
        if (server->face)
                each(server->face, userdata);

        for (size_t i = 0; i < server->channels->len; i++) {
                Face *face = g_ptr_array_index(server->channels, i);

                if (!face->doomed)
                        each(face, userdata);
        }
}

/* ---- channels that end ---- */

void bus_server_doom_face(BusServer *server, Face *face) {
        face->doomed = true;
        (void) sd_event_source_set_enabled(server->sweep, SD_EVENT_ONESHOT);
}

static void close_channel(BusServer *server, size_t index) {
        Face *face = g_ptr_array_index(server->channels, index);

        bus_calls_cancel(server, face, NULL, "the direct channel was closed");
        g_ptr_array_remove_index_fast(server->channels, (unsigned) index);
}

/* From the loop itself, because a connection can't be dropped while it is being read. */
static int on_sweep(sd_event_source *source, void *userdata) {
        BusServer *server = userdata;

        (void) source;

        for (size_t i = server->channels->len; i > 0; i--)
                if (((Face *) g_ptr_array_index(server->channels, i - 1))->doomed)
                        close_channel(server, i - 1);
        return 0;
}

/* ---- clients that leave ---- */

static void on_caller_gone(Caller *caller, void *userdata) {
        BusServer *server = userdata;

        bus_calls_cancel(server, NULL, caller, "the caller left the bus");
        decision_queries_drop(server, caller);
        bus_jobs_drop(server, caller);
        bus_acts_forget(server, caller);
        bus_policy_drop(server, caller);
        channels_close(server, caller);
        service_client_gone(server->service, caller_get_name(caller));
        client_workspaces_drop(server, caller);
}

static void on_caller_refused(Caller *caller, const sd_bus_error *error, void *userdata) {
        const BusServer *server = userdata;
        const Actor who = caller_actor(caller);

        ledger_attempt(server->service, &who, &(LedgerAttempt) {
                .what = "Using the service", .error_name = error->name, .message = error->message,
        });
}

static const CallerEvents caller_events = {
        .refused = on_caller_refused,
        .gone = on_caller_gone,
};

/* ---- the whole ---- */

static void free_face(void *face) {
        face_free(face);
}

static BusServer *server_alloc(Service *service) {
        BusServer *server = g_new0(BusServer, 1);

        server->service = service;
        server->channels = g_ptr_array_new_with_free_func(free_face);
        server->calls = g_ptr_array_new();
        server->requests = g_hash_table_new(g_str_hash, g_str_equal);
        server->handles = g_hash_table_new(g_str_hash, g_str_equal);
        server->acts = g_ptr_array_new();
        server->jobs = g_ptr_array_new();
        server->queries = g_ptr_array_new();
        server->looks = g_ptr_array_new_with_free_func(bus_policy_look_free);
        server->workspaces = g_ptr_array_new_with_free_func(client_workspace_free);
        return server;
}

int bus_server_new(Service *service, sd_bus *bus, BusServer **ret) {
        g_autoptr(BusServer) server = server_alloc(service);
        int r;

        server->event = sd_event_ref(service->event);
        r = sd_event_add_defer(server->event, &server->sweep, on_sweep, server);
        if (r >= 0)
                r = sd_event_source_set_enabled(server->sweep, SD_EVENT_OFF);
        if (r >= 0)
                r = channels_init(server);
        if (r >= 0)
                r = announcer_new(server, &server->announcer);
        if (r >= 0)
                r = notifier_new(server, bus, &server->notifier);
        if (r >= 0)
                r = caller_table_new(bus, &caller_events, server, &server->callers);
        if (r >= 0)
                r = face_new(server, bus, NULL, &server->face);
        if (r < 0)
                return r;

        service_set_events(service, &announcer_events, server->announcer);
        server->polkit = polkit_new(server->event);
        service->polkit_ask = polkit_ask;
        service->polkit_forget = polkit_forget;
        service->polkit_userdata = server->polkit;
        *ret = g_steal_pointer(&server);
        return 0;
}

BusServer *bus_server_free(BusServer *server) {
        if (!server)
                return NULL;

        /* First whatever wants to answer or to tell, then the connections, so that it still can. */
        bus_calls_cancel(server, NULL, NULL, "the service is stopping");
        decision_queries_drop(server, NULL);
        bus_jobs_drop(server, NULL);
        bus_policy_drop(server, NULL);
        server->service->polkit_ask = NULL;
        server->service->polkit_forget = NULL;
        server->polkit = polkit_free(server->polkit);
        bus_acts_abandon(server);
        service_set_events(server->service, NULL, NULL);
        server->notifier = notifier_free(server->notifier);
        announcer_free(server->announcer);

        g_ptr_array_unref(server->channels);
        face_free(server->face);
        caller_table_free(server->callers);
        g_ptr_array_unref(server->workspaces);
        g_ptr_array_unref(server->calls);
        g_hash_table_unref(server->requests);
        g_hash_table_unref(server->handles);
        g_ptr_array_unref(server->acts);
        g_ptr_array_unref(server->jobs);
        g_ptr_array_unref(server->queries);
        g_ptr_array_unref(server->looks);
        sd_event_source_disable_unref(server->sweep);
        sd_event_source_disable_unref(server->greet);
        sd_event_unref(server->event);
        g_free(server);
        return NULL;
}
