/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/sanitize.h"

#define BOTH (SANITIZE_ESCAPED | SANITIZE_CUT)

typedef struct Case {
        const char *id;
        const char *text;
        const char *expected;
        SanitizeFlags flags;
} Case;

static const Case line_cases[] = {
        { "plain", "Grüße, 世界", "Grüße, 世界", 0 },
        { "empty", "", "", 0 },
        { "AP-07-ansi", "\x1b[2J\x1b[1;1HApproved\x9b" "31m", "\\x1b[2J\\x1b[1;1HApproved\\x9b31m", SANITIZE_ESCAPED },
        { "AP-07-c1-in-utf8", "a\xc2\x9b" "31mb", "a\\x9b31mb", SANITIZE_ESCAPED },
        { "AP-07-title", "\x1b]0;root\a", "\\x1b]0;root\\x07", SANITIZE_ESCAPED },
        { "backspace", "rm -rf /\b\b\b", "rm -rf /\\x08\\x08\\x08", SANITIZE_ESCAPED },
        { "delete", "a\x7f", "a\\x7f", SANITIZE_ESCAPED },
        { "newline", "one\ntwo\r\tthree", "one\\x0atwo\\x0d\\x09three", SANITIZE_ESCAPED },
        { "bidi-override", "user\u202etxt.exe", "user\\u{202e}txt.exe", SANITIZE_ESCAPED },
        { "bidi-isolate", "\u2066a\u2069", "\\u{2066}a\\u{2069}", SANITIZE_ESCAPED },
        { "bidi-mark", "a\u200fb\u061cc", "a\\u{200f}b\\u{61c}c", SANITIZE_ESCAPED },
        { "zero-width", "re\u200bad\u200d\ufeff", "re\\u{200b}ad\\u{200d}\\u{feff}", SANITIZE_ESCAPED },
        { "soft-hyphen", "a\u00adb", "a\\xadb", SANITIZE_ESCAPED },
        { "separators", "a\u2028b\u2029c", "a\\u{2028}b\\u{2029}c", SANITIZE_ESCAPED },
        { "blank-fillers", "\u3164\u115f\u2800\u034f", "\\u{3164}\\u{115f}\\u{2800}\\u{34f}", SANITIZE_ESCAPED },
        { "odd-spaces", "a\u00a0b\u3000c\u2003d", "a\\xa0b\\u{3000}c\\u{2003}d", SANITIZE_ESCAPED },
        { "variation-selector", "a\ufe0f\U000e0100", "a\\u{fe0f}\\u{e0100}", SANITIZE_ESCAPED },
        { "tags", "a\U000e0041", "a\\u{e0041}", SANITIZE_ESCAPED },
        { "private-use", "\ue000\U000f0000", "\\u{e000}\\u{f0000}", SANITIZE_ESCAPED },
        { "noncharacter", "\xef\xbf\xbf", "\\u{ffff}", SANITIZE_ESCAPED },
        { "DB-03-invalid-utf8", "\xff\xfe\n", "\\xff\\xfe\\x0a", SANITIZE_ESCAPED },
        { "overlong", "\xc0\xaf", "\\xc0\\xaf", SANITIZE_ESCAPED },
        { "surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80", SANITIZE_ESCAPED },
        { "cut-off-character", "a\xe4\xb8", "a\\xe4\\xb8", SANITIZE_ESCAPED },
        { "DB-16-format", "%s%n%08x", "%s%n%08x", 0 },
};

static void test_line(const void *data) {
        const Case *row = data;
        SanitizeFlags flags = BOTH;
        g_autofree char *clean = sanitize_line(row->text, 4096, &flags), *again = NULL;

        g_assert_cmpstr(clean, ==, row->expected);
        g_assert_cmpint(flags, ==, row->flags);
        g_assert_true(g_utf8_validate(clean, -1, NULL));

        /* What is clean stays as it is. */
        again = sanitize_line(clean, 4096, &flags);
        g_assert_cmpstr(again, ==, clean);
        g_assert_cmpint(flags, ==, 0);
}

static void test_cut(void) {
        static const struct {
                const char *text;
                size_t bytes_max;
                const char *expected;
                SanitizeFlags flags;
        } cases[] = {
                { "abcdef", 6, "abcdef", 0 },
                { "abcdefg", 6, "abc…", SANITIZE_CUT },
                { "ääää", 7, "ää…", SANITIZE_CUT },
                { "ääää", 8, "ääää", 0 },
                { "abcd", 3, "…", SANITIZE_CUT },
                { "abcd", 2, "", SANITIZE_CUT },
                { "abcd", 0, "", SANITIZE_CUT },
                { "ab\x1b[31m", 9, "ab\\x1b…", BOTH },
                { "abcd\x1b", 7, "abcd…", BOTH },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                SanitizeFlags flags = 0;
                g_autofree char *clean = sanitize_line(cases[i].text, cases[i].bytes_max, &flags);

                g_test_message("case %zu", i);
                g_assert_cmpstr(clean, ==, cases[i].expected);
                g_assert_cmpuint(strlen(clean), <=, cases[i].bytes_max);
                g_assert_cmpint(flags, ==, cases[i].flags);
        }
}

