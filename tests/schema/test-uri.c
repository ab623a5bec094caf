/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "schema/uri.h"

/* RFC 3986, 5.4, and what schemas add to it. */
static void test_resolve(void) {
        static const char base[] = "http://a/b/c/d;p?q";
        static const char *const cases[][3] = {
                { base, "g:h", "g:h" },
                { base, "g", "http://a/b/c/g" },
                { base, "./g", "http://a/b/c/g" },
                { base, "g/", "http://a/b/c/g/" },
                { base, "/g", "http://a/g" },
                { base, "//g", "http://g" },
                { base, "?y", "http://a/b/c/d;p?y" },
                { base, "g?y", "http://a/b/c/g?y" },
                { base, "#s", "http://a/b/c/d;p?q#s" },
                { base, "g?y#s", "http://a/b/c/g?y#s" },
                { base, ";x", "http://a/b/c/;x" },
                { base, "", "http://a/b/c/d;p?q" },
                { base, ".", "http://a/b/c/" },
                { base, "..", "http://a/b/" },
                { base, "../g", "http://a/b/g" },
                { base, "../..", "http://a/" },
                { base, "../../../g", "http://a/g" },
                { base, "/./g", "http://a/g" },
                { base, "/../g", "http://a/g" },
                { base, "g.", "http://a/b/c/g." },
                { base, "..g", "http://a/b/c/..g" },
                { base, "./g/.", "http://a/b/c/g/" },
                { base, "g/../h", "http://a/b/c/h" },
                { base, "g;x=1/../y", "http://a/b/c/y" },
                { base, "g?y/../x", "http://a/b/c/g?y/../x" },
                { "http://a", "b", "http://a/b" },
                { "", "b.json", "b.json" },
                { "", "#/x", "#/x" },
                { "a/b", "c#d", "a/c#d" },
                { "urn:uuid:1", "#x", "urn:uuid:1#x" },
                { "http://a/b", "urn:x:../y", "urn:x:../y" },
                { "x", "", "x" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *resolved = uri_resolve(cases[i][0], cases[i][1]);

                g_assert_cmpstr(resolved, ==, cases[i][2]);
        }
}

static void test_unescape(void) {
        static const char *const refused[] = { "%", "%1", "%zz", "%00", "%ff", "a%C3" };
        g_autofree char *text = uri_unescape("a%25b%C3%A9/~1");

        g_assert_cmpstr(text, ==, "a%bé/~1");
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
                g_assert_null(uri_unescape(refused[i]));
}

static void test_fragment(void) {
        char with[] = "a#b#c", without[] = "a", empty[] = "a#";

        g_assert_cmpstr(uri_split_fragment(with), ==, "b#c");
        g_assert_cmpstr(with, ==, "a");
        g_assert_null(uri_split_fragment(without));
        g_assert_cmpstr(uri_split_fragment(empty), ==, "");
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/uri/resolve", test_resolve);
        g_test_add_func("/uri/unescape", test_unescape);
        g_test_add_func("/uri/fragment", test_fragment);

        return g_test_run();
}
