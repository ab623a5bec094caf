/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "schema/format.h"

typedef struct Case {
        const char *format;
        const char *yes[6];
        const char *no[8];
} Case;

static void test_formats(void) {
        static const Case cases[] = {
                { "date", { "2024-02-29", "0000-01-01" },
                  { "2023-02-29", "2024-13-01", "2024-00-10", "2024-1-01", "2024-04-31", "20240101", "" } },
                { "time", { "00:00:00Z", "23:59:60z", "12:00:00.25+01:00", "01:29:60+01:30" },
                  { "24:00:00Z", "12:00:00", "12:00:60Z", "12:00:00.Z", "12:00:00+24:00", "12:00:00+0100", "1:00:00Z" } },
                { "date-time", { "2024-02-29T12:00:00Z", "2024-01-01t00:00:00-00:00" },
                  { "2024-02-29 12:00:00Z", "2024-02-30T12:00:00Z", "2024-02-29", "2024-02-29T" } },
                { "duration", { "P1Y", "P3W", "PT1H", "P1Y2M3DT4H5M6S", "PT5M1S" },
                  { "P", "PT", "P1", "P1Y1D", "1Y", "P1W1D", "PT1H1S", "P1YT" } },
                { "email", { "a@b.example", "\"a b\"@c.d", "x+y@[127.0.0.1]", "x@[IPv6:::1]" },
                  { "a", "@b", "a@", "a@@b", "a b@c", ".a@b", "a..b@c", "a@-b.c" } },
                { "hostname", { "a", "a-b.example", "xn--4gbwdl.example" },
                  { "", "a.", "-a", "a_b", "a..b", "é.example", ".a" } },
                { "ipv4", { "0.0.0.0", "255.255.255.255" },
                  { "256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4 ", "1..2.3", "a.b.c.d" } },
                { "ipv6", { "::", "::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::8" },
                  { ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "::1%eth0", "1:2:3:4:5:6:7:" } },
                { "uri", { "http://a.example/b?c#d", "urn:x:y", "http://[::1]:80/", "a:" },
                  { "//a", "a", "http://a b", "http://[::1", "http://a/%zz", "http://a:b/", "é:a", "1a:b" } },
                { "uri-reference", { "", "//a", "a/b", "#x", "?y" }, { "a b", "\\", "1:b", "#\\" } },
                { "iri", { "http://é.example/ü?ö#ä" }, { "é", "http://a b" } },
                { "uri-template", { "", "a{b}c", "{+a,b:3,c*}", "{?x.y}" },
                  { "{", "}", "{a", "{a,}", "{a:0}", "{a b}", "a b" } },
                { "json-pointer", { "", "/a~0b~1c", "/" }, { "a", "/~", "/~2", "#/a" } },
                { "relative-json-pointer", { "0", "1/a", "0#", "10/~0" }, { "", "01", "/a", "0##", "-1", "1~" } },
                { "uuid", { "00000000-0000-0000-0000-00000000000A" },
                  { "00000000-0000-0000-0000-00000000000", "00000000000000000000000000000000",
                    "g0000000-0000-0000-0000-000000000000" } },
                { "regex", { "^a(?:b)$", "(?<=a+)b" }, { "(", "\\a", "(?i)" } },
                { "idn-email", { "é@ü.example" }, { "é" } },
                { "idn-hostname", { "a.b", "ab。c" }, { "", "-é", "a..b", "a." } },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Format *format = format_find(cases[i].format, SCHEMA_DRAFT_2020_12);

                g_assert_nonnull(format);
                for (size_t j = 0; j < 6; j++)
                        if (cases[i].yes[j] && !format_holds(format, cases[i].yes[j], strlen(cases[i].yes[j])))
                                g_error("%s should take '%s'", cases[i].format, cases[i].yes[j]);
                for (size_t j = 0; j < 8; j++)
                        if (cases[i].no[j] && format_holds(format, cases[i].no[j], strlen(cases[i].no[j])))
                                g_error("%s should refuse '%s'", cases[i].format, cases[i].no[j]);
        }
}

/* Every format on every short text over the characters that formats are made of: no read beyond the end, no crash. */
static void test_short_texts(void) {
        static const char *const names[] = { "date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri",
                "uri-reference", "iri", "uri-template", "json-pointer", "relative-json-pointer", "uuid", "regex", "idn-email",
                "idn-hostname" };
        static const char alphabet[] = "a0:/.-[]@{~%\"\\T\0#";
        const size_t letters = sizeof(alphabet) - 1;
        size_t taken = 0;

        for (size_t f = 0; f < G_N_ELEMENTS(names); f++) {
                const Format *format = format_find(names[f], SCHEMA_DRAFT_2020_12);

                for (size_t length = 0, count = 1; length <= 3; length++, count *= letters)
                        for (size_t n = 0; n < count; n++) {
                                g_autofree char *text = g_malloc(length + (length == 0));

                                for (size_t i = 0, rest = n; i < length; i++, rest /= letters)
                                        text[i] = alphabet[rest % letters];
                                taken += format_holds(format, text, length);
                        }
        }
        g_assert_cmpuint(taken, >, 100);
}

static void test_drafts(void) {
        g_assert_null(format_find("duration", SCHEMA_DRAFT_7));
        g_assert_null(format_find("date", SCHEMA_DRAFT_6));
        g_assert_null(format_find("no-such-format", SCHEMA_DRAFT_2020_12));
        g_assert_nonnull(format_find("ipv4", SCHEMA_DRAFT_4));
        g_assert_true(format_find("hostname", SCHEMA_DRAFT_4) != format_find("hostname", SCHEMA_DRAFT_7));
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/format/formats", test_formats);
        g_test_add_func("/format/short-texts", test_short_texts);
        g_test_add_func("/format/drafts", test_drafts);

        return g_test_run();
}
