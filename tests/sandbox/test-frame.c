/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "common/limits.h"
#include "sandbox/frame.h"

static void test_round_trip(void) {
        static const uint32_t sizes[] = { 0, 1, 255, 256, 65535, 65536, FRAME_PAYLOAD_BYTES_MAX };

        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
                uint8_t header[FRAME_HEADER_BYTES];
                uint32_t size = 1234;

                frame_write_header(header, sizes[i]);
                g_assert_cmpmem(header, 4, "CWX1", 4);
                g_assert_cmpint(frame_read_header(header, &size), ==, 0);
                g_assert_cmpuint(size, ==, sizes[i]);
        }
}

static void test_byte_order(void) {
        uint8_t header[FRAME_HEADER_BYTES];

        frame_write_header(header, 0x01020304);
        g_assert_cmpmem(header + 4, 4, "\x04\x03\x02\x01", 4);
}

static void test_refused(void) {
        static const struct {
                const char *bytes;
                int expected;
        } cases[] = {
                { "CWX2\0\0\0\0", -EBADMSG },
                { "cwx1\0\0\0\0", -EBADMSG },
                { "\0\0\0\0\0\0\0\0", -EBADMSG },
                { "Content-", -EBADMSG },
                { "CWX1\x01\x00\x00\x02", -EMSGSIZE },
                { "CWX1\xff\xff\xff\xff", -EMSGSIZE },
                { "CWX1\x00\x00\x00\x80", -EMSGSIZE },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                uint8_t header[FRAME_HEADER_BYTES];
                uint32_t size = 1234;

                memcpy(header, cases[i].bytes, sizeof(header));
                g_assert_cmpint(frame_read_header(header, &size), ==, cases[i].expected);
                g_assert_cmpuint(size, ==, 1234);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/frame/round-trip", test_round_trip);
        g_test_add_func("/frame/byte-order", test_byte_order);
        g_test_add_func("/frame/F01-F02-refused-headers", test_refused);
        return g_test_run();
}
