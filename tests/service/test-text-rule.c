/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "service/text-rule.h"

typedef struct RuleCase {
        const char *text;
        const char *problem; /* a part of it; NULL: fine */
} RuleCase;

static void check(const char *problem, const char *expected) {
        if (!expected)
                g_assert_cmpstr(problem, ==, NULL);
        else {
                g_assert_nonnull(problem);
                g_test_message("%s", problem);
                g_assert_nonnull(strstr(problem, expected));
        }
}

static void test_text(void) {
        static const struct {
                const char *text;
                size_t size, chars_max;
                const char *problem;
        } cases[] = {
                { "a", 1, 1, NULL },
                { "ab", 2, 1, "too long" },
                { "äöü", 6, 3, NULL },
                { "äöü", 6, 2, "too long" },
                { "", 0, 9, "blank" },
                { "  ", 2, 9, "blank" },
                { "\xc2\xa0", 2, 9, "blank" },
                { "a\tb", 3, 9, "control" },
                { "a\nb", 3, 9, "control" },
                { "a\0b", 3, 9, "control" },
                { "a\x7f", 2, 9, "control" },
                { "a\xc2\x85", 3, 9, "control" },
                { "a\xd8\x9c", 3, 9, "bidirectional" },
                { "a\xe2\x80\x8e", 4, 9, "bidirectional" },
                { "a\xe2\x80\x8f", 4, 9, "bidirectional" },
                { "a\xe2\x80\xaa", 4, 9, "bidirectional" },
                { "a\xe2\x80\xae", 4, 9, "bidirectional" },
                { "a\xe2\x81\xa6", 4, 9, "bidirectional" },
                { "a\xe2\x81\xa9", 4, 9, "bidirectional" },
                { "a\xe2\x80\xa9z", 5, 9, NULL },
                { "%s%n%08x", 8, 9, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu", i);
                check(text_rule_check(cases[i].text, cases[i].size, cases[i].chars_max), cases[i].problem);
        }
}

/* Every character there is, against the list of the rule. */
static void test_every_character(void) {
        for (gunichar c = 1; c <= 0x10ffff; c++) {
                const char *expected = NULL, *problem;
                char text[8] = "a";
                int size;

                if (c >= 0xd800 && c <= 0xdfff)
                        continue;
                if (c < 0x20 || (c >= 0x7f && c < 0xa0))
                        expected = "must not hold a control character";
                else if (c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
                        expected = "must not hold a bidirectional control character";
                size = 1 + g_unichar_to_utf8(c, text + 1);
                problem = text_rule_check(text, (size_t) size, 2);
                if (g_strcmp0(problem, expected) != 0)
                        g_error("U+%04X: %s", c, problem ?: "fine");
        }
}

static void test_name(void) {
        static const RuleCase cases[] = {
                { "a", NULL },
                { "7", NULL },
                { "a-b.c-d", NULL },
                { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL },
                { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "1 to 64" },
                { "a..b", "neither" },
                { "a--b", "neither" },
                { "-a", "begin" },
                { "a-", "end" },
                { ".a", "begin" },
                { "A", "a-z" },
                { "host:x", "a-z" },
                { "a_b", "a-z" },
                { "", "1 to 64" },
                { "..", "begin" },
                { ".", "begin" },
                { "a/b", "a-z" },
                { "-rf", "begin" },
                { "con", "reserves" },
                { "lpt9", "reserves" },
                { "con-x", NULL },
                { "nul.x", "reserves" },
                { "Ünï", "a-z" },
                { "a\n", "a-z" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu: %s", i, cases[i].text);
                check(text_rule_check_name(cases[i].text, false), cases[i].problem);
        }
        check(text_rule_check_name("a--b", true), NULL);
        check(text_rule_check_name("a.b", true), "a-z");
}

static void test_version(void) {
        static const RuleCase cases[] = {
                { "0.0.0", NULL },        { "1.2.3", NULL },       { "10.20.30-alpha.1+b.007", NULL },
                { "1.0.0--", NULL },      { "1.0.0+-", NULL },     { "1", "semantic" },
                { "1.2", "semantic" },    { "1.2.3.4", "semantic" }, { "01.2.3", "semantic" },
                { "1.2.03", "semantic" }, { "v1.2.3", "semantic" }, { "1.2.3-", "semantic" },
                { "1.2.3-01", "semantic" }, { "1.2.3-0a", NULL },   { "1.2.3+", "semantic" },
                { "1.2.3-a..b", "semantic" }, { "1.2.3 ", "semantic" }, { "", "semantic" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu: %s", i, cases[i].text);
                check(text_rule_check_version(cases[i].text), cases[i].problem);
        }
}

static void test_path(void) {
        g_autofree char *longest = g_strnfill(1024, 'a'), *longer = g_strnfill(1025, 'a');
        const RuleCase cases[] = {
                { "a", NULL },
                { "a/b.c/d", NULL },
                { "...", NULL },
                { "..a/b..", NULL },
                { ".claude-plugin/x", NULL },
                { longest, NULL },
                { longer, "1024" },
                { "", "empty" },
                { "/tmp/x", "relative" },
                { "\\tmp\\x", "backslash" },
                { "a\\b", "backslash" },
                { "C:/x", "drive" },
                { "c:x", "drive" },
                { "//server/share", "relative" },
                { "..", "'..'" },
                { "a/../../x", "'..'" },
                { "a/..", "'..'" },
                { "a//b", "empty component" },
                { "./a", "'.'" },
                { "a/./b", "'.'" },
                { "a/", "empty component" },
                { "a\nb", "control" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu: %.40s", i, cases[i].text);
                check(text_rule_check_path(cases[i].text), cases[i].problem);
        }
}

static void test_file_name(void) {
        check(text_rule_check_file_name("über.mjs"), NULL);
        check(text_rule_check_file_name("with space"), NULL);
        check(text_rule_check_file_name("\xff\xfe"), "UTF-8");
        check(text_rule_check_file_name("a\nb"), "control");
        check(text_rule_check_file_name("a\x1b[2J"), "control");
        check(text_rule_check_file_name("a\xe2\x80\xae" "cod.mjs"), "bidirectional");
        check(text_rule_check_file_name("a\\b"), "backslash");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/service/text-rule/M06-text", test_text);
        g_test_add_func("/service/text-rule/M06-every-character", test_every_character);
        g_test_add_func("/service/text-rule/M07-name", test_name);
        g_test_add_func("/service/text-rule/version", test_version);
        g_test_add_func("/service/text-rule/M08-path-letters", test_path);
        g_test_add_func("/service/text-rule/TR-07-path-letters", test_path);
        g_test_add_func("/service/text-rule/file-name", test_file_name);
        return g_test_run();
}
