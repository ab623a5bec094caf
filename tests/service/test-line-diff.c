/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "service/line-diff.h"

static void test_diffs(void) {
        static const struct {
                const char *before, *after, *diff;
        } cases[] = {
                { "", "", "" },
                { "a\nb\n", "a\nb\n", "" },
                { "", "a\n", "@@ -0,0 +1,1 @@\n+a\n" },
                { "a\n", "", "@@ -1,1 +0,0 @@\n-a\n" },
                { "a\n", "b\n", "@@ -1,1 +1,1 @@\n-a\n+b\n" },
                { "a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n" },
                { "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
                  "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n" },
                { "a\n1\n2\n3\n4\n5\n6\n7\n8\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\n8\nB\n",
                  "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-b\n+B\n" },
                { "a\nb\nc\n", "c\na\nb\n", "@@ -1,3 +1,3 @@\n+c\n a\n b\n-c\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *diff = line_diff(cases[i].before, cases[i].after);

                g_test_message("case %zu", i);
                g_assert_cmpstr(diff, ==, cases[i].diff);
        }
}

/* Applies a diff to @before; the result must be @after. */
static char *apply(const char *before, const char *diff) {
        g_auto(GStrv) old = g_strsplit(before, "\n", -1), lines = g_strsplit(diff, "\n", -1);
        g_autoptr(GString) out = g_string_new(NULL);
        size_t at = 0;

        for (size_t i = 0; lines[i] && *lines[i]; i++) {
                size_t start, count;

                if (g_str_has_prefix(lines[i], "@@")) {
                        g_assert_cmpint(sscanf(lines[i], "@@ -%zu,%zu", &start, &count), ==, 2);
                        while (at + (count > 0) < start)
                                g_string_append_printf(out, "%s\n", old[at++]);
                        continue;
                }
                if (lines[i][0] != '+') {
                        g_assert_cmpstr(old[at], ==, lines[i] + 1);
                        at++;
                }
                if (lines[i][0] != '-')
                        g_string_append_printf(out, "%s\n", lines[i] + 1);
        }
        while (old[at] && (*old[at] || old[at + 1]))
                g_string_append_printf(out, "%s\n", old[at++]);
        return g_string_free(g_steal_pointer(&out), FALSE);
}

static void test_random(void) {
        for (unsigned round = 0; round < 500; round++) {
                g_autoptr(GString) before = g_string_new(NULL), after = g_string_new(NULL);
                g_autofree char *diff = NULL, *result = NULL;

                for (int i = 0, n = g_test_rand_int_range(0, 30); i < n; i++)
                        g_string_append_printf(before, "%d\n", g_test_rand_int_range(0, 6));
                for (int i = 0, n = g_test_rand_int_range(0, 30); i < n; i++)
                        g_string_append_printf(after, "%d\n", g_test_rand_int_range(0, 6));
                diff = line_diff(before->str, after->str);
                result = apply(before->str, diff);
                g_assert_cmpstr(result, ==, after->str);
        }
}

static void test_large(void) {
        g_autoptr(GString) before = g_string_new(NULL), after = g_string_new(NULL);
        g_autofree char *diff = NULL, *result = NULL;

        for (unsigned i = 0; i < LINE_DIFF_LINES_MAX + 10; i++) {
                g_string_append_printf(before, "%u\n", i);
                g_string_append_printf(after, "%u\n", i * 3);
        }
        diff = line_diff(before->str, after->str);
        result = apply(before->str, diff);
        g_assert_cmpstr(result, ==, after->str);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/service/line-diff/diffs", test_diffs);
        g_test_add_func("/service/line-diff/random", test_random);
        g_test_add_func("/service/line-diff/large", test_large);
        return g_test_run();
}
