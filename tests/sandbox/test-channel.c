/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/channel.h"
#include "sandbox/frame.h"

/* What a channel told us, and what the test wants done meanwhile. */
typedef struct Peer {
        sd_event *event;
        Channel *channel;
        int fd; /* the host's end */

        GPtrArray *frames; /* of GBytes */
        unsigned n_closed;
        int error;
        char *reason;

        bool keep_sizes_only;
        size_t n_frames, n_bytes;
        unsigned free_at_frame; /* 0: never */
        unsigned hold_at_frame;
        bool free_at_close;
        bool echo;
} Peer;

static void on_frame(Channel *channel, const uint8_t *payload, size_t size, void *userdata) {
        Peer *peer = userdata;

        g_assert_true(channel == peer->channel);
        g_assert_cmpuint(peer->n_closed, ==, 0);
        peer->n_frames++;
        peer->n_bytes += size;
        if (!peer->keep_sizes_only)
                g_ptr_array_add(peer->frames, g_bytes_new(payload, size));
        if (peer->echo)
                g_assert_cmpint(channel_send(channel, payload, size), ==, 0);
        if (peer->hold_at_frame == peer->n_frames)
                channel_hold(channel, true);
        if (peer->free_at_frame == peer->n_frames) {
                peer->channel = channel_free(peer->channel);
                /* still readable: the payload lives until the callback returns */
                g_assert_cmpmem(payload, size, "{}", 2);
        }
}

static void on_closed(Channel *channel, int error, const char *reason, void *userdata) {
        Peer *peer = userdata;

        g_assert_true(channel == peer->channel);
        g_assert_nonnull(reason);
        peer->n_closed++;
        peer->error = error;
        peer->reason = g_strdup(reason);
        g_assert_cmpint(channel_send(channel, "x", 1), ==, -ENOTCONN);
        if (peer->free_at_close)
                peer->channel = channel_free(peer->channel);
}

static const ChannelEvents events = {
        .frame = on_frame,
        .closed = on_closed,
};

static void peer_init(Peer *peer) {
        int fds[2];

        *peer = (Peer){ .frames = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref) };
        g_assert_cmpint(sd_event_new(&peer->event), ==, 0);
        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
        g_assert_cmpint(channel_new(peer->event, fds[0], &events, peer, &peer->channel), ==, 0);
        peer->fd = fds[1];
}

static void peer_done(Peer *peer) {
        channel_free(peer->channel);
        close_fd(&peer->fd);
        g_ptr_array_unref(peer->frames);
        g_free(peer->reason);
        sd_event_unref(peer->event);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Peer, peer_done)

/* Runs the loop until it has nothing left to do. */
static void peer_run(Peer *peer) {
        int r;

        do {
                r = sd_event_run(peer->event, 0);
                g_assert_cmpint(r, >=, 0);
        } while (r > 0);
}

static void peer_write(Peer *peer, const void *bytes, size_t size) {
        const uint8_t *at = bytes;

        while (size > 0) {
                ssize_t n = send(peer->fd, at, size, MSG_DONTWAIT | MSG_NOSIGNAL);

                if (n < 0) {
                        g_assert_cmpint(errno, ==, EAGAIN);
                        peer_run(peer);
                        continue;
                }
                at += n;
                size -= (size_t) n;
        }
}

static GByteArray *frame_bytes(const void *payload, size_t size) {
        GByteArray *bytes = g_byte_array_new();
        uint8_t header[FRAME_HEADER_BYTES];

        frame_write_header(header, (uint32_t) size);
        g_byte_array_append(bytes, header, sizeof(header));
        g_byte_array_append(bytes, payload, (guint) size);
        return bytes;
}

static void peer_send_frame(Peer *peer, const void *payload, size_t size) {
        g_autoptr(GByteArray) bytes = frame_bytes(payload, size);

        peer_write(peer, bytes->data, bytes->len);
}

static void assert_frame(Peer *peer, unsigned index, const void *payload, size_t size) {
        gsize got_size;
        const void *got;

        g_assert_cmpuint(index, <, peer->frames->len);
        got = g_bytes_get_data(g_ptr_array_index(peer->frames, index), &got_size);
        g_assert_cmpmem(got, got_size, payload, size);
}

