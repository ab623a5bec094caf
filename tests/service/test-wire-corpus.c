/* SPDX-License-Identifier: MIT */

/* The wire corpus in tests/wire, which the JavaScript side reads as well: every message of a host goes over a real channel, and
 * what comes of it is what the corpus says. What only the service sends is judged by the host's own tests. */

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "sandbox/frame.h"
#include "service/command-result.h"
#include "service/rpc.h"

#define ROWS 46

typedef struct Row {
        char *id;
        char *text;
        Jdoc *doc;
} Row;

/* What became of one message */
typedef struct Fate {
        const char *answers; /* the method that a response belongs to; NULL: not told */
        unsigned seen;
        bool refused;
} Fate;

static void judge(Fate *fate, int r, char *reason) {
        fate->seen++;
        fate->refused = fate->refused || r < 0;
        g_free(reason);
}

static void on_request(Rpc *rpc, const WireMethod *method, uint64_t id, Jval params, void *userdata) {
        char *reason = NULL;
        int r = method->id == WIRE_REGISTER ? wire_register_check(params, &reason) : 0;

        judge(userdata, r, reason);
        (void) rpc_respond(rpc, id, "{}", 2);
}

static void on_notification(Rpc *rpc, const WireMethod *method, Jval params, void *userdata) {
        (void) rpc;
        (void) method;
        (void) params;
        judge(userdata, 0, NULL);
}

static void on_cancelled(Rpc *rpc, uint64_t id, void *userdata) {
        (void) rpc;
        (void) id;
        judge(userdata, 0, NULL);
}

static void on_closed(Rpc *rpc, bool violation, const char *reason, void *userdata) {
        (void) rpc;
        g_test_message("closed: %s", reason);
        judge(userdata, violation ? -1 : 0, NULL);
}

static const RpcEvents events = {
        .request = on_request, .notification = on_notification, .cancelled = on_cancelled, .closed = on_closed,
};

static void on_reply(const RpcAnswer *answer, void *userdata) {
        g_autofree char *json = NULL;
        Fate *fate = userdata;
        const char *reason;
        size_t size;
        int r = 0;

        if (answer->outcome == RPC_OUTCOME_CLOSED)
                return;
        if (g_strcmp0(fate->answers, "command/run") == 0 && answer->outcome == RPC_OUTCOME_RESULT)
                r = command_result_shape("k-1", answer->result, &json, &size, &reason);
        judge(fate, r, NULL);
}

/* Requests of ours, until there is one that @id answers */
static void ask(Rpc *rpc, Jval message, Fate *fate) {
        uint64_t id = 1;

        if (!jval_is(jval_member(message, "method"), J_ABSENT))
                return;
        (void) jval_uint64(jval_member(message, "id"), &id);
        for (uint64_t i = 0; i < MIN(id, 16); i++)
                g_assert_cmpint(rpc_call(rpc, 0, fate->answers ?: "tool/call", "{}", 2, 0, on_reply, fate, NULL), ==, 0);
}

static void send_message(int fd, Jval message) {
        uint8_t header[FRAME_HEADER_BYTES];
        size_t size;
        const char *payload = jval_source(message, &size);

        frame_write_header(header, (uint32_t) size);
        g_assert_cmpint(write(fd, header, sizeof header), ==, sizeof header);
        g_assert_cmpint(write(fd, payload, size), ==, (ssize_t) size);
}

static void run_case(Jval row) {
        Jval message = jval_member(row, "message");
        bool accepted = jval_equals_text(jval_member(row, "verdict"), "accept");
        HostTier tier = jval_equals_text(jval_member(row, "tier"), "strip") ? HOST_TIER_STRIP : HOST_TIER_PLUGIN;
        Fate fate = { .answers = jval_text(jval_member(row, "answers")) };
        _cleanup_close_ int peer = -EBADF;
        g_autoptr(Rpc) rpc = NULL;
        sd_event *event = NULL;
        int pair[2];

        g_test_message("%s: %s", jval_text(jval_member(row, "name")), accepted ? "accept" : "refuse");
        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
        peer = pair[1];
        g_assert_cmpint(sd_event_new(&event), ==, 0);
        g_assert_cmpint(rpc_new(event, pair[0], tier, &events, &fate, &rpc), ==, 0);
        ask(rpc, message, &fate);
        send_message(peer, message);
        while (sd_event_run(event, 0) > 0)
                ;
        g_assert_cmpint(fate.refused, ==, !accepted);
        /* One that cancels nothing is taken without a word. */
        g_assert_true(fate.seen > 0 || jval_equals_text(jval_member(message, "method"), "$/cancel"));
        rpc = rpc_free(rpc);
        sd_event_unref(event);
}

