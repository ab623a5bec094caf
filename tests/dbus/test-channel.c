/* SPDX-License-Identifier: MIT */

/* Direct channels: the same objects with the identity of who asked, for as long as he is there and reads. */

#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "served.h"

static Served served;

static int take_channel_fd(sd_bus *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int fd;

        if (sd_bus_call_method(client, SERVICE, ROOT, SERVICE, "OpenChannel", &error, &reply, NULL) < 0)
                g_error("OpenChannel: %s", error.message);
        g_assert_cmpint(sd_bus_message_read(reply, "h", &fd), >, 0);
        return dup(fd);
}

static sd_bus *open_channel(sd_bus *client) {
        sd_bus *channel = NULL;
        int fd = take_channel_fd(client);

        g_assert_cmpint(sd_bus_new(&channel), >=, 0);
        g_assert_cmpint(sd_bus_set_fd(channel, fd, fd), >=, 0);
        g_assert_cmpint(sd_bus_negotiate_fds(channel, true), >=, 0);
        g_assert_cmpint(sd_bus_start(channel), >=, 0);
        return channel;
}

static ServedCounts wait_for_channels(sd_bus *client, uint32_t channels) {
        ServedCounts counts = served_count(client);

        for (unsigned i = 0; i < 500 && counts.channels != channels; i++) {
                g_usleep(10000);
                counts = served_count(client);
        }
        g_assert_cmpuint(counts.channels, ==, channels);
        return counts;
}

static void test_identity(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus), channel = open_channel(client);
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *owner = NULL;
        const char *path, *name;

        g_assert_cmpint(sd_bus_get_unique_name(client, &name), >=, 0);
        g_assert_cmpint(sd_bus_call_method(channel, NULL, ROOT, SERVICE ".Sessions", "Open", NULL, &reply, "a{sv}", 0), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "o", &path), >, 0);
        g_assert_cmpint(sd_bus_get_property_string(channel, NULL, path, SERVICE ".Session", "Owner", NULL, &owner), >=, 0);
        g_assert_cmpstr(owner, ==, name);

        /* One and the same client on both ways. */
        g_assert_cmpint(sd_bus_call_method(client, SERVICE, path, SERVICE ".Session", "SetMode", NULL, NULL, "s", "plan"), >=, 0);
        g_assert_cmpint(sd_bus_call_method(channel, NULL, path, SERVICE ".Session", "Close", NULL, NULL, NULL), >=, 0);
}

/* A sender that a peer writes into its messages means nothing. */
static void test_forged_sender(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus), other = private_bus_open(served.bus);
        g_autoptr(sd_bus) channel = open_channel(client);
        g_autoptr(sd_bus_message) opened = NULL, m = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const char *path, *name;

        g_assert_cmpint(sd_bus_get_unique_name(other, &name), >=, 0);
        g_assert_cmpint(sd_bus_call_method(other, SERVICE, ROOT, SERVICE ".Sessions", "Open", NULL, &opened, "a{sv}", 0), >=, 0);
        g_assert_cmpint(sd_bus_message_read(opened, "o", &path), >, 0);

        g_assert_cmpint(sd_bus_message_new_method_call(channel, &m, NULL, path, SERVICE ".Session", "Close"), >=, 0);
        g_assert_cmpint(sd_bus_message_set_sender(m, name), >=, 0);
        g_assert_cmpint(sd_bus_call(channel, m, 10000000, &error, NULL), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_ACCESS_DENIED);
}

static int on_opened(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        unsigned *n = userdata;

        (void) m;
        (void) reterr;
        (*n)++;
        return 0;
}

static void test_signals(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus), channel = open_channel(client);
        unsigned n = 0;

        g_assert_cmpint(sd_bus_add_match(channel, NULL, "type='signal',interface='" SERVICE ".Sessions',member='Opened'",
                                        on_opened, &n), >=, 0);
        g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, SERVICE ".Sessions", "Open", NULL, NULL, "a{sv}", 0), >=, 0);
        while (n == 0) {
                int r = sd_bus_process(channel, NULL);

                g_assert_cmpint(r, >=, 0);
                if (r == 0)
                        g_assert_cmpint(sd_bus_wait(channel, 60000000), >, 0);
        }
        g_assert_cmpuint(n, ==, 1);
}