/* Reads one frame at the host's end. */
static GBytes *peer_receive(Peer *peer) {
        uint8_t header[FRAME_HEADER_BYTES];
        size_t filled = 0;
        uint32_t size;
        uint8_t *payload;

        while (filled < sizeof(header)) {
                ssize_t n = recv(peer->fd, header + filled, sizeof(header) - filled, MSG_DONTWAIT);

                if (n < 0)
                        peer_run(peer);
                else
                        filled += (size_t) n;
        }
        g_assert_cmpint(frame_read_header(header, &size), ==, 0);
        payload = g_malloc(size + 1);
        for (filled = 0; filled < size;) {
                ssize_t n = recv(peer->fd, payload + filled, size - filled, MSG_DONTWAIT);

                if (n < 0)
                        peer_run(peer);
                else
                        filled += (size_t) n;
        }
        return g_bytes_new_take(payload, size);
}

static void test_one_frame(void) {
        g_auto(Peer) peer;

        peer_init(&peer);
        peer_send_frame(&peer, "{}", 2);
        peer_send_frame(&peer, "", 0);
        peer_run(&peer);
        g_assert_cmpuint(peer.frames->len, ==, 2);
        assert_frame(&peer, 0, "{}", 2);
        assert_frame(&peer, 1, "", 0);
        g_assert_cmpuint(peer.n_closed, ==, 0);
}

static void test_many_in_one_write(void) {
        g_auto(Peer) peer;
        g_autoptr(GByteArray) all = g_byte_array_new();

        peer_init(&peer);
        for (unsigned i = 0; i < 500; i++) {
                g_autofree char *text = g_strdup_printf("{\"n\":%u}", i);
                g_autoptr(GByteArray) one = frame_bytes(text, strlen(text));

                g_byte_array_append(all, one->data, one->len);
        }
        peer_write(&peer, all->data, all->len);
        peer_run(&peer);
        g_assert_cmpuint(peer.frames->len, ==, 500);
        assert_frame(&peer, 0, "{\"n\":0}", 7);
        assert_frame(&peer, 499, "{\"n\":499}", 9);
}

static void test_byte_at_a_time(void) {
        static const char text[] = "{\"t\":\"日本\"}";
        g_autoptr(GByteArray) bytes = frame_bytes(text, strlen(text));
        g_auto(Peer) peer;

        peer_init(&peer);
        for (unsigned round = 0; round < 3; round++)
                for (unsigned i = 0; i < bytes->len; i++) {
                        g_assert_cmpuint(peer.frames->len, ==, round);
                        peer_write(&peer, bytes->data + i, 1);
                        peer_run(&peer);
                }
        g_assert_cmpuint(peer.frames->len, ==, 3);
        for (unsigned round = 0; round < 3; round++)
                assert_frame(&peer, round, text, strlen(text));
}

