/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "prompt/interpolation.h"

static void test_check(void) {
        static const struct {
                const char *text;
                int expected;
                size_t bad;
        } cases[] = {
                { "plain", 0, 0 },
                { "{{model}}", 0, 0 },
                { "a {{cwd}} b {{model}} c", 0, 0 },
                { "{{model}}{{cwd}}", 0, 0 },
                { "open {{", 0, 0 },
                { "open {{model", 0, 0 },
                { "open {{ model } }", 0, 0 },
                { "}} closing", 0, 0 },
                { "{ {model} }", 0, 0 },
                { "{model}", 0, 0 },
                { "{{model_id}}", -EINVAL, 0 },
                { "ab{{}}", -EINVAL, 2 },
                { "{{ model }}", -EINVAL, 0 },
                { "{{{cwd}}", -EINVAL, 0 },
                { "{{MODEL}}", -EINVAL, 0 },
                { "{{model}} {{nope}}", -EINVAL, 10 },
                { "{{a {{model}}", -EINVAL, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                size_t bad = 99;

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(interpolation_check(cases[i].text, &bad), ==, cases[i].expected);
                g_assert_cmpuint(bad, ==, cases[i].expected < 0 ? cases[i].bad : 99);
        }
}

static void test_expand(void) {
        static const struct {
                const char *text;
                const char *expected; /* NULL: refused */
        } cases[] = {
                { "", "" },
                { "a{{model}}b", "aMb" },
                { "{{cwd}}:{{model}}:{{cwd}}", "/w:M:/w" },
                { "{{model}} {{", "M {{" },
                { "{{model", "{{model" },
                { "}} {{cwd}}", "}} /w" },
                { "{{model}}}", "M}" },
                { "{{x}}", NULL },
                { "{{model}} {{x}}", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) out = g_string_new("before ");
                g_autofree char *expected = g_strconcat("before ", cases[i].expected, NULL);

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(interpolation_expand(cases[i].text, "M", "/w", 100, out), ==,
                                cases[i].expected ? 0 : -EINVAL);
                g_assert_cmpstr(out->str, ==, expected);
        }
}

/* A value that looks like a variable stays what it is. */
static void test_not_rescanned(void) {
        g_autoptr(GString) out = g_string_new(NULL);

        g_assert_cmpint(interpolation_expand("{{model}}|{{cwd}}", "{{cwd}}", "{{model}}{{x}}", 100, out), ==,
                        0);
        g_assert_cmpstr(out->str, ==, "{{cwd}}|{{model}}{{x}}");
}

static void test_limit(void) {
        g_autoptr(GString) out = g_string_new("x");

        g_assert_cmpint(interpolation_expand("{{model}}{{model}}", "12345", "", 10, out), ==, 0);
        g_assert_cmpstr(out->str, ==, "x1234512345");
        g_assert_cmpint(interpolation_expand("{{model}}{{model}}!", "12345", "", 10, out), ==, -E2BIG);
        g_assert_cmpint(interpolation_expand("{{model}}{{model}}{{model}}", "12345", "", 10, out), ==,
                        -E2BIG);
        g_assert_cmpstr(out->str, ==, "x1234512345");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/interpolation/P06-check", test_check);
        g_test_add_func("/interpolation/P06-expand", test_expand);
        g_test_add_func("/interpolation/P06-values-not-rescanned", test_not_rescanned);
        g_test_add_func("/interpolation/P06-limit", test_limit);
        return g_test_run();
}