static void test_end(void) {
        g_autoptr(sd_bus) other = private_bus_open(served.bus);
        ServedCounts before = served_count(other), after;

        /* The client closes it. */
        for (unsigned i = 0; i < 20; i++) {
                g_autoptr(sd_bus) channel = open_channel(other);

                g_assert_cmpint(sd_bus_call_method(channel, NULL, ROOT, SERVICE, "Describe", NULL, NULL, NULL), >=, 0);
                g_clear_pointer(&channel, sd_bus_flush_close_unref);
                (void) wait_for_channels(other, before.channels);
        }
        after = wait_for_channels(other, before.channels);
        g_assert_cmpuint(after.fds, <=, before.fds + 4);
}

/* Its asker leaves the bus and keeps the other end. */
static void test_dies_with_name(void) {
        g_autoptr(sd_bus) other = private_bus_open(served.bus), channel = NULL;
        ServedCounts before = served_count(other);
        int r = 0;

        {
                g_autoptr(sd_bus) client = private_bus_open(served.bus);

                channel = open_channel(client);
                g_assert_cmpint(sd_bus_call_method(channel, NULL, ROOT, SERVICE, "Describe", NULL, NULL, NULL), >=, 0);
        }
        (void) wait_for_channels(other, before.channels);
        while (r >= 0 && sd_bus_is_open(channel) > 0) {
                r = sd_bus_process(channel, NULL);
                if (r == 0)
                        r = sd_bus_wait(channel, 60000000) > 0 ? 0 : -ETIMEDOUT;
        }
        g_assert_cmpint(r, !=, -ETIMEDOUT);
        g_assert_cmpint(sd_bus_call_method(channel, NULL, ROOT, SERVICE, "Describe", NULL, NULL, NULL), <, 0);
}

static void test_limit(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus), other = private_bus_open(served.bus);
        sd_bus *channels[CLIENT_CHANNELS_MAX];
        g_autofree char *name = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(channels); i++)
                channels[i] = open_channel(client);
        name = call_error(client, SERVICE, ROOT, SERVICE, "OpenChannel", NULL);
        g_assert_cmpstr(name, ==, ERROR_LIMIT_EXCEEDED);
        sd_bus_flush_close_unref(open_channel(other));

        for (size_t i = 0; i < G_N_ELEMENTS(channels); i++)
                sd_bus_flush_close_unref(channels[i]);
}

/* Whoever calls and never reads his answers loses the channel, and we have kept a bounded amount for him. */
static void test_never_reads(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        ServedCounts before = served_count(client);
        sd_bus *channel = open_channel(client);
        size_t memory = served_memory(&served);
        int r = 0;

        for (unsigned i = 0; i < 100000 && r >= 0; i++) {
                g_autoptr(sd_bus_message) m = NULL;
                uint64_t cookie;

                r = sd_bus_message_new_method_call(channel, &m, NULL, ROOT, SERVICE, "Describe");
                if (r >= 0)
                        r = sd_bus_send(channel, m, &cookie);
                if (r >= 0 && i % 64 == 0)
                        r = sd_bus_flush(channel);
        }
        (void) wait_for_channels(client, before.channels);
        g_assert_cmpuint(served_memory(&served), <, memory + MIB(64));
        g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, SERVICE, "Describe", NULL, NULL, NULL), >=, 0);
        sd_bus_close(channel);
        sd_bus_unref(channel);
}

static void write_all(int fd, const void *data, size_t size) {
        g_assert_cmpint(write(fd, data, size), ==, (ssize_t) size);
}

static void add_number(GByteArray *bytes, uint32_t number) {
        const uint8_t raw[] = { number & 0xff, (number >> 8) & 0xff, (number >> 16) & 0xff, (number >> 24) & 0xff };

        g_byte_array_append(bytes, raw, sizeof raw);
}

