/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "sandbox/unit-name.h"

static void test_escape(void) {
        static const struct {
                const char *text;
                const char *expected;
        } cases[] = {
                { "counter", "counter" },
                { "user:counter", "user:counter" },
                { "a_b.c", "a_b.c" },
                { ".hidden", "\\x2ehidden" },
                { "a-b", "a\\x2db" },
                { "a/b c", "a\\x2fb\\x20c" },
                { "\xc3\xa9", "\\xc3\\xa9" },
                { "\\x2d", "\\x5cx2d" },
                { "", "" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *escaped = unit_name_escape(cases[i].text);

                g_assert_cmpstr(escaped, ==, cases[i].expected);
        }
}

static void test_host(void) {
        g_autofree char *first = NULL, *second = NULL, *none = NULL;

        g_assert_cmpint(unit_name_for_host("user:mod-counter", 7, &first), ==, 0);
        g_assert_cmpstr(first, ==, "codewhale-host-user:mod\\x2dcounter-7.service");
        g_assert_cmpint(unit_name_for_host("x", UINT64_MAX, &second), ==, 0);
        g_assert_cmpstr(second, ==, "codewhale-host-x-18446744073709551615.service");
        g_assert_cmpint(unit_name_for_host("", 1, &none), ==, -EINVAL);
        g_assert_null(none);
}

/* Different ids have different names, however long, and a name always fits. */
static void test_long(void) {
        static const char *const fills[] = { "a", "-", "\xf0\x9f\x90\xb3" };

        for (size_t i = 0; i < G_N_ELEMENTS(fills); i++)
                for (unsigned n = 1; n < 300; n += 7) {
                        GString *id = g_string_new(NULL);
                        g_autofree char *name = NULL, *other = NULL;

                        for (unsigned k = 0; k < n; k++)
                                g_string_append(id, fills[i]);
                        g_assert_cmpint(unit_name_for_host(id->str, UINT64_MAX, &name), ==, 0);
                        g_string_append_c(id, 'b');
                        g_assert_cmpint(unit_name_for_host(id->str, UINT64_MAX, &other), ==, 0);
                        g_assert_cmpstr(name, !=, other);
                        g_assert_cmpuint(strlen(name), <=, 255);
                        /* no escape is cut in two */
                        for (const char *at = strchr(name, '\\'); at; at = strchr(at + 1, '\\'))
                                g_assert_true(at[1] == 'x' && g_ascii_isxdigit(at[2]) &&
                                                g_ascii_isxdigit(at[3]));
                        g_string_free(id, TRUE);
                }
}

static void test_path(void) {
        g_autofree char *path = unit_name_to_path("codewhale-host-a\\x2db-1.service");

        g_assert_cmpstr(path, ==,
                        "/org/freedesktop/systemd1/unit/codewhale_2dhost_2da_5cx2db_2d1_2eservice");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/unit-name/escape", test_escape);
        g_test_add_func("/unit-name/host", test_host);
        g_test_add_func("/unit-name/long", test_long);
        g_test_add_func("/unit-name/path", test_path);
        return g_test_run();
}
