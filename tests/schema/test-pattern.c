/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/limits.h"
#include "schema/pattern-simple.h"
#include "schema/pattern.h"

typedef struct Match {
        const char *pattern;
        const char *yes[4];
        const char *no[4];
} Match;

static Pattern *compile(const char *text) {
        g_autofree char *reason = NULL;
        Pattern *pattern;

        if (pattern_compile(text, strlen(text), &pattern, &reason) < 0)
                g_error("%s: %s", text, reason);
        return pattern;
}

static void run(const Match *cases, size_t n) {
        for (size_t i = 0; i < n; i++) {
                g_autoptr(Pattern) pattern = compile(cases[i].pattern);

                for (size_t j = 0; j < 4; j++) {
                        const char *yes = cases[i].yes[j], *no = cases[i].no[j];

                        if (yes && pattern_match(pattern, yes, strlen(yes)) != 1)
                                g_error("/%s/ should match '%s'", cases[i].pattern, yes);
                        if (no && pattern_match(pattern, no, strlen(no)) != 0)
                                g_error("/%s/ should not match '%s'", cases[i].pattern, no);
                }
        }
}

/* What ECMAScript and PCRE2 do not mean alike. */
static void test_meaning(void) {
        static const Match cases[] = {
                { "^a$", { "a" }, { "a\n", "\na" } },
                { "^\\d$", { "0", "9" }, { "٣", "०" } },
                { "^\\D$", { "٣", "a" }, { "7" } },
                { "^\\w$", { "a", "_", "Z", "0" }, { "é", "-" } },
                { "^\\W$", { "é", "-" }, { "a" } },
                { "^\\s$", { " ", "\xc2\xa0", "\xe2\x80\xa8", "\xef\xbb\xbf" }, { "\xe2\x80\x8b", "\xe1\xa0\x8e", "x" } },
                { "^\\S$", { "x", "\xe2\x80\x8b" }, { " ", "\xe3\x80\x80" } },
                { "^[\\s]$", { "\xc2\xa0", "\t" }, { "x" } },
                { "^[\\S]$", { "x", "😀" }, { "\xc2\xa0", " " } },
                { "^[^\\S]$", { " ", "\xe2\x80\xa9" }, { "x" } },
                { "^.$", { "a", "😀", "\v", "\xc2\x85" }, { "\n", "\r", "\xe2\x80\xa8" } },
                { "^\\v$", { "\v" }, { "\n", "\f" } },
                { "^\\cC\\x41\\u0042\\u{1F600}$", { "\x03"
                                                   "AB😀" }, { "CAB😀" } },
                { "^\\ud83d\\ude00$", { "😀" }, {} },
                { "^\\p{Letter}+$", { "aéЖ" }, { "a1" } },
                { "^\\p{Script=Greek}$", { "α" }, { "a" } },
                { "^\\p{gc=Lu}\\P{Lu}$", { "Éa" }, { "ab" } },
                { "^[\\p{Nd}x]$", { "٣", "x" }, { "y" } },
                { "^[^]$", { "a", "\n", "😀" }, { "" } },
                { "^[]$", {}, { "", "a" } },
                { "^[[:alpha:]$", { "a", ":", "[" }, { "b", "]" } },
                { "^[\\b]$", { "\b" }, { "b" } },
                { "^[a\\-z]$", { "-", "a" }, { "b" } },
                { "^[\\w-.]$", { "-", ".", "x" }, { "/" } },
                { "\\bfoo\\b", { "a foo b" }, { "afoo" } },
                { "^(?:(a)|b)\\1$", { "aa", "b" }, { "ab" } },
                { "^(?<x>a)\\k<x>$", { "aa" }, { "a" } },
                { "^(?=ab)a(?!c)b$", { "ab" }, { "ac" } },
                { "(?<=a)b", { "ab" }, { "b" } },
                { "^a{,2}$", { "a{,2}" }, { "aa" } },
                { "^x{1}y{2,}z{0,1}$", { "xyy", "xyyyz" }, { "xy", "xyyzz" } },
                { "^a+?$", { "aaa" }, { "" } },
                { "^\\/\\.\\$$", { "/.$" }, {} },
                { "", { "", "x" }, {} },
        };

        run(cases, G_N_ELEMENTS(cases));
}

