/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/frame.h"
#include "service/rpc.h"

/* A host that is played by the test on the other end of a real socketpair. */
typedef struct Fixture {
        sd_event *event;
        Rpc *rpc;
        int peer;
        GString *log;
        bool respond;
        RpcCall *pausing; /* by the next request */
        const char *result;
} Fixture;

static void on_request(Rpc *rpc, const WireMethod *method, uint64_t id, Jval params, void *userdata) {
        Fixture *fixture = userdata;

        (void) params;
        g_string_append_printf(fixture->log, "request:%s:%" PRIu64 " ", method->name, id);
        if (fixture->pausing)
                rpc_call_pause(fixture->pausing);
        if (fixture->respond)
                g_assert_cmpint(rpc_respond(rpc, id, fixture->result ?: "{}", strlen(fixture->result ?: "{}")), ==, 0);
}

static void on_notification(Rpc *rpc, const WireMethod *method, Jval params, void *userdata) {
        Fixture *fixture = userdata;

        (void) rpc;
        (void) params;
        g_string_append_printf(fixture->log, "notification:%s ", method->name);
}

static void on_cancelled(Rpc *rpc, uint64_t id, void *userdata) {
        Fixture *fixture = userdata;

        (void) rpc;
        g_string_append_printf(fixture->log, "cancelled:%" PRIu64 " ", id);
}

static void on_closed(Rpc *rpc, bool violation, const char *reason, void *userdata) {
        Fixture *fixture = userdata;

        (void) rpc;
        g_assert_nonnull(reason);
        g_string_append(fixture->log, violation ? "violation " : "closed ");
}

static const RpcEvents events = {
        .request = on_request, .notification = on_notification, .cancelled = on_cancelled, .closed = on_closed,
};

static void fixture_up(Fixture *fixture, const void *data) {
        int pair[2];

        (void) data;
        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
        g_assert_cmpint(sd_event_new(&fixture->event), ==, 0);
        g_assert_cmpint(rpc_new(fixture->event, pair[0], HOST_TIER_PLUGIN, &events, fixture, &fixture->rpc), ==, 0);
        fixture->peer = pair[1];
        fixture->log = g_string_new(NULL);
}

static void fixture_down(Fixture *fixture, const void *data) {
        (void) data;
        fixture->rpc = rpc_free(fixture->rpc);
        fixture->event = sd_event_unref(fixture->event);
        close_fd(&fixture->peer);
        g_string_free(fixture->log, TRUE);
}

/* Turns the loop until nothing happens any more. */
static void settle(Fixture *fixture) {
        while (sd_event_run(fixture->event, 0) > 0)
                ;
}

static void peer_write(Fixture *fixture, const char *json) {
        uint32_t size = GUINT32_TO_LE((uint32_t) strlen(json));

        g_assert_cmpint(write(fixture->peer, "CWX1", 4), ==, 4);
        g_assert_cmpint(write(fixture->peer, &size, 4), ==, 4);
        g_assert_cmpint(write(fixture->peer, json, strlen(json)), ==, (ssize_t) strlen(json));
}

static void peer_send(Fixture *fixture, const char *json) {
        peer_write(fixture, json);
        settle(fixture);
}

/* What does not fit into the socket follows when there is room. */
static void peer_read(Fixture *fixture, void *to, size_t size) {
        for (size_t n = 0; n < size;) {
                ssize_t got = recv(fixture->peer, (uint8_t *) to + n, size - n, MSG_DONTWAIT);

                if (got > 0)
                        n += (size_t) got;
                else
                        settle(fixture);
        }
}