static void test_bad_bytes(void) {
        static const struct {
                const char *bytes;
                size_t size;
                int error;
                const char *reason;
        } cases[] = {
                { "CWX2\0\0\0\0", 8, -EBADMSG, "no CWX1 frame" },
                { "ready v3\n", 9, -EBADMSG, "no CWX1 frame" },
                { "Content-Length: 17\r\n\r\n{}", 24, -EBADMSG, "Content-Length" },
                { "{\"jsonrpc\":\"2.0\"}\n", 18, -EBADMSG, "JSON without" },
                { "CWX1\x02\x00\x00\x00{}rubbish!", 18, -EBADMSG, "no CWX1 frame" },
                { "CWX1\x01\x00\x00\x02", 8, -EMSGSIZE, "larger than the limit" },
                { "CWX1\xff\xff\xff\xff", 8, -EMSGSIZE, "larger than the limit" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(Peer) peer;

                peer_init(&peer);
                peer_write(&peer, cases[i].bytes, cases[i].size);
                peer_run(&peer);
                g_assert_cmpuint(peer.n_closed, ==, 1);
                g_assert_cmpint(peer.error, ==, cases[i].error);
                g_assert_nonnull(strstr(peer.reason, cases[i].reason));
                g_assert_cmpint(channel_fd(peer.channel), <, 0);
        }
}

/* The announced 4 GiB must not be asked of the allocator: the program would abort. What is allowed is asked
 * lazily. */
static void test_length_before_allocation(void) {
        g_auto(Peer) peer;
        struct mallinfo2 before, after;

        peer_init(&peer);
        before = mallinfo2();
        peer_write(&peer, "CWX1\x01\x00\x00\x02", 8);
        peer_run(&peer);
        after = mallinfo2();
        g_assert_cmpint(peer.error, ==, -EMSGSIZE);
        g_assert_cmpuint(after.hblkhd + after.uordblks, <, before.hblkhd + before.uordblks + MIB(1));
}

static void test_limit_in(void) {
        g_autofree char *payload = g_malloc(FRAME_PAYLOAD_BYTES_MAX);
        g_auto(Peer) peer;

        memset(payload, 'a', FRAME_PAYLOAD_BYTES_MAX);
        payload[FRAME_PAYLOAD_BYTES_MAX - 1] = 'z';
        peer_init(&peer);
        peer_send_frame(&peer, payload, FRAME_PAYLOAD_BYTES_MAX);
        peer_send_frame(&peer, "{}", 2);
        peer_run(&peer);
        g_assert_cmpuint(peer.frames->len, ==, 2);
        assert_frame(&peer, 0, payload, FRAME_PAYLOAD_BYTES_MAX);
        assert_frame(&peer, 1, "{}", 2);
        g_assert_cmpuint(peer.n_closed, ==, 0);

        peer_write(&peer, "CWX1\x01\x00\x00\x02", 8);
        peer_run(&peer);
        g_assert_cmpuint(peer.n_closed, ==, 1);
        g_assert_cmpint(peer.error, ==, -EMSGSIZE);
}

static void test_limit_out(void) {
        g_autofree char *payload = g_malloc0(FRAME_PAYLOAD_BYTES_MAX + 1);
        g_autoptr(GBytes) got = NULL, small = NULL;
        g_auto(Peer) peer;

        peer_init(&peer);
        g_assert_cmpint(channel_send(peer.channel, payload, FRAME_PAYLOAD_BYTES_MAX + 1), ==, -EMSGSIZE);
        g_assert_cmpint(channel_send(peer.channel, payload, FRAME_PAYLOAD_BYTES_MAX), ==, 0);
        g_assert_cmpint(channel_send(peer.channel, "{}", 2), ==, 0);
        got = peer_receive(&peer);
        small = peer_receive(&peer);
        g_assert_cmpuint(g_bytes_get_size(got), ==, FRAME_PAYLOAD_BYTES_MAX);
        g_assert_cmpuint(g_bytes_get_size(small), ==, 2);
        g_assert_cmpuint(channel_queued(peer.channel), ==, 0);
        g_assert_cmpuint(channel_blocked_since(peer.channel), ==, 0);
}

static void test_limit_out_in_pieces(void) {
        g_autofree char *payload = g_malloc0(FRAME_PAYLOAD_BYTES_MAX);
        struct iovec iov[] = {
                { .iov_base = payload, .iov_len = FRAME_PAYLOAD_BYTES_MAX },
                { .iov_base = payload, .iov_len = SIZE_MAX - 10 }, /* never read: the sum must not wrap */
        };
        g_auto(Peer) peer;

        peer_init(&peer);
        g_assert_cmpint(channel_send_iov(peer.channel, iov, 2), ==, -EMSGSIZE);
        g_assert_cmpuint(channel_queued(peer.channel), ==, 0);
}

static void test_pieces(void) {
        static const char *pieces[] = { "{\"input\":", "", "{\"a\":9007199254740993}", "}" };
        struct iovec iov[G_N_ELEMENTS(pieces)];
        g_autofree char *whole = g_strjoin("", pieces[0], pieces[1], pieces[2], pieces[3], NULL);
        g_auto(Peer) peer;

        for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++)
                iov[i] = (struct iovec){ .iov_base = (void *) pieces[i], .iov_len = strlen(pieces[i]) };
        peer_init(&peer);

        /* directly, and from every point at which the queue can have stopped */
        for (unsigned i = 0; i < 2; i++) {
                g_autoptr(GBytes) got = NULL;

                g_assert_cmpint(channel_send_iov(peer.channel, iov, G_N_ELEMENTS(iov)), ==, 0);
                got = peer_receive(&peer);
                g_assert_cmpmem(g_bytes_get_data(got, NULL), g_bytes_get_size(got), whole, strlen(whole));
        }
}