static bool is_of_host(Jval row) {
        return jval_equals_text(jval_member(row, "direction"), "host-to-core");
}

static void test_row(const void *data) {
        JIter iter = jval_iterate(jval_member(jdoc_root(((const Row *) data)->doc), "cases"));
        Jval key, item;

        while (jiter_next(&iter, &key, &item))
                if (is_of_host(item))
                        run_case(item);
}

static bool has_message_of_host(const Row *row) {
        JIter iter = jval_iterate(jval_member(jdoc_root(row->doc), "cases"));
        Jval key, item;

        while (jiter_next(&iter, &key, &item))
                if (is_of_host(item))
                        return true;
        return false;
}

/* W45: the words stand in the corpus, the methods here. */
static void test_words(const void *data) {
        const Row *row = data;
        JIter iter = jval_iterate(jval_member(jdoc_root(row->doc), "words"));
        Jval key, word;
        unsigned n = 0;

        for (; jiter_next(&iter, &key, &word); n++)
                for (WireMethodId id = 0; id < _WIRE_METHOD_MAX; id++)
                        g_assert_null(strstr(wire_method_get(id)->name, jval_text(word)));
        g_assert_cmpuint(n, >=, 6);
}

/* W46: what is accepted, in either direction, is the same document after it was read and written. */
static void test_round_trip(const void *data) {
        const Row *rows = data;
        unsigned n = 0;

        for (size_t i = 0; i < ROWS; i++) {
                JIter iter = jval_iterate(jval_member(jdoc_root(rows[i].doc), "cases"));
                Jval key, item;

                while (jiter_next(&iter, &key, &item)) {
                        g_autofree char *text = NULL;
                        g_autoptr(Jdoc) doc = NULL;

                        if (!jval_equals_text(jval_member(item, "verdict"), "accept"))
                                continue;
                        text = jval_canonical(jval_member(item, "message"));
                        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
                        g_assert_true(jval_equal(jdoc_root(doc), jval_member(item, "message")));
                        n++;
                }
        }
        g_assert_cmpuint(n, >, 40);
}

static void row_read(Row *row, unsigned number) {
        g_autofree char *name = g_strdup_printf("W%02u.json", number), *path = g_test_build_filename(G_TEST_DIST, "..", "wire", name, NULL);
        gsize size;

        g_assert_true(g_file_get_contents(path, &row->text, &size, NULL));
        g_assert_cmpint(jdoc_parse(row->text, size, NULL, &row->doc, NULL), ==, 0);
        row->id = g_strndup(name, strlen("W00"));
        g_assert_true(jval_equals_text(jval_member(jdoc_root(row->doc), "id"), row->id));
}

int main(int argc, char **argv) {
        Row rows[ROWS] = {};
        int r;

        g_test_init(&argc, &argv, NULL);
        for (unsigned i = 0; i < ROWS; i++) {
                g_autofree char *path = NULL;

                row_read(&rows[i], i + 1);
                path = g_strdup_printf("/wire-corpus/%s", rows[i].id);
                if (strcmp(rows[i].id, "W45") == 0)
                        g_test_add_data_func(path, &rows[i], test_words);
                else if (strcmp(rows[i].id, "W46") == 0)
                        g_test_add_data_func(path, rows, test_round_trip);
                else if (has_message_of_host(&rows[i]))
                        g_test_add_data_func(path, &rows[i], test_row);
        }
        r = g_test_run();
        for (unsigned i = 0; i < ROWS; i++) {
                jdoc_free(rows[i].doc);
                g_free(rows[i].text);
                g_free(rows[i].id);
        }
        return r;
}
