/* SPDX-License-Identifier: MIT */

/* The heartbeat of a host that the test plays, on the other end of a real socketpair: the first ping comes after three seconds. */

#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/frame.h"
#include "service/heartbeat.h"

typedef struct Fixture {
        sd_event *event;
        Rpc *rpc;
        Heartbeat *heartbeat;
        int peer;
        char *lost;
} Fixture;

static void on_request(Rpc *rpc, const WireMethod *method, uint64_t id, Jval params, void *userdata) {
        (void) rpc;
        (void) method;
        (void) id;
        (void) params;
        (void) userdata;
}

static void on_notification(Rpc *rpc, const WireMethod *method, Jval params, void *userdata) {
        (void) rpc;
        (void) method;
        (void) params;
        (void) userdata;
}

static void on_cancelled(Rpc *rpc, uint64_t id, void *userdata) {
        (void) rpc;
        (void) id;
        (void) userdata;
}

static void on_closed(Rpc *rpc, bool violation, const char *reason, void *userdata) {
        (void) rpc;
        (void) violation;
        (void) userdata;
        g_error("the channel was closed: %s", reason);
}

static const RpcEvents rpc_events = {
        .request = on_request, .notification = on_notification, .cancelled = on_cancelled, .closed = on_closed,
};

static void on_late(void *userdata) {
        (void) userdata;
}

static void on_back(void *userdata) {
        (void) userdata;
}

static void on_lost(const char *reason, void *userdata) {
        ((Fixture *) userdata)->lost = g_strdup(reason);
}

static const HeartbeatEvents events = { .late = on_late, .back = on_back, .lost = on_lost };

static void fixture_up(Fixture *fixture) {
        int pair[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
        g_assert_cmpint(sd_event_new(&fixture->event), ==, 0);
        g_assert_cmpint(rpc_new(fixture->event, pair[0], HOST_TIER_PLUGIN, &rpc_events, fixture, &fixture->rpc), ==, 0);
        g_assert_cmpint(heartbeat_new(fixture->event, fixture->rpc, &events, fixture, &fixture->heartbeat), ==, 0);
        fixture->peer = pair[1];
}

static void fixture_down(Fixture *fixture) {
        fixture->heartbeat = heartbeat_free(fixture->heartbeat);
        fixture->rpc = rpc_free(fixture->rpc);
        fixture->event = sd_event_unref(fixture->event);
        close_fd(&fixture->peer);
        g_free(fixture->lost);
}

/* Turns the loop until a ping was sent; its id. */
static unsigned long await_ping(Fixture *fixture) {
        uint8_t header[FRAME_HEADER_BYTES];
        char payload[512] = "";
        const char *id;
        uint32_t size;

        while (recv(fixture->peer, header, sizeof header, MSG_PEEK | MSG_DONTWAIT) < (ssize_t) sizeof header)
                g_assert_cmpint(sd_event_run(fixture->event, UINT64_MAX), >=, 0);
        g_assert_cmpint(read(fixture->peer, header, sizeof header), ==, sizeof header);
        g_assert_cmpint(frame_read_header(header, &size), ==, 0);
        g_assert_cmpuint(size, <, sizeof payload);
        g_assert_cmpint(read(fixture->peer, payload, size), ==, size);
        g_assert_nonnull(strstr(payload, "host/ping"));
        id = strstr(payload, "\"id\":");
        g_assert_nonnull(id);
        return strtoul(id + strlen("\"id\":"), NULL, 10);
}

static void answer(Fixture *fixture, unsigned long id, const char *result) {
        g_autofree char *payload = g_strdup_printf("{\"jsonrpc\":\"2.0\",\"id\":%lu,%s}", id, result);
        uint8_t header[FRAME_HEADER_BYTES];

        frame_write_header(header, (uint32_t) strlen(payload));
        g_assert_cmpint(write(fixture->peer, header, sizeof header), ==, sizeof header);
        g_assert_cmpint(write(fixture->peer, payload, strlen(payload)), ==, strlen(payload));
}

/* So much is on its way to a host that does not read that no other message fits in any more. */
static void fill_queue(Fixture *fixture) {
        g_autofree char *filler = g_strnfill(KIB(256), ' ');

        filler[0] = '{';
        filler[KIB(256) - 1] = '}';
        while (rpc_notify(fixture->rpc, "$/filler", filler, KIB(256)) == 0)
                ;
}

/* Nothing else can happen to a full queue that nobody reads. */
static void await_first_beat(Fixture *fixture) {
        while (sd_event_run(fixture->event, 0) > 0)
                ;
        g_assert_cmpint(sd_event_run(fixture->event, UINT64_MAX), >, 0);
        g_assert_null(fixture->lost);
}

/* What was on its way, and the ping behind it. */
static void drain_queue(Fixture *fixture) {
        uint8_t header[FRAME_HEADER_BYTES];
        g_autofree char *payload = g_malloc(KIB(257)); /* a filler with its envelope */
        uint32_t size;

        for (;;) {
                while (recv(fixture->peer, header, sizeof header, MSG_PEEK | MSG_DONTWAIT) < (ssize_t) sizeof header)
                        g_assert_cmpint(sd_event_run(fixture->event, UINT64_MAX), >=, 0);
                g_assert_cmpint(frame_read_header(header, &size), ==, 0);
                if (size < KIB(256))
                        return;
                g_assert_cmpuint(size, <=, KIB(257));
                g_assert_cmpint(read(fixture->peer, header, sizeof header), ==, sizeof header);
                for (size_t n = 0; n < size;) {
                        ssize_t got = recv(fixture->peer, payload, size - n, MSG_DONTWAIT);

                        if (got > 0)
                                n += (size_t) got;
                        else
                                g_assert_cmpint(sd_event_run(fixture->event, UINT64_MAX), >=, 0);
                }
        }
}

/* All wait for their first ping together. Busy: the host reads again only after that, and that is soon enough (F09). */
static const struct {
        const char *result, *lost;
        bool busy;
} pongs[] = {
        { "\"result\":{\"alive\":true}", "not an empty object" }, { "\"result\":null", "not an empty object" },
        { "\"result\":[]", "not an empty object" },
        { "\"error\":{\"code\":-32603,\"message\":\"no\"}", "not an empty object" }, { "\"result\":{}", NULL },
        { "\"result\":{}", NULL, true },
};

static void await_news(Fixture *fixture, const char *result) {
        answer(fixture, await_ping(fixture), result);
        while (sd_event_run(fixture->event, 0) > 0)
                ;
}

static void test_pongs(void) {
        Fixture fixtures[G_N_ELEMENTS(pongs)] = {};

        for (size_t i = 0; i < G_N_ELEMENTS(pongs); i++) {
                fixture_up(&fixtures[i]);
                if (pongs[i].busy)
                        fill_queue(&fixtures[i]);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(pongs); i++) {
                if (pongs[i].busy) {
                        await_first_beat(&fixtures[i]);
                        drain_queue(&fixtures[i]);
                }
                await_news(&fixtures[i], pongs[i].result);
                g_test_message("%s: %s", pongs[i].result, fixtures[i].lost ?: "fine");
                if (pongs[i].lost)
                        g_assert_nonnull(strstr(fixtures[i].lost, pongs[i].lost));
                else
                        g_assert_null(fixtures[i].lost);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(pongs); i++)
                fixture_down(&fixtures[i]);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/heartbeat/S07-F09-pongs", test_pongs);
        return g_test_run();
}