static void test_end_clean(void) {
        g_auto(Peer) peer;

        peer_init(&peer);
        peer_send_frame(&peer, "{}", 2);
        close_fd(&peer.fd);
        peer_run(&peer);
        g_assert_cmpuint(peer.frames->len, ==, 1);
        g_assert_cmpuint(peer.n_closed, ==, 1);
        g_assert_cmpint(peer.error, ==, 0);
        peer_run(&peer);
        g_assert_cmpuint(peer.n_closed, ==, 1);
}

static void test_end_inside(void) {
        g_autoptr(GByteArray) bytes = frame_bytes("{\"a\":1}", 7);

        for (unsigned i = 1; i < bytes->len; i++) {
                g_auto(Peer) peer;

                peer_init(&peer);
                peer_write(&peer, bytes->data, i);
                close_fd(&peer.fd);
                peer_run(&peer);
                g_assert_cmpuint(peer.frames->len, ==, 0);
                g_assert_cmpuint(peer.n_closed, ==, 1);
                g_assert_cmpint(peer.error, ==, -EPIPE);
                g_assert_nonnull(strstr(peer.reason, i < FRAME_HEADER_BYTES ? "header" : "inside a frame"));
        }
}

/* A host that dies before it has read everything makes the kernel say "connection reset": still its ordinary
 * end. */
static void test_end_with_unread(void) {
        g_auto(Peer) peer;

        peer_init(&peer);
        g_assert_cmpint(channel_send(peer.channel, "{}", 2), ==, 0);
        peer_send_frame(&peer, "{\"last\":1}", 10);
        close_fd(&peer.fd);
        peer_run(&peer);
        g_assert_cmpuint(peer.frames->len, ==, 1);
        g_assert_cmpuint(peer.n_closed, ==, 1);
        g_assert_cmpint(peer.error, ==, 0);
}

static void test_not_utf8_is_handed_over(void) {
        g_auto(Peer) peer;

        peer_init(&peer);
        peer_send_frame(&peer, "\xff\xfe\0{", 4);
        peer_run(&peer);
        g_assert_cmpuint(peer.frames->len, ==, 1);
        assert_frame(&peer, 0, "\xff\xfe\0{", 4);
}

static void test_queue_full(void) {
        g_autofree char *payload = g_malloc0(KIB(256));
        g_auto(Peer) peer;
        unsigned n_sent = 0;
        int r;

        peer_init(&peer);
        while ((r = channel_send(peer.channel, payload, KIB(256))) == 0)
                n_sent++;
        g_assert_cmpint(r, ==, -ENOBUFS);
        g_assert_cmpuint(channel_queued(peer.channel), ==, FRAME_QUEUE_MAX);
        g_assert_cmpuint(channel_blocked_since(peer.channel), >, 0);

        /* nothing was cut or lost, and there is room again */
        for (unsigned i = 0; i < n_sent; i++) {
                g_autoptr(GBytes) got = peer_receive(&peer);

                g_assert_cmpuint(g_bytes_get_size(got), ==, KIB(256));
        }
        g_assert_cmpuint(channel_queued(peer.channel), ==, 0);
        g_assert_cmpuint(channel_blocked_since(peer.channel), ==, 0);
        g_assert_cmpint(channel_send(peer.channel, payload, 1), ==, 0);
}

