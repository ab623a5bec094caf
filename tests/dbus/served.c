/* SPDX-License-Identifier: MIT */
#include "served.h"

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../harness/checked.h"
#include "../service/fixture.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "dbus/server.h"
#include "service/grant-keeper.h"

/* Set before the process is forked off. */
static const char *home_path, *bus_address;

typedef struct State {
        Service *service;
        BusServer *server;
        sd_bus_slot *slot;
        char *pretended;
} State;

static void count_session(Session *session, void *userdata) {
        uint32_t *n = userdata;

        (void) session;
        (*n)++;
}

static uint32_t count_fds(void) {
        g_autoptr(GDir) directory = g_dir_open("/proc/self/fd", 0, NULL);
        uint32_t n = 0;

        while (g_dir_read_name(directory))
                n++;
        return n;
}

static int method_counts(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const State *state = userdata;
        const BusServer *server = state->server;
        uint32_t sessions = 0;

        (void) reterr;
        session_table_foreach(state->service->sessions, count_session, &sessions);
        return sd_bus_reply_method_return(m, "uuuuuuuu", caller_table_count(server->callers), sessions, server->calls->len,
                        g_hash_table_size(server->requests), server->channels->len, server->acts->len,
                        server->workspaces->len, count_fds());
}

static void on_decided(Approval *approval, const ApprovalAnswer *answer, void *userdata) {
        (void) approval;
        (void) answer;
        (void) userdata;
}

static int method_open_card(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        static const char *const scopes[] = { "session", NULL };
        const State *state = userdata;
        ApprovalRequest request = {
                .kind = "tool-call",
                .title = "Call a tool",
                .card = "{\"digest\":\"d1\",\"tool\":\"mod_counter\"}",
                .digest = "d1",
                .scopes = scopes,
        };
        Approval *approval;
        int r;

        r = sd_bus_message_read(m, "ss", &request.requester, &request.arguments);
        if (r < 0)
                return r;
        request.arguments_size = strlen(request.arguments);

        r = approval_open(state->service->approvals, &request, on_decided, NULL, &approval, reterr);
        return r < 0 ? r : sd_bus_reply_method_return(m, "t", approval_get_id(approval));
}

static int method_give(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        static const BuildScope build = { .plugin = "user/0/counter", .content_hash = "00" };
        static const ApprovalSubject subject = { .tool = "mod_counter", .build = &build };
        const Actor person = { .name = (char *) ":1.0" };
        const ApprovalAnswer answer = { .outcome = APPROVAL_ALLOWED, .who = &person, .scope = "tool" };
        const State *state = userdata;
        g_auto(ApprovalKeys) keys = {};
        g_autoptr(Jdoc) arguments = NULL;
        GrantGift gift = { .subject = &subject, .keys = &keys, .offers = GRANT_OFFER(GRANT_TOOL), .call_id = "c-1" };
        Session *session;

        g_assert_cmpint(jdoc_parse("{}", 2, NULL, &arguments, NULL), ==, 0);
        g_assert_cmpint(approval_keys_make(&subject, jdoc_root(arguments), &keys), ==, 0);
        g_assert_cmpint(session_table_implicit(state->service->sessions, sd_bus_message_get_sender(m), &session, reterr), >=, 0);
        gift.session = session->id;
        g_assert_cmpuint(grant_keeper_give(state->service->keeper, &gift, &answer), >, 0);
        return sd_bus_reply_method_return(m, NULL);
}

static int method_grants(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const State *state = userdata;
        g_autoptr(GPtrArray) grants = grant_table_list(state->service->grants);

        (void) reterr;
        return sd_bus_reply_method_return(m, "u", grants->len);
}

static int method_pretend(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        State *state = userdata;
        const char *path;

        (void) reterr;
        g_assert_cmpint(sd_bus_message_read(m, "o", &path), >, 0);
        state->pretended = g_strdup(path);
        g_hash_table_insert(state->server->requests, state->pretended, NULL);
        return sd_bus_reply_method_return(m, NULL);
}

