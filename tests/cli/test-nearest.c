/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdint.h>

#include "cli/nearest.h"

static void test_distance(void) {
        static const struct {
                const char *a, *b;
                size_t distance;
        } cases[] = {
                { "", "", 0 },
                { "list", "list", 0 },
                { "lst", "list", 1 },
                { "lisst", "list", 1 },
                { "lsit", "list", 1 },
                { "show", "shaw", 1 },
                { "", "abc", 3 },
                { "kitten", "sitting", 3 },
                { "abcd", "badc", 2 },
        };
        g_autofree char *too_long = g_strnfill(NEAREST_WORD_BYTES_MAX + 1, 'a');
        g_autofree char *longest = g_strnfill(NEAREST_WORD_BYTES_MAX, 'a');

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s, %s", cases[i].a, cases[i].b);
                g_assert_cmpuint(nearest_distance(cases[i].a, cases[i].b), ==, cases[i].distance);
                g_assert_cmpuint(nearest_distance(cases[i].b, cases[i].a), ==, cases[i].distance);
        }
        g_assert_cmpuint(nearest_distance(too_long, "a"), ==, SIZE_MAX);
        g_assert_cmpuint(nearest_distance("a", too_long), ==, SIZE_MAX);
        g_assert_cmpuint(nearest_distance(longest, longest), ==, 0);
}

static void test_word(void) {
        static const char *const verbs[] = { "list", "show", "install", "uninstall", "call", "approve",
                NULL };
        static const struct {
                const char *word, *near;
        } cases[] = {
                { "lst", "list" },
                { "instal", "install" },
                { "shwo", "show" },
                { "appr", "approve" },
                { "unistall", "uninstall" },
                { "frobnicate", NULL },
                { "x", NULL },
                { "", NULL },
                { "cal", "call" },
                { "LIST", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s", cases[i].word);
                g_assert_cmpstr(nearest_word(cases[i].word, verbs), ==, cases[i].near);
        }
        g_assert_null(nearest_word("list", (const char *const[]){ NULL }));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cli/nearest/distance", test_distance);
        g_test_add_func("/cli/nearest/word", test_word);
        return g_test_run();
}
