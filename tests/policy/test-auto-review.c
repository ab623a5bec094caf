/* SPDX-License-Identifier: MIT */
#include "probe.h"

static void test_auto_review(void) {
        g_autoptr(AutoReview) review = auto_review_new();
        g_auto(PolicyDocument) document = {};
        g_autoptr(Jdoc) doc = parse_json(
                        "{\"block\":[\"web_*\",\"command:make install\"],\"allow\":[\"command:make\"]}");
        const struct {
                Probe what;
                Verdict expected;
        } cases[] = {
                { { .tool = "bash",
                                  .arguments = "{\"command\":\"git push\"}",
                                  .requirement = REQUIREMENT_AUTO },
                                VERDICT_ASK },
                { { .tool = "bash",
                                  .arguments = "{\"command\":\"git push\"}",
                                  .posture = POSTURE_FULL_ACCESS },
                                VERDICT_ALLOW },
                { { .tool = "bash",
                                  .arguments = "{\"command\":\"rm -rf /\"}",
                                  .posture = POSTURE_FULL_ACCESS },
                                VERDICT_DENY },
                { { .tool = "bash", .arguments = "{\"command\":\"rm -rf /\"}" }, VERDICT_ASK },
                { { .tool = "bash", .arguments = "{\"command\":\"rm -rf /\"}", .background = true },
                                VERDICT_DENY },
                { { .tool = "bash",
                                  .arguments = "{\"command\":\"rm -rf /\"}",
                                  .background = true,
                                  .posture = POSTURE_FULL_ACCESS },
                                VERDICT_DENY },
                { { .tool = "web_run", .requirement = REQUIREMENT_AUTO, .review = review }, VERDICT_DENY },
                { { .tool = "bash", .arguments = "{\"command\":\"ls; make install\"}", .review = review },
                                VERDICT_DENY },
                { { .tool = "bash",
                                  .arguments = "{\"command\":\"make\"}",
                                  .posture = POSTURE_AUTO_REVIEW,
                                  .requirement = REQUIREMENT_SUGGEST,
                                  .review = review },
                                VERDICT_ALLOW },
                { { .tool = "bash",
                                  .arguments = "{\"command\":\"ls\"}",
                                  .posture = POSTURE_AUTO_REVIEW,
                                  .requirement = REQUIREMENT_SUGGEST },
                                VERDICT_ALLOW },
                { { .tool = "bash",
                                  .arguments = "{\"command\":\"ls; x\"}",
                                  .posture = POSTURE_AUTO_REVIEW,
                                  .requirement = REQUIREMENT_SUGGEST },
                                VERDICT_DENY },
                { { .tool = "bash",
                                  .arguments = "{\"command\":\"ls\"}",
                                  .posture = POSTURE_AUTO_REVIEW,
                                  .requirement = REQUIREMENT_REQUIRED },
                                VERDICT_DENY },
                { { .tool = "t", .extension = true, .posture = POSTURE_AUTO_REVIEW, .review = review },
                                VERDICT_DENY },
                { { .tool = "bash",
                                  .arguments = "{\"command\":\"ls\"}",
                                  .original = "{\"command\":\"rm -rf /\"}",
                                  .posture = POSTURE_AUTO_REVIEW,
                                  .requirement = REQUIREMENT_SUGGEST },
                                VERDICT_DENY },
        };

        g_assert_cmpint(auto_review_load(review, jdoc_root(doc), &document), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu", i);
                g_assert_cmpint(probe(&cases[i].what, NULL), ==, cases[i].expected);
        }
}

static void test_auto_review_errors(void) {
        static const char *const cases[] = {
                "[]",
                "{\"deny\":[]}",
                "{\"block\":\"x\"}",
                "{\"block\":[5]}",
                "{\"block\":[\"\"]}",
                "{\"allow\":[\"command:a; b\"]}",
                "{\"block\":[\"fine\"],\"allow\":[\"command:\"]}",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AutoReview) review = auto_review_new();
                g_autoptr(Jdoc) doc = parse_json(cases[i]);
                g_auto(PolicyDocument) document = {};
                const Probe what = { .tool = "fine", .review = review, .posture = POSTURE_FULL_ACCESS };

                g_test_message("%s", cases[i]);
                g_assert_cmpint(auto_review_load(review, jdoc_root(doc), &document), ==, -EINVAL);
                g_assert_cmpint(document.error, ==, -EINVAL);
                g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ALLOW);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/auto-review/cells", test_auto_review);
        g_test_add_func("/auto-review/errors", test_auto_review_errors);
        return g_test_run();
}
