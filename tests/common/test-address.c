/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <string.h>

#include "common/address.h"

typedef union Socket {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
} Socket;

static Socket socket_of(const char *text) {
        Socket socket = {};

        if (strchr(text, ':')) {
                socket.any.sa_family = AF_INET6;
                g_assert_cmpint(inet_pton(AF_INET6, text, &socket.v6.sin6_addr), ==, 1);
        } else {
                socket.any.sa_family = AF_INET;
                g_assert_cmpint(inet_pton(AF_INET, text, &socket.v4.sin_addr), ==, 1);
        }
        return socket;
}

static void test_kinds(void) {
        static const struct {
                AddressKind kind;
                const char *addresses[24];
        } cases[] = {
                { ADDRESS_PUBLIC,
                  { "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
                    "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.20.0.0", "223.255.255.255",
                    "2606:4700::1111", "2a00::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1" } },
                { ADDRESS_LOOPBACK, { "127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::" } },
                { ADDRESS_PRIVATE,
                  { "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.1.1",
                    "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.19.255.255", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1",
                    "255.255.255.255" } },
                { ADDRESS_PRIVATE,
                  { "::", "::2", "::127.0.0.1", "fe80::1", "fec0::1", "fc00::1", "fd12:3456::1", "ff02::1", "2001:db8::1", "2001::1",
                    "3fff::1", "64:ff9b:1::1", "100::1", "4000::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::192.168.0.1",
                    "2002:a00:1::1", "::ffff:0.0.0.0" } },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                for (size_t j = 0; j < G_N_ELEMENTS(cases[i].addresses) && cases[i].addresses[j]; j++) {
                        Socket socket = socket_of(cases[i].addresses[j]);

                        g_test_message("%s", cases[i].addresses[j]);
                        g_assert_cmpint(address_kind(&socket.any), ==, cases[i].kind);
                }
        g_assert_cmpint(address_kind(&(struct sockaddr) { .sa_family = AF_UNIX }), ==, ADDRESS_PRIVATE);
}

static void test_prefixes(void) {
        static const struct {
                const char *prefix, *inside, *outside;
        } cases[] = {
                { "10.1.2.3", "10.1.2.3", "10.1.2.4" },
                { "10.0.0.0/8", "10.255.0.1", "11.0.0.0" },
                { "192.168.16.0/20", "192.168.31.255", "192.168.32.0" },
                { "0.0.0.0/0", "255.1.1.1", "::1" },
                { "fd00::/8", "fdff::1", "fe00::1" },
                { "fd00:1:2::/47", "fd00:1:3:ffff::", "fd00:1:4::" },
                { "::1", "::1", "::2" },
                { "10.0.0.0/8", "::ffff:10.1.1.1", "::ffff:11.1.1.1" },
                { "10.0.0.0/8", "10.0.0.0", "64:ff9b::a00:1" }, /* a gateway may lead elsewhere */
                { "::/0", "fe80::1", "10.0.0.1" },
        };
        AddressPrefix prefix;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Socket inside = socket_of(cases[i].inside), outside = socket_of(cases[i].outside);

                g_test_message("%s", cases[i].prefix);
                g_assert_cmpint(address_prefix_parse(cases[i].prefix, &prefix), ==, 0);
                g_assert_true(address_prefix_contains(&prefix, &inside.any));
                g_assert_false(address_prefix_contains(&prefix, &outside.any));
                g_assert_false(address_prefix_contains(&prefix, &(struct sockaddr) { .sa_family = AF_UNIX }));
        }
}

static void test_no_prefixes(void) {
        static const char *const cases[] = {
                "", "/", "10", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/8 ", " 10.0.0.0/8",
                "10.0.0.1/8", "10.0.0.0/8/8", "localhost", "example.org", "256.0.0.1", "10.0.0", "010.0.0.0/8", "::1/129", "fd00::1/8",
                "fe80::1%eth0", "::g", "10.0.0.0/4294967304", "1111:2222:3333:4444:5555:6666:7777:8888:9999:0000:1111:2222:3333/1", "*",
        };
        AddressPrefix prefix = { .bits = 77 };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s", cases[i]);
                g_assert_cmpint(address_prefix_parse(cases[i], &prefix), ==, -EINVAL);
                g_assert_cmpuint(prefix.bits, ==, 77);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/address/kinds", test_kinds);
        g_test_add_func("/address/prefixes", test_prefixes);
        g_test_add_func("/address/no-prefixes", test_no_prefixes);
        return g_test_run();
}