static void test_block(void) {
        static const char with_nul[] = "a\0b\n\tc";
        SanitizeFlags flags = 0;
        g_autofree char *kept = sanitize_block("one\n\ttwo\r\x1b", 4096, &flags), *counted = NULL;

        g_assert_cmpstr(kept, ==, "one\n\ttwo\\x0d\\x1b");
        g_assert_cmpint(flags, ==, SANITIZE_ESCAPED);

        counted = sanitize_block_n(with_nul, sizeof with_nul - 1, 4096, &flags);
        g_assert_cmpstr(counted, ==, "a\\x00b\n\tc");
        g_assert_cmpint(flags, ==, SANITIZE_ESCAPED);
}

static const Case strip_cases[] = {
        { "plain", "one\n\ttwo", "one\n\ttwo", 0 },
        { "C06-colour", "\x1b[1;31mred\x1b[0m", "red", 0 },
        { "title-bel", "\x1b]0;root\atext", "text", 0 },
        { "title-st", "\x1b]0;root\x1b\\text", "text", 0 },
        { "hyperlink", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", 0 },
        { "string-ends-at-line", "\x1b]0;never closed\nnext", "\nnext", 0 },
        { "device-control", "\x1bP1$r\x1b\\after", "after", 0 },
        { "two-bytes", "a\x1b" "7b\x1b(Bc", "abc", 0 },
        { "c1-sequence", "a\xc2\x9b" "31mb", "ab", 0 },
        { "c1-string", "a\xc2\x9d" "0;root\ab", "ab", 0 },
        { "c1-other", "a\xc2\x85" "b", "ab", 0 },
        { "nested", "\x1b[3\x1b[31m1mx", "1mx", 0 },
        { "cut-off", "text\x1b", "text", 0 },
        { "cut-off-sequence", "text\x1b[31", "text", 0 },
        { "controls", "a\rb\bc\x7f" "d\ae", "abcde", 0 },
        { "invalid", "a\xff" "b", "a\xef\xbf\xbd" "b", 0 },
        { "raw-c1-byte", "a\x9b" "31mb", "a\xef\xbf\xbd" "31mb", 0 },
        { "DB-16-format", "%s%n%08x", "%s%n%08x", 0 },
};

static void test_strip(const void *data) {
        const Case *row = data;
        g_autofree char *clean = sanitize_strip(row->text, strlen(row->text));

        g_assert_cmpstr(clean, ==, row->expected);
}

static void test_strip_nul(void) {
        static const char text[] = "a\0b\x1b\0c";
        g_autofree char *clean = sanitize_strip(text, sizeof text - 1);

        g_assert_cmpstr(clean, ==, "abc");
}

/* Whatever bytes come in, nothing that a terminal acts on comes out. */
static void test_any_bytes(void) {
        for (int round = 0; round < 2000; round++) {
                size_t size = (size_t) g_test_rand_int_range(0, 40);
                g_autofree char *bytes = g_malloc(size + 1), *block = NULL, *strip = NULL;

                for (size_t i = 0; i < size; i++)
                        bytes[i] = (char) g_test_rand_int_range(0, 256);
                block = sanitize_block_n(bytes, size, 64, NULL);
                strip = sanitize_strip(bytes, size);
                g_assert_cmpuint(strlen(block), <=, 64);
                for (const char *const *text = (const char *const[]) { block, strip, NULL }; *text; text++) {
                        g_assert_true(g_utf8_validate(*text, -1, NULL));
                        for (const char *at = *text; *at; at = g_utf8_next_char(at))
                                g_assert_true(*at == '\n' || *at == '\t' || !g_unichar_iscntrl(g_utf8_get_char(at)));
                }
        }
}

static void add_cases(const char *prefix, const Case *cases, size_t n, GTestDataFunc run) {
        for (size_t i = 0; i < n; i++) {
                g_autofree char *path = g_strdup_printf("/sanitize/%s/%s", prefix, cases[i].id);

                g_test_add_data_func(path, &cases[i], run);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        add_cases("line", line_cases, G_N_ELEMENTS(line_cases), test_line);
        add_cases("strip", strip_cases, G_N_ELEMENTS(strip_cases), test_strip);
        g_test_add_func("/sanitize/cut", test_cut);
        g_test_add_func("/sanitize/block", test_block);
        g_test_add_func("/sanitize/strip-nul", test_strip_nul);
        g_test_add_func("/sanitize/any-bytes", test_any_bytes);
        return g_test_run();
}
