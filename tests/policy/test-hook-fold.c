/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "policy/hook-fold.h"

static const HookSource source_a = { .label = "A", .plugin = "a", .strict = true };
static const HookSource source_b = { .label = "B", .plugin = "b", .strict = true };
static const HookSource soft = { .label = "soft", .strict = false };

static int add(HookFold *fold, const HookSource *source, const char *json) {
        return hook_fold_add_text(fold, source, json, strlen(json));
}

/* E01: each verdict, undefined, null; E02: what is malformed is no verdict. */
static void test_verdicts(void) {
        static const struct {
                const char *json;
                HookVerdict expected;
                int stop;
        } cases[] = {
                { "null", HOOK_NO_OPINION, 0 },
                { "{\"kind\":\"abstain\"}", HOOK_NO_OPINION, 0 },
                { "{\"kind\":\"deny\",\"reason\":\"no\"}", HOOK_DENY, 1 },
                { "{\"kind\":\"ask\"}", HOOK_ASK, 0 },
                { "{\"kind\":\"ask\",\"reason\":\"hm\"}", HOOK_ASK, 0 },
                { "{\"kind\":\"revise\",\"input\":{}}", HOOK_NO_OPINION, 0 },
                { "{\"kind\":\"annotate\",\"text\":\"t\"}", HOOK_NO_OPINION, 0 },
                { "{\"kind\":\"allow\"}", HOOK_NO_OPINION, 0 },
                { "{\"kind\":\"deny\"}", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":\"deny\",\"reason\":5}", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":\"revise\",\"input\":[]}", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":\"revise\",\"input\":null}", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":\"revise\"}", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":\"revise\",\"input\":{},\"more\":1}", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":\"annotate\"}", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":\"approve\"}", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":7}", HOOK_NO_VERDICT, 1 },
                { "{}", HOOK_NO_VERDICT, 1 },
                { "true", HOOK_NO_VERDICT, 1 },
                { "\"abstain\"", HOOK_NO_VERDICT, 1 },
                { "[]", HOOK_NO_VERDICT, 1 },
                { "", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":\"abstain\"", HOOK_NO_VERDICT, 1 },
                { "{\"kind\":\"abstain\",\"kind\":\"deny\"}", HOOK_NO_VERDICT, 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(HookFold) fold = hook_fold_new();

                g_test_message("%s", cases[i].json);
                g_assert_cmpint(add(fold, &source_a, cases[i].json), ==, cases[i].stop);
                g_assert_cmpstr(hook_verdict_to_string(hook_fold_verdict(fold)), ==,
                                hook_verdict_to_string(cases[i].expected));
                g_assert_cmpuint(hook_fold_asked(fold), ==, 1);
        }
}

static void test_undefined(void) {
        g_autoptr(HookFold) fold = hook_fold_new();

        g_assert_cmpint(hook_fold_add_answer(fold, &source_a, (Jval){}), ==, 0);
        g_assert_cmpint(hook_fold_verdict(fold), ==, HOOK_NO_OPINION);
        g_assert_null(hook_fold_receipt(fold));
        g_assert_null(hook_fold_label(fold));
        g_assert_null(hook_fold_revision(fold, NULL));
        g_assert_null(hook_fold_context(fold));
}

/* E01, HK-05: "allow" is no opinion, counted for the one notice. */
static void test_allow(void) {
        g_autoptr(HookFold) fold = hook_fold_new();

        (void) add(fold, &source_a, "{\"kind\":\"ask\"}");
        (void) add(fold, &source_b, "{\"kind\":\"allow\",\"why\":\"please\"}");
        g_assert_cmpint(hook_fold_verdict(fold), ==, HOOK_ASK);
        g_assert_cmpstr(hook_fold_label(fold), ==, "A");
        g_assert_cmpuint(hook_fold_allows(fold), ==, 1);
}

/* Precedence for every pair of answers in both orders: no verdict > deny > ask > nothing. */
static void test_precedence(void) {
        static const struct {
                const char *json;
                HookVerdict verdict;
        } answers[] = {
                { "null", HOOK_NO_OPINION },
                { "{\"kind\":\"allow\"}", HOOK_NO_OPINION },
                { "{\"kind\":\"revise\",\"input\":{\"p\":\"b\"}}", HOOK_NO_OPINION },
                { "{\"kind\":\"ask\"}", HOOK_ASK },
                { "{\"kind\":\"deny\",\"reason\":\"r\"}", HOOK_DENY },
                { "{}", HOOK_NO_VERDICT },
        };

        for (size_t a = 0; a < G_N_ELEMENTS(answers); a++)
                for (size_t b = 0; b < G_N_ELEMENTS(answers); b++) {
                        g_autoptr(HookFold) fold = hook_fold_new();

                        (void) add(fold, &source_a, answers[a].json);
                        (void) add(fold, &source_b, answers[b].json);
                        g_assert_cmpint(hook_fold_verdict(fold), ==,
                                        MAX(answers[a].verdict, answers[b].verdict));
                }
}

/* HK-02: a revision survives an abstaining, asking or allowing sibling, in both orders. */
static void test_revision_kept(void) {
        static const char *const siblings[] = {
                "null",
                "{\"kind\":\"abstain\"}",
                "{\"kind\":\"ask\"}",
                "{\"kind\":\"allow\"}",
                "{\"kind\":\"annotate\",\"text\":\"x\"}",
        };
        static const char revise[] = "{\"kind\":\"revise\",\"input\":{ \"p\" : \"b\" }}";

        for (size_t i = 0; i < G_N_ELEMENTS(siblings); i++)
                for (unsigned order = 0; order < 2; order++) {
                        g_autoptr(HookFold) fold = hook_fold_new();
                        size_t size = 0;

                        (void) add(fold, &source_a, order == 0 ? revise : siblings[i]);
                        (void) add(fold, &source_b, order == 0 ? siblings[i] : revise);
                        g_assert_cmpstr(hook_fold_revision(fold, &size), ==, "{ \"p\" : \"b\" }");
                        g_assert_cmpuint(size, ==, strlen("{ \"p\" : \"b\" }"));
                        g_assert_cmpstr(hook_fold_revisor(fold), ==, order == 0 ? "A" : "B");
                }
}

/* E04: the last valid revision wins; one over 32 KiB is no verdict, the edge is not. */
static void test_revision_last_and_limit(void) {
        g_autoptr(HookFold) fold = hook_fold_new();
        g_autofree char *pad = g_strnfill(32768 - 8, 'x');
        g_autofree char *edge = g_strdup_printf("{\"kind\":\"revise\",\"input\":{\"p\":\"%s\"}}", pad);
        g_autofree char *over = g_strdup_printf("{\"kind\":\"revise\",\"input\":{\"p\":\"%sx\"}}", pad);
        size_t size = 0;

        (void) add(fold, &source_a, "{\"kind\":\"revise\",\"input\":{\"p\":1}}");
        (void) add(fold, &source_b, "{\"kind\":\"revise\",\"input\":{\"p\":2}}");
        g_assert_cmpstr(hook_fold_revision(fold, NULL), ==, "{\"p\":2}");

        g_assert_cmpint(add(fold, &source_a, edge), ==, 0);
        g_assert_nonnull(hook_fold_revision(fold, &size));
        g_assert_cmpuint(size, ==, 32768);
        g_assert_cmpint(add(fold, &source_b, over), ==, 1);
        g_assert_cmpint(hook_fold_verdict(fold), ==, HOOK_NO_VERDICT);
        g_assert_nonnull(strstr(hook_fold_receipt(fold), "too large"));
}

/* E05: a deny ends the batch and names who said it and why. */
static void test_deny(void) {
        g_autoptr(HookFold) fold = hook_fold_new();

        g_assert_cmpint(add(fold, &source_a, "{\"kind\":\"deny\",\"reason\":\"not on Fridays\"}"), ==, 1);
        g_assert_cmpstr(hook_fold_label(fold), ==, "A");
        g_assert_cmpstr(hook_fold_plugin(fold), ==, "a");
        g_assert_cmpstr(hook_fold_reason(fold), ==, "not on Fridays");
        g_assert_cmpstr(hook_fold_receipt(fold), ==, "hook \"A\" said no: not on Fridays");
}

/* Pains B1 and B2: each way of giving no verdict refuses, names the hook and says which way it was. */
static void test_failures(void) {
        for (HookFailure failure = 0; failure < _HOOK_FAILURE_MAX; failure++) {
                g_autoptr(HookFold) fold = hook_fold_new(), lenient = hook_fold_new();

                g_assert_cmpint(hook_fold_add_failure(fold, &source_a, failure, NULL), ==, 1);
                g_assert_cmpint(hook_fold_verdict(fold), ==, HOOK_NO_VERDICT);
                g_assert_nonnull(strstr(hook_fold_receipt(fold), "\"A\""));
                g_assert_nonnull(strstr(hook_fold_receipt(fold), hook_failure_to_string(failure)));
                g_assert_null(strstr(hook_fold_receipt(fold), "said no"));
                for (HookFailure other = 0; other < failure; other++)
                        g_assert_cmpstr(hook_failure_to_string(failure), !=, hook_failure_to_string(other));

                g_assert_cmpint(hook_fold_add_failure(lenient, &soft, failure, NULL), ==, 0);
                g_assert_cmpint(hook_fold_verdict(lenient), ==, HOOK_NO_OPINION);
        }
}

/* HK-07, HK-08 and the other ends of a shell hook. */
static void test_process(void) {
        static const struct {
                int status;
                const char *output;
                HookVerdict expected;
        } cases[] = {
                { 0, "", HOOK_NO_OPINION },
                { 0, "hello", HOOK_NO_OPINION },
                { 0, "{}", HOOK_NO_OPINION },
                { 0, "[]", HOOK_NO_OPINION },
                { 0, "{\"decision\":\"allow\"}", HOOK_NO_OPINION },
                { 0, "{\"decision\":\"deny\",\"reason\":\"r\"}", HOOK_DENY },
                { 0, "{\"decision\":\"block\"}", HOOK_DENY },
                { 0, "{\"decision\":\"ask\"}", HOOK_ASK },
                { 2, "{\"decision\":\"allow\"}", HOOK_DENY },
                { 2, "", HOOK_DENY },
                { 1, "", HOOK_NO_VERDICT },
                { 1, "{\"decision\":\"allow\"}", HOOK_NO_VERDICT },
                { -1, "", HOOK_NO_VERDICT },
                { 0, "{\"updatedInput\":5}", HOOK_NO_VERDICT },
        };
        g_autoptr(HookFold) revised = hook_fold_new();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(HookFold) fold = hook_fold_new();

                g_test_message("%d %s", cases[i].status, cases[i].output);
                (void) hook_fold_add_process(
                                fold, &source_a, cases[i].status, cases[i].output, strlen(cases[i].output));
                g_assert_cmpint(hook_fold_verdict(fold), ==, cases[i].expected);
        }

        static const char both[] = "{\"updatedInput\":{\"a\":1},\"additionalContext\":\"seen\"}";

        (void) hook_fold_add_process(revised, &soft, 0, both, strlen(both));
        g_assert_cmpstr(hook_fold_revision(revised, NULL), ==, "{\"a\":1}");
        g_assert_cmpstr(hook_fold_context(revised), ==, "[hook context]\nsoft: seen\n");
}

