/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "common/plain-text.h"

#define LONGEST 20

/* Every byte at every place of texts of every length up to some words */
static void test_every_byte(void) {
        for (int byte = 0; byte < 256; byte++)
                for (size_t size = 1; size <= LONGEST; size++)
                        for (size_t at = 0; at < size; at++) {
                                bool plain = byte >= 0x20 && byte <= 0x7e;
                                char text[LONGEST];

                                memset(text, 'x', sizeof text);
                                text[at] = (char) byte;
                                g_assert_cmpint(plain_text_is(text, size), ==, plain);
                                g_assert_cmpint(plain_text_is_json(text, size), ==, plain && byte != '"' && byte != '\\');
                        }
}

/* A byte that is not plain does not hide behind its neighbour. */
static void test_every_pair(void) {
        for (int first = 0; first < 256; first++)
                for (int second = 0; second < 256; second++) {
                        char text[] = { 'a', (char) first, (char) second, 'b', 'c', 'd', 'e', 'f' };
                        bool plain = first >= 0x20 && first <= 0x7e && second >= 0x20 && second <= 0x7e;

                        g_assert_cmpint(plain_text_is(text, sizeof text), ==, plain);
                }
}

static void test_what_follows(void) {
        static const char text[] = "plain\n";

        g_assert_true(plain_text_is("", 0));
        g_assert_true(plain_text_is_json("", 0));
        g_assert_true(plain_text_is(text, 5));
        g_assert_false(plain_text_is(text, 6));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plain-text/every-byte", test_every_byte);
        g_test_add_func("/plain-text/every-pair", test_every_pair);
        g_test_add_func("/plain-text/what-follows", test_what_follows);
        return g_test_run();
}