static const sd_bus_vtable probe_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Counts", "", "uuuuuuuu", method_counts, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("OpenCard", "ss", "t", method_open_card, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Give", "", "", method_give, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Grants", "", "u", method_grants, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Pretend", "o", "", method_pretend, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void *begin(sd_event *event, sd_bus *connection) {
        const ServiceOptions options = { .home = home_path, .manager = UNIT_MANAGER_SESSION_BUS };
        State *state = g_new0(State, 1);

        log_set_target(LOG_TARGET_NULL);
        g_setenv("DBUS_SESSION_BUS_ADDRESS", bus_address, TRUE);
        g_assert_cmpint(service_new(event, &options, &state->service, NULL), >=, 0);
        g_assert_cmpint(bus_server_new(state->service, connection, &state->server), >=, 0);
        g_assert_cmpint(sd_bus_add_object_vtable(
                                        connection, &state->slot, PROBE_PATH, PROBE_INTERFACE, probe_vtable, state), >=, 0);
        g_assert_cmpint(service_start(state->service, NULL), >=, 0);
        return state;
}

static void end(void *userdata) {
        State *state = userdata;

        sd_bus_slot_unref(state->slot);
        if (state->pretended)
                g_hash_table_remove(state->server->requests, state->pretended);
        bus_server_free(state->server);
        service_free(state->service);
        g_free(state->pretended);
        g_free(state);
}

Served served_start(void) {
        static const Serving serving = { .begin = begin, .end = end, .name = SERVICE };
        Served served = { .bus = private_bus_start(), .home = fixture_new_folder(), .source = fixture_new_folder() };

        /* Bundles may run code, as far as the configuration goes. */
        fixture_write(served.home, "config.toml", "[features]\nextension_host = true\n[trust]\nconfirm = \"token\"\n", -1);
        fixture_bundle(served.source, "counter");
        home_path = served.home;
        bus_address = served.bus->address;
        served.server = server_start(served.bus, &serving);
        return served;
}

void served_stop(Served *served) {
        server_stop(&served->server);
        private_bus_stop(served->bus);
        fixture_remove(served->home);
        fixture_remove(served->source);
}

/* ---- for clients ---- */

ServedCounts served_count(sd_bus *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        ServedCounts counts;

        g_assert_cmpint(sd_bus_call_method(client, SERVICE, PROBE_PATH, PROBE_INTERFACE, "Counts", NULL, &reply, NULL), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "uuuuuuuu", &counts.callers, &counts.sessions, &counts.calls,
                                        &counts.requests, &counts.channels, &counts.acts, &counts.workspaces, &counts.fds),
                        >, 0);
        return counts;
}

ServedCounts served_wait_for_callers(sd_bus *client, uint32_t callers) {
        ServedCounts counts = served_count(client);

        for (unsigned i = 0; i < 500 && counts.callers != callers; i++) {
                g_usleep(10000);
                counts = served_count(client);
        }
        g_assert_cmpuint(counts.callers, ==, callers);
        return counts;
}

uint64_t served_open_card(sd_bus *client, const char *requester, const char *arguments) {
        g_autoptr(sd_bus_message) reply = NULL;
        uint64_t id;

        g_assert_cmpint(sd_bus_call_method(client, SERVICE, PROBE_PATH, PROBE_INTERFACE, "OpenCard", NULL, &reply, "ss",
                                        requester, arguments), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "t", &id), >, 0);
        return id;
}

void served_give(sd_bus *client) {
        g_assert_cmpint(sd_bus_call_method(client, SERVICE, PROBE_PATH, PROBE_INTERFACE, "Give", NULL, NULL, NULL), >=, 0);
}

uint32_t served_count_grants(sd_bus *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        uint32_t grants;

        g_assert_cmpint(sd_bus_call_method(client, SERVICE, PROBE_PATH, PROBE_INTERFACE, "Grants", NULL, &reply, NULL), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "u", &grants), >, 0);
        return grants;
}

void served_pretend_request(sd_bus *client, const char *path) {
        g_assert_cmpint(sd_bus_call_method(client, SERVICE, PROBE_PATH, PROBE_INTERFACE, "Pretend", NULL, NULL, "o", path),
                        >=, 0);
}

size_t served_memory(const Served *served) {
        g_autofree char *path = g_strdup_printf("/proc/%d/statm", (int) served->server.pid), *text = NULL;
        unsigned long size, resident;

        if (test_is_checked())
                return 0;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_cmpint(sscanf(text, "%lu %lu", &size, &resident), ==, 2);
        return resident * (size_t) sysconf(_SC_PAGESIZE);
}