static void test_text_limits(void) {
        g_autoptr(HookFold) fold = hook_fold_new();
        g_autofree char *pad = g_strnfill(2500, 'x');
        g_autofree char *answer =
                        g_strdup_printf("{\"kind\":\"deny\",\"reason\":\"\\u001b[2Ja\\u0007%s\"}", pad);
        g_autofree char *long_label = g_strnfill(200, 'L');
        const HookSource source = { .label = long_label, .plugin = "p", .strict = true };

        (void) add(fold, &source, answer);
        g_assert_cmpint(g_utf8_strlen(hook_fold_reason(fold), -1), ==, 2000);
        g_assert_true(g_str_has_prefix(hook_fold_reason(fold), "axx"));
        g_assert_true(g_str_has_suffix(hook_fold_reason(fold), "[clipped]"));
        g_assert_cmpint(g_utf8_strlen(hook_fold_receipt(fold), -1), ==, 240);
        g_assert_cmpint(g_utf8_strlen(hook_fold_label(fold), -1), ==, 64);
        g_assert_null(strpbrk(hook_fold_receipt(fold), "\x1b\a\n"));
}

static void test_context_limits(void) {
        g_autoptr(HookFold) fold = hook_fold_new();
        g_autofree char *pad = g_strnfill(3000, 'y');
        g_autofree char *answer = g_strdup_printf("{\"kind\":\"annotate\",\"text\":\"%s\"}", pad);

        for (unsigned i = 1; i <= 6; i++) {
                g_assert_cmpint(add(fold, &source_a, answer), ==, 0);
                g_assert_cmpint(g_utf8_strlen(hook_fold_context(fold), -1), <=, 8000);
        }
        g_assert_cmpint(g_utf8_strlen(hook_fold_context(fold), -1), ==, 8000);
        g_assert_true(g_str_has_suffix(hook_fold_context(fold), "[clipped]"));
        g_assert_true(g_str_has_prefix(hook_fold_context(fold), "[hook context]\nA: yyy"));
}