static void test_queue_full_of_bytes(void) {
        g_autofree char *payload = g_malloc0(MIB(30));
        g_auto(Peer) peer;
        unsigned n_sent = 0;

        peer_init(&peer);
        while (channel_send(peer.channel, payload, MIB(30)) == 0)
                n_sent++;
        g_assert_cmpuint(n_sent, ==, 2);

        /* it is to read first; but what it wrote before it went away arrives */
        peer_send_frame(&peer, "{\"fault\":1}", 11);
        peer_run(&peer);
        g_assert_cmpuint(peer.frames->len, ==, 0);
        close_fd(&peer.fd);
        peer_run(&peer);
        g_assert_cmpuint(peer.frames->len, ==, 1);
        g_assert_cmpuint(peer.n_closed, ==, 1);
}

static void test_write_to_the_dead(void) {
        g_auto(Peer) peer;

        peer_init(&peer);
        peer_send_frame(&peer, "{\"fault\":1}", 11);
        close_fd(&peer.fd);
        g_assert_cmpint(channel_send(peer.channel, "{}", 2), ==, -EPIPE);
        g_assert_cmpuint(peer.n_closed, ==, 0); /* not from within the call */
        g_assert_cmpint(channel_send(peer.channel, "{}", 2), ==, -EPIPE);
        peer_run(&peer);
        g_assert_cmpuint(peer.frames->len, ==, 1); /* its last words arrive */
        g_assert_cmpuint(peer.n_closed, ==, 1);
}

static void test_peer_stops_reading(void) {
        g_auto(Peer) peer;

        peer_init(&peer);
        g_assert_cmpint(shutdown(peer.fd, SHUT_RD), ==, 0);
        g_assert_cmpint(channel_send(peer.channel, "{}", 2), ==, -EPIPE);
        peer_run(&peer);
        g_assert_cmpuint(peer.n_closed, ==, 1);
        g_assert_cmpint(peer.error, ==, -EPIPE);
}

static void test_freed_in_callback(void) {
        for (unsigned at = 1; at <= 3; at++) {
                g_auto(Peer) peer;

                peer_init(&peer);
                peer.free_at_frame = at;
                for (unsigned i = 0; i < 5; i++)
                        peer_send_frame(&peer, "{}", 2);
                peer_run(&peer);
                g_assert_cmpuint(peer.n_frames, ==, at);
                g_assert_cmpuint(peer.n_closed, ==, 0);
                g_assert_null(peer.channel);
        }
}

static void test_freed_in_closed(void) {
        static const char *ends[] = { "", "CW", "rubbish!" };

        for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
                g_auto(Peer) peer;

                peer_init(&peer);
                peer.free_at_close = true;
                peer_send_frame(&peer, "{}", 2);
                peer_write(&peer, ends[i], strlen(ends[i]));
                close_fd(&peer.fd);
                peer_run(&peer);
                g_assert_cmpuint(peer.n_closed, ==, 1);
                g_assert_null(peer.channel);
        }
}

static void test_memory_given_back(void) {
        g_autofree char *payload = g_malloc0(MIB(20));
        g_auto(Peer) peer;
        struct mallinfo2 before, after;

        peer_init(&peer);
        peer.keep_sizes_only = true;
        peer_send_frame(&peer, "{}", 2);
        peer_run(&peer);
        before = mallinfo2();
        peer_send_frame(&peer, payload, MIB(20));
        peer_run(&peer);
        after = mallinfo2();
        g_assert_cmpuint(peer.n_bytes, ==, MIB(20) + 2);
        g_assert_cmpuint(after.hblkhd + after.uordblks, <, before.hblkhd + before.uordblks + KIB(256));
}

static void test_echo(void) {
        g_auto(Peer) peer;

        peer_init(&peer);
        peer.echo = true;
        peer.keep_sizes_only = true;
        for (unsigned i = 0; i < 2000; i++) {
                g_autofree char *text = g_strdup_printf("{\"id\":%u,\"pad\":\"%0200u\"}", i, i);
                g_autoptr(GBytes) got = NULL;

                peer_send_frame(&peer, text, strlen(text));
                got = peer_receive(&peer);
                g_assert_cmpmem(g_bytes_get_data(got, NULL), g_bytes_get_size(got), text, strlen(text));
        }
}