/* The next frame that the service sent; NULL when there is none. */
static char *peer_receive(Fixture *fixture) {
        uint8_t head[8];
        uint32_t size;
        char *text;

        settle(fixture);
        if (recv(fixture->peer, head, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
                return NULL;
        peer_read(fixture, head, sizeof head);
        g_assert_cmpmem(head, 4, "CWX1", 4);
        memcpy(&size, head + 4, sizeof size);
        size = GUINT32_FROM_LE(size);
        text = g_malloc(size + 1);
        peer_read(fixture, text, size);
        text[size] = '\0';
        return text;
}

#define assert_received(fixture, text)                              \
        do {                                                        \
                g_autofree char *got = peer_receive(fixture);       \
                g_assert_cmpstr(got, ==, text);                     \
        } while (0)

static void on_reply(const RpcAnswer *answer, void *userdata) {
        static const char *const words[] = { "result", "error", "timed-out", "cancelled", "closed" };
        Fixture *fixture = userdata;
        size_t size = 0;
        const char *source = jval_source(answer->result, &size);

        g_string_append_printf(fixture->log, "%s", words[answer->outcome]);
        if (answer->outcome == RPC_OUTCOME_RESULT)
                g_string_append_printf(fixture->log, ":%.*s", (int) size, source);
        if (answer->outcome == RPC_OUTCOME_ERROR)
                g_string_append_printf(fixture->log, ":%" PRIi64, answer->code);
        g_string_append_c(fixture->log, ' ');
}

static RpcCall *call(Fixture *fixture, uint64_t deadline_msec) {
        RpcCall *rpc_call_handle;

        g_assert_cmpint(rpc_call(fixture->rpc, 0, "tool/call", "{\"a\":1}", 7, deadline_msec, on_reply, fixture, &rpc_call_handle), ==, 0);
        return rpc_call_handle;
}

static void test_call(Fixture *fixture, const void *data) {
        (void) data;
        (void) call(fixture, 0);
        assert_received(fixture, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tool/call\",\"params\":{\"a\":1}}");
        peer_send(fixture, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":12345678901234567890}}");
        g_assert_cmpstr(fixture->log->str, ==, "result:{\"n\":12345678901234567890} ");
        g_assert_cmpuint(rpc_pending(fixture->rpc), ==, 0);
}

static void test_responses(Fixture *fixture, const void *data) {
        (void) data;
        for (unsigned i = 0; i < 3; i++)
                (void) call(fixture, 0);
        peer_send(fixture, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"no\"}}");
        peer_send(fixture, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}");
        g_assert_cmpstr(fixture->log->str, ==, "error:-32000 result:null ");
}

/* Each of these ends the connection, and the call that waits is told. */
static const struct {
        const char *name, *message;
} violations[] = {
        { "W15-ready-with-id", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"host/ready\",\"params\":{}}" },
        { "W16-array-params", "{\"jsonrpc\":\"2.0\",\"method\":\"host/ready\",\"params\":[]}" },
        { "W29-both", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{\"code\":1,\"message\":\"\"}}" },
        { "W29-neither", "{\"jsonrpc\":\"2.0\",\"id\":1}" },
        { "W29-response-with-params", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"params\":{}}" },
        { "W34-approval-method", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"approval/answer\",\"params\":{}}" },
        { "W35-wrong-version", "{\"jsonrpc\":\"1.0\",\"method\":\"host/ready\"}" },
        { "W35-no-version", "{\"method\":\"host/ready\"}" },
        { "W36-core-method-from-host", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tool/call\",\"params\":{}}" },
        { "W42-builtin-method", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"proc/launch\",\"params\":{}}" },
        { "W44-negative-id", "{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"core/call\",\"params\":{}}" },
        { "W44-fractional-id", "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"result\":1}" },
        { "W44-string-id", "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":1}" },
        { "unknown-envelope-member", "{\"jsonrpc\":\"2.0\",\"method\":\"host/ready\",\"extra\":1}" },
        { "response-to-nothing", "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":1}" },
        { "F05-no-json", "{\"jsonrpc\"" },
        { "F05-not-utf8", "{\"jsonrpc\":\"\xff\"}" },
        { "FR-16-duplicate-key", "{\"jsonrpc\":\"2.0\",\"method\":\"host/ready\",\"method\":\"host/ready\"}" },
        { "FR-02-number", "-42" },
        { "FR-02-string", "\"hi\"" },
};

static void test_violation(Fixture *fixture, const void *data) {
        (void) call(fixture, 0);
        peer_send(fixture, data);
        g_assert_cmpstr(fixture->log->str, ==, "closed violation ");
        g_assert_cmpint(rpc_call(fixture->rpc, 0, "x", "{}", 2, 0, on_reply, fixture, NULL), ==, -ENOTCONN);
}

static void test_late_answer(Fixture *fixture, const void *data) {
        RpcCall *handle = call(fixture, 0);

        (void) data;
        g_free(peer_receive(fixture));
        rpc_call_cancel(handle, "no more");
        assert_received(fixture, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel\",\"params\":{\"id\":1}}");
        peer_send(fixture, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32800,\"message\":\"cancelled\"}}");
        (void) call(fixture, 0);
        peer_send(fixture, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":2}");
        g_assert_cmpstr(fixture->log->str, ==, "cancelled result:2 ");
}

static void run_until_logged(Fixture *fixture) {
        while (fixture->log->len == 0)
                g_assert_cmpint(sd_event_run(fixture->event, 20 * G_USEC_PER_SEC), >, 0);
}

static void test_deadline(Fixture *fixture, const void *data) {
        (void) data;
        (void) call(fixture, 30);
        g_free(peer_receive(fixture));
        run_until_logged(fixture);
        g_assert_cmpstr(fixture->log->str, ==, "timed-out ");
        assert_received(fixture, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel\",\"params\":{\"id\":1}}");
        /* The host is still good for the next one (S08). */
        (void) call(fixture, 0);
        peer_send(fixture, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":2}");
        g_assert_cmpstr(fixture->log->str, ==, "timed-out result:2 ");
}

static void test_paused_deadline(Fixture *fixture, const void *data) {
        RpcCall *paused = call(fixture, 30);

        (void) data;
        rpc_call_pause(paused);
        rpc_call_pause(paused);
        (void) call(fixture, 60);
        run_until_logged(fixture);
        /* Only the second one ran out, although its time was longer. */
        g_assert_cmpstr(fixture->log->str, ==, "timed-out ");
        g_assert_cmpuint(rpc_pending(fixture->rpc), ==, 1);
        rpc_call_resume(paused);
        g_string_truncate(fixture->log, 0);
        settle(fixture);
        g_assert_cmpstr(fixture->log->str, ==, "");
        rpc_call_resume(paused);
        run_until_logged(fixture);
        g_assert_cmpstr(fixture->log->str, ==, "timed-out ");
}

/* The loop was busy elsewhere (or stopped) while a deadline passed and the answer, too long for one read, lay in the socket. */
static void test_answered_in_time(Fixture *fixture, const void *data) {
        g_autofree char *spaces = g_strnfill(KIB(150), ' ');
        g_autofree char *answer = g_strdup_printf("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":%s2}", spaces);

        (void) data;
        settle(fixture);
        (void) call(fixture, 1);
        (void) call(fixture, 1);
        peer_write(fixture, answer);
        g_usleep(20 * 1000);
        while (strchr(fixture->log->str, ' ') == strrchr(fixture->log->str, ' '))
                g_assert_cmpint(sd_event_run(fixture->event, UINT64_MAX), >, 0);
        g_assert_cmpstr(fixture->log->str, ==, "result:2 timed-out ");
}

static void test_in_flight(Fixture *fixture, const void *data) {
        (void) data;
        for (unsigned i = 0; i < RPC_IN_FLIGHT_MAX; i++) {
                (void) call(fixture, 0);
                g_free(peer_receive(fixture));
        }
        g_assert_cmpint(rpc_call(fixture->rpc, 0, "tool/call", "{}", 2, 0, on_reply, fixture, NULL), ==, -EBUSY);
        /* The heartbeat has a slot of its own (F08). */
        g_assert_cmpint(rpc_call(fixture->rpc, RPC_HEARTBEAT, "host/ping", "{}", 2, 0, on_reply, fixture, NULL), ==, 0);
        assert_received(fixture, "{\"jsonrpc\":\"2.0\",\"id\":257,\"method\":\"host/ping\",\"params\":{}}");
        peer_send(fixture, "{\"jsonrpc\":\"2.0\",\"id\":257,\"result\":{}}");
        g_assert_cmpstr(fixture->log->str, ==, "result:{} ");
}

#define UNREGISTER(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"registry/unregister\",\"params\":{\"owner\":{\"plugin_id\":\"p\","   \
        "\"generation\":1,\"owner_token\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"},\"handle\":1}}"

static void test_host_request(Fixture *fixture, const void *data) {
        (void) data;
        fixture->respond = true;
        peer_send(fixture, UNREGISTER("7"));
        assert_received(fixture, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}");
        /* An id is free again once it was answered. */
        peer_send(fixture, UNREGISTER("7"));
        assert_received(fixture, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}");
        g_assert_cmpstr(fixture->log->str, ==, "request:registry/unregister:7 request:registry/unregister:7 ");
}

static void test_host_cancels(Fixture *fixture, const void *data) {
        (void) data;
        peer_send(fixture, UNREGISTER("7"));
        peer_send(fixture, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel\",\"params\":{\"id\":7}}");
        g_assert_cmpstr(fixture->log->str, ==, "request:registry/unregister:7 cancelled:7 ");
        g_assert_cmpint(rpc_respond(fixture->rpc, 7, "{}", 2), ==, 0);
        assert_received(fixture, NULL);
        /* A cancel of what was never asked is nothing. */
        peer_send(fixture, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel\",\"params\":{\"id\":99}}");
        g_assert_cmpstr(fixture->log->str, ==, "request:registry/unregister:7 cancelled:7 ");
}

static void test_reused_id(Fixture *fixture, const void *data) {
        (void) data;
        peer_send(fixture, UNREGISTER("7"));
        peer_send(fixture, UNREGISTER("7"));
        g_assert_cmpstr(fixture->log->str, ==, "request:registry/unregister:7 violation ");
}

static void test_too_many_requests(Fixture *fixture, const void *data) {
        (void) data;
        for (unsigned i = 1; i <= RPC_IN_FLIGHT_MAX; i++) {
                g_autofree char *id = g_strdup_printf("%u", i), *text = NULL;

                text = g_strdup_printf("{\"jsonrpc\":\"2.0\",\"id\":%s%s", id, strstr(UNREGISTER("7"), ",\"method\""));
                peer_send(fixture, text);
        }
        g_assert_null(strstr(fixture->log->str, "violation"));
        peer_send(fixture, UNREGISTER("9999"));
        g_assert_nonnull(strstr(fixture->log->str, "violation"));
}

/* Asked for when its time was already over, a pause still ends: there is no way to have no deadline. */
static void test_paused_too_late(Fixture *fixture, const void *data) {
        (void) data;
        settle(fixture);
        fixture->pausing = call(fixture, 1);
        peer_write(fixture, UNREGISTER("7"));
        g_usleep(20 * 1000);
        settle(fixture);
        g_assert_cmpstr(fixture->log->str, ==, "request:registry/unregister:7 ");
        g_string_truncate(fixture->log, 0);
        rpc_call_resume(fixture->pausing);
        run_until_logged(fixture);
        g_assert_cmpstr(fixture->log->str, ==, "timed-out ");
}

/* More answers than the queue holds, to a host that asked for all of them before it read any: it gets each of them. */
static void test_no_answer_is_lost(Fixture *fixture, const void *data) {
        g_autofree char *result = g_strnfill(KIB(8), '1');
        g_autoptr(GString) all = g_string_new(NULL);
        unsigned n = 0;

        (void) data;
        fixture->respond = true;
        fixture->result = result;
        for (unsigned i = 1; i <= RPC_IN_FLIGHT_MAX; i++) {
                g_autofree char *text = g_strdup_printf("{\"jsonrpc\":\"2.0\",\"id\":%u%s", i, strstr(UNREGISTER("7"), ",\"method\""));
                uint32_t size = GUINT32_TO_LE((uint32_t) strlen(text));

                g_string_append_len(g_string_append(all, "CWX1"), (const char *) &size, sizeof size);
                g_string_append(all, text);
        }
        g_assert_cmpint(write(fixture->peer, all->str, all->len), ==, (ssize_t) all->len);
        settle(fixture);
        while (n < RPC_IN_FLIGHT_MAX) {
                g_autofree char *got = peer_receive(fixture);
                g_autofree char *head = g_strdup_printf("{\"jsonrpc\":\"2.0\",\"id\":%u,", ++n);

                if (!got) { /* its requests are read at a pace */
                        g_assert_cmpint(sd_event_run(fixture->event, UINT64_MAX), >, 0);
                        n--;
                        continue;
                }
                g_assert_true(g_str_has_prefix(got, head));
        }
        assert_received(fixture, NULL);
}

static void test_end(Fixture *fixture, const void *data) {
        (void) data;
        (void) call(fixture, 0);
        close_fd(&fixture->peer);
        settle(fixture);
        g_assert_cmpstr(fixture->log->str, ==, "closed closed ");
}

static void test_bad_magic(Fixture *fixture, const void *data) {
        (void) data;
        g_assert_cmpint(write(fixture->peer, "Content-Length: 17\r\n\r\n{}", 24), ==, 24);
        settle(fixture);
        g_assert_cmpstr(fixture->log->str, ==, "violation ");
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        ADD("/rpc/F10-call-keeps-digits", test_call);
        ADD("/rpc/W29-responses", test_responses);
        for (size_t i = 0; i < G_N_ELEMENTS(violations); i++) {
                g_autofree char *path = g_strdup_printf("/rpc/violation/%s", violations[i].name);

                g_test_add(path, Fixture, violations[i].message, fixture_up, test_violation, fixture_down);
        }
        ADD("/rpc/CA-01-CA-02-late-answer-is-dropped", test_late_answer);
        ADD("/rpc/S08-deadline", test_deadline);
        ADD("/rpc/CA-08-paused-deadline", test_paused_deadline);
        ADD("/rpc/CA-08-paused-too-late", test_paused_too_late);
        ADD("/rpc/S08-answered-in-time-and-read-late", test_answered_in_time);
        ADD("/rpc/F09-no-answer-is-lost", test_no_answer_is_lost);
        ADD("/rpc/F08-in-flight-and-heartbeat", test_in_flight);
        ADD("/rpc/host-request", test_host_request);
        ADD("/rpc/W30-host-cancels", test_host_cancels);
        ADD("/rpc/F07-reused-id", test_reused_id);
        ADD("/rpc/F07-257th-request", test_too_many_requests);
        ADD("/rpc/F04-end-between-frames", test_end);
        ADD("/rpc/F01-FR-09-bad-magic", test_bad_magic);
        return g_test_run();
}