/* Any number of texts of any length keeps the bound, also where nothing is left for the mark. */
static void test_context_random(void) {
        GRand *random = g_rand_new_with_seed(7);

        for (unsigned round = 0; round < 200; round++) {
                g_autoptr(HookFold) fold = hook_fold_new();

                for (unsigned i = 0; i < 20; i++) {
                        g_autoptr(GString) text = g_string_new(NULL);
                        g_autofree char *answer = NULL;

                        for (int left = g_rand_int_range(random, 0, 2100); left > 0; left--)
                                g_string_append(text, g_rand_boolean(random) ? "é" : "z");
                        answer = g_strdup_printf("{\"kind\":\"annotate\",\"text\":\"%s\"}", text->str);
                        (void) add(fold, &source_a, answer);
                        g_assert_cmpint(g_utf8_strlen(hook_fold_context(fold), -1), <=, 8000);
                        g_assert_true(g_utf8_validate(hook_fold_context(fold), -1, NULL));
                }
        }
        g_rand_free(random);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/hook-fold/E01-E02-verdicts", test_verdicts);
        g_test_add_func("/hook-fold/E01-undefined", test_undefined);
        g_test_add_func("/hook-fold/E01-HK-05-B6-allow", test_allow);
        g_test_add_func("/hook-fold/precedence", test_precedence);
        g_test_add_func("/hook-fold/HK-02-B4-revision-kept", test_revision_kept);
        g_test_add_func("/hook-fold/E04-last-revision-and-limit", test_revision_last_and_limit);
        g_test_add_func("/hook-fold/E05-deny-stops", test_deny);
        g_test_add_func("/hook-fold/E02-B1-B2-failures", test_failures);
        g_test_add_func("/hook-fold/HK-07-HK-08-process", test_process);
        g_test_add_func("/hook-fold/text-limits", test_text_limits);
        g_test_add_func("/hook-fold/context-limits", test_context_limits);
        g_test_add_func("/hook-fold/context-random", test_context_random);
        return g_test_run();
}