static void test_not_a_descriptor(void) {
        g_autoptr(sd_event) event = NULL;
        Channel *channel = (Channel *) 1;

        g_assert_cmpint(sd_event_new(&event), ==, 0);
        g_assert_cmpint(channel_new(event, 1000, &events, NULL, &channel), ==, -EBADF);
        g_assert_true(channel == (Channel *) 1);
        g_assert_null(channel_free(NULL));
}

/* Three frames came, and the first of them made its receiver hold the rest. */
static void peer_init_held(Peer *peer) {
        peer_init(peer);
        peer->hold_at_frame = 1;
        for (unsigned i = 0; i < 3; i++)
                peer_send_frame(peer, "{}", 2);
        peer_run(peer);
        g_assert_cmpuint(peer->n_frames, ==, 1);
}

/* What is held is neither lost nor handed over, whether it was read already or waits in the socket. */
static void test_hold(void) {
        g_auto(Peer) peer;

        peer_init_held(&peer);
        peer_send_frame(&peer, "[4]", 3);
        peer_run(&peer);
        g_assert_cmpuint(peer.n_frames, ==, 1);
        g_assert_cmpint(channel_send(peer.channel, "still", 5), ==, 0);

        channel_hold(peer.channel, false);
        peer_run(&peer);
        g_assert_cmpuint(peer.n_frames, ==, 4);
        assert_frame(&peer, 3, "[4]", 3);
        g_assert_cmpuint(peer.n_closed, ==, 0);
}

/* A peer that ends is not held: its last words come, then its end, once, and the loop does not spin. */
static void test_hold_and_end(void) {
        g_auto(Peer) peer;

        peer_init_held(&peer);
        close_fd(&peer.fd);
        peer_run(&peer);
        g_assert_cmpuint(peer.n_frames, ==, 3);
        g_assert_cmpuint(peer.n_closed, ==, 1);
        g_assert_cmpint(peer.error, ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/channel/one-frame", test_one_frame);
        g_test_add_func("/channel/many-frames-in-one-write", test_many_in_one_write);
        g_test_add_func("/channel/FR-06-byte-at-a-time", test_byte_at_a_time);
        g_test_add_func("/channel/F01-FR-09-bad-bytes", test_bad_bytes);
        g_test_add_func("/channel/F02-length-before-allocation", test_length_before_allocation);
        g_test_add_func("/channel/F03-FR-04-limit-in", test_limit_in);
        g_test_add_func("/channel/F03-limit-out", test_limit_out);
        g_test_add_func("/channel/F03-limit-out-in-pieces", test_limit_out_in_pieces);
        g_test_add_func("/channel/F04-end-between-frames", test_end_clean);
        g_test_add_func("/channel/F04-end-inside-a-frame", test_end_inside);
        g_test_add_func("/channel/F04-end-with-unread-bytes", test_end_with_unread);
        g_test_add_func("/channel/F05-bytes-arrive-unjudged", test_not_utf8_is_handed_over);
        g_test_add_func("/channel/F09-queue-full", test_queue_full);
        g_test_add_func("/channel/F09-queue-full-of-bytes", test_queue_full_of_bytes);
        g_test_add_func("/channel/pieces", test_pieces);
        g_test_add_func("/channel/write-to-the-dead", test_write_to_the_dead);
        g_test_add_func("/channel/peer-stops-reading", test_peer_stops_reading);
        g_test_add_func("/channel/freed-in-frame", test_freed_in_callback);
        g_test_add_func("/channel/freed-in-closed", test_freed_in_closed);
        g_test_add_func("/channel/memory-given-back", test_memory_given_back);
        g_test_add_func("/channel/echo", test_echo);
        g_test_add_func("/channel/hold", test_hold);
        g_test_add_func("/channel/hold-and-end", test_hold_and_end);
        g_test_add_func("/channel/not-a-descriptor", test_not_a_descriptor);
        return g_test_run();
}