static void test_refused(void) {
        static const char *const patterns[] = { "(", ")", "[", "a**", "a++", "a*+", "*", "^*", "(?i)a", "(?>a)", "(?P<n>a)", "(?#c)",
                "(*ACCEPT)", "\\a", "\\Z", "\\A", "\\G", "\\K", "\\Qa\\E", "\\R", "\\h", "\\C", "\\N", "\\X", "\\e", "\\1", "\\01",
                "\\u12", "\\u{110000}", "\\u{}", "\\xg1", "\\c1", "\\ud83d", "\\p{Nothing}", "\\p{^Lu}", "\\pL", "\\p{Xan}", "\\p{L",
                "[b-a]", "a{3,2}", "\\", "(?<1a>b)", "\\k<n>", "\\k", "(?<n>a)(?<n>b)", "[\\d-\\1]", "(?<=a+)b" };

        for (size_t i = 0; i < G_N_ELEMENTS(patterns); i++) {
                g_autofree char *reason = NULL;
                Pattern *pattern = NULL;

                if (pattern_compile(patterns[i], strlen(patterns[i]), &pattern, &reason) != -EINVAL)
                        g_error("/%s/ should be refused", patterns[i]);
                g_assert_nonnull(reason);
                g_assert_null(pattern);
        }
}

/* The simple engine: what it takes, and that it means the same. */
static void test_simple(void) {
        static const char *const simple[] = { "^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$", "^[a-z][a-z0-9-]{0,30}$", "^\\d{4}-\\d{2}-\\d{2}$",
                "^(a+)+$", "^(.|\\n)*$", "(a|b|)c", "^é+$", "^(?:x{2}y?){1,3}$", "" };
        static const char *const other[] = { "(?=a)", "\\ba", "(a)\\1", "a|b$", "^a|b", "\\p{L}", "[а-я]", "a{63}", "(?<n>a)", "\\x41" };
        static const Match cases[] = {
                { "^(a|b){2,3}$", { "ab", "bba" }, { "a", "abab", "abc" } },
                { "(ab)*c", { "c", "xababc" }, { "ab" } },
                { "^(a?b?){2}$", { "", "abab", "ba" }, { "aaa", "c" } },
                { "^(|a)+$", { "", "aaa" }, { "b" } },
                { "a*$", { "", "b", "ba" }, {} },
                { "(|x)$", { "y" }, {} },
                { "^[^é]é$", { "aé", "üé" }, { "éé", "é" } },
                { "^a{2,3}b{0,2}c$", { "aac", "aaabbc" }, { "ac", "aaaac", "aabbbc" } },
                { "b{2}", { "abbb", "bb" }, { "bab" } },
                { "^((x|y)z){1,2}$", { "xz", "xzyz" }, { "z", "xzyzxz" } },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(simple); i++) {
                PatternSimple *pattern = NULL;

                if (pattern_simple_compile(simple[i], strlen(simple[i]), &pattern) < 0)
                        g_error("/%s/ should be simple", simple[i]);
                pattern_simple_free(pattern);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(other); i++) {
                PatternSimple *pattern = NULL;

                if (pattern_simple_compile(other[i], strlen(other[i]), &pattern) >= 0)
                        g_error("/%s/ should not be simple", other[i]);
        }
        run(cases, G_N_ELEMENTS(cases));
}

/* Expressions that backtracking takes for ever on: both engines must give an answer. */
static void test_hostile(void) {
        static const char *const patterns[] = { "^(a+)+$", "^(a|a)+$", "^(a|aa)+$", "(.*)*x", "^(?=(a+)+$)(b)\\2", "^(a+)+\\1$",
                "(x+x+)+y\\b", "^(?:(a*)*)*\\1b" };
        g_autofree char *text = g_strnfill(50000, 'a');

        text[49999] = '!';
        for (size_t i = 0; i < G_N_ELEMENTS(patterns); i++) {
                g_autoptr(Pattern) pattern = compile(patterns[i]);
                int r = pattern_match(pattern, text, 50000);

                g_assert_true(r == 0 || r == -EDQUOT);
                g_assert_cmpint(pattern_match(pattern, text, 50000), ==, r);
                /* Having given up once changes nothing for the next. */
                g_assert_cmpint(pattern_match(pattern, "b", 1), ==, i == 7);
        }
}

static void test_nul(void) {
        g_autofree char *reason = NULL;
        g_autoptr(Pattern) pattern = NULL, zero = compile("^a\\0b$");

        g_assert_cmpint(pattern_compile("^a\0b$", 5, &pattern, &reason), ==, 0);
        g_assert_cmpint(pattern_match(pattern, "a\0b", 3), ==, 1);
        g_assert_cmpint(pattern_match(pattern, "a", 1), ==, 0);
        g_assert_cmpint(pattern_match(zero, "a\0b", 3), ==, 1);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/pattern/meaning", test_meaning);
        g_test_add_func("/pattern/refused", test_refused);
        g_test_add_func("/pattern/simple", test_simple);
        g_test_add_func("/pattern/SC-08-hostile", test_hostile);
        g_test_add_func("/pattern/nul", test_nul);

        return g_test_run();
}