static void pad(GByteArray *bytes) {
        while (bytes->len % 8 != 0)
                g_byte_array_append(bytes, (const uint8_t[]) { 0 }, 1);
}

static void add_field(GByteArray *bytes, uint8_t code, char type, const char *text) {
        pad(bytes);
        g_byte_array_append(bytes, (const uint8_t[]) { code, 1, (uint8_t) type, 0 }, 4);
        add_number(bytes, (uint32_t) strlen(text));
        g_byte_array_append(bytes, (const uint8_t *) text, strlen(text) + 1);
}

/* org.freedesktop.DBus.Peer.Ping as it stands on the wire, little endian. */
static GByteArray *make_ping(void) {
        g_autoptr(GByteArray) fields = g_byte_array_new();
        GByteArray *bytes = g_byte_array_new();

        add_field(fields, 1, 'o', "/");
        add_field(fields, 2, 's', "org.freedesktop.DBus.Peer");
        add_field(fields, 3, 's', "Ping");
        g_byte_array_append(bytes, (const uint8_t[]) { 'l', 1, 0, 1 }, 4);
        add_number(bytes, 0); /* body */
        add_number(bytes, 1); /* serial */
        add_number(bytes, fields->len);
        g_byte_array_append(bytes, fields->data, fields->len);
        pad(bytes);
        return bytes;
}

/* A client that sends its first call in one piece with the authentication, and then only listens. */
static void test_pipelined(void) {
        static const char auth[] = "\0AUTH ANONYMOUS\r\nBEGIN\r\n";
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        _cleanup_close_ int fd = take_channel_fd(client);
        g_autoptr(GByteArray) bytes = g_byte_array_new(), ping = make_ping();
        const struct timeval patience = { .tv_sec = 10 };
        char answer[256] = {};
        size_t filled = 0;

        g_byte_array_append(bytes, (const uint8_t *) auth, sizeof(auth) - 1);
        g_byte_array_append(bytes, ping->data, ping->len);
        write_all(fd, bytes->data, bytes->len);
        g_assert_cmpint(fcntl(fd, F_SETFL, 0), ==, 0);
        g_assert_cmpint(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), ==, 0);
        while (filled < sizeof(answer) && !memchr(answer, 'l', filled)) {
                ssize_t n = read(fd, answer + filled, sizeof(answer) - filled);

                g_assert_cmpint(n, >, 0);
                filled += (size_t) n;
        }
}

/* Something other than D-Bus on the socket ends it, and nothing else. */
static void test_garbage(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        ServedCounts before = served_count(client);
        static const char *const texts[] = {
                "GET / HTTP/1.1\r\n\r\n",
                "\0AUTH ANONYMOUS\r\nBEGIN\r\nXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                _cleanup_close_ int fd = take_channel_fd(client);
                size_t size = i == 0 ? strlen(texts[i]) : 1 + strlen(texts[i] + 1);

                g_test_message("case %zu", i);
                g_assert_cmpint(write(fd, texts[i], size), ==, (ssize_t) size);
                (void) wait_for_channels(client, before.channels);
        }
        g_assert_cmpuint(served_count(client).fds, <=, before.fds + 4);
}

int main(int argc, char **argv) {
        int r;

        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        served = served_start();
        g_test_add_func("/dbus/channel/identity", test_identity);
        g_test_add_func("/dbus/channel/forged-sender", test_forged_sender);
        g_test_add_func("/dbus/channel/signals", test_signals);
        g_test_add_func("/dbus/channel/end", test_end);
        g_test_add_func("/dbus/channel/dies-with-name", test_dies_with_name);
        g_test_add_func("/dbus/channel/limit", test_limit);
        g_test_add_func("/dbus/channel/pipelined", test_pipelined);
        g_test_add_func("/dbus/channel/garbage", test_garbage);
        g_test_add_func("/dbus/channel/H12-never-reads", test_never_reads);
        r = g_test_run();
        served_stop(&served);
        return r;
}
