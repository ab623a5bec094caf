/* SPDX-License-Identifier: MIT */
#include "probe.h"

static void test_law(void) {
        static const struct {
                const char *tool;
                const char *arguments;
                Posture posture;
                Verdict expected;
        } cases[] = {
                { "write", "{\"path\":\"src/a\"}", POSTURE_FULL_ACCESS, VERDICT_ALLOW },
                { "write", "{\"path\":\"deploy/a\"}", POSTURE_FULL_ACCESS, VERDICT_DENY },
                { "write", "{\"path\":\"./x/../deploy/a\"}", POSTURE_FULL_ACCESS, VERDICT_DENY },
                { "write", "{\"path\":\"/w/deploy/a\"}", POSTURE_ASK, VERDICT_DENY },
                { "read", "{\"path\":\"deploy/a\"}", POSTURE_ASK, VERDICT_ALLOW },
                { "write", "{\"path\":\"docs/a\"}", POSTURE_ASK, VERDICT_ASK },
                { "write", "{\"path\":\"docs/a\"}", POSTURE_FULL_ACCESS, VERDICT_DENY },
                { "write", "{\"path\":\"docs/a\"}", POSTURE_AUTO_REVIEW, VERDICT_DENY },
                { "bash", "{\"command\":\"touch deploy/x\"}", POSTURE_FULL_ACCESS, VERDICT_DENY },
                { "bash", "{\"command\":\"echo x > deploy/x\"}", POSTURE_FULL_ACCESS, VERDICT_DENY },
                { "bash", "{\"command\":\"cat deploy/x\"}", POSTURE_FULL_ACCESS, VERDICT_ALLOW },
                { "web_fetch", "{\"url\":\"http://a/\"}", POSTURE_FULL_ACCESS, VERDICT_DENY },
        };
        g_autoptr(RepositoryLaw) law = repository_law_new();
        g_auto(PolicyDocument) document = {};
        g_autoptr(Jdoc) doc = parse_json(
                        "{\"protect\":[{\"path\":\"deploy/**\",\"outcome\":\"block\",\"why\":\"live\"},"
                        "{\"path\":\"docs\",\"outcome\":\"ask\"}],\"tools\":[{\"tool\":\"fetch_*\"}]}");

        g_assert_cmpint(repository_law_load(law, jdoc_root(doc), &document), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Probe what = {
                        .tool = cases[i].tool,
                        .arguments = cases[i].arguments,
                        .posture = cases[i].posture,
                        .law = law,
                };

                g_test_message("%s %s", cases[i].tool, cases[i].arguments);
                g_assert_cmpint(probe(&what, NULL), ==, cases[i].expected);
        }
}

static void test_law_errors(void) {
        static const char *const cases[] = {
                "[]",
                "{\"allow\":[]}",
                "{\"protect\":{}}",
                "{\"protect\":[{}]}",
                "{\"protect\":[5]}",
                "{\"protect\":[{\"path\":\"x\",\"outcome\":\"allow\"}]}",
                "{\"protect\":[{\"path\":\"x\",\"more\":1}]}",
                "{\"protect\":[{\"path\":\"\"}]}",
                "{\"tools\":[{\"path\":\"x\"}]}",
                "{\"protect\":[{\"path\":\"x\"}],\"tools\":[{\"tool\":5}]}",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(RepositoryLaw) law = repository_law_new();
                g_autoptr(Jdoc) doc = parse_json(cases[i]);
                g_auto(PolicyDocument) document = {};
                const Probe what = { .tool = "write", .arguments = "{\"path\":\"x\"}", .law = law };

                g_test_message("%s", cases[i]);
                g_assert_cmpint(repository_law_load(law, jdoc_root(doc), &document), ==, -EINVAL);
                g_assert_cmpint(document.error, ==, -EINVAL);
                g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ALLOW);
        }
}

/* A plugin's tool is reached by its name, not by what its arguments look like. */
static void test_law_of_extension(void) {
        static const struct {
                const char *tool;
                Verdict expected;
        } cases[] = { { "mod_safe", VERDICT_ALLOW }, { "mod_deploy", VERDICT_DENY }, { "Mod_Deploy", VERDICT_DENY } };
        g_autoptr(RepositoryLaw) law = repository_law_new();
        g_auto(PolicyDocument) document = {};
        g_autoptr(Jdoc) doc = parse_json("{\"protect\":[{\"path\":\"**\"}],\"tools\":[{\"tool\":\"mod_d*\"}]}");

        g_assert_cmpint(repository_law_load(law, jdoc_root(doc), &document), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Probe what = {
                        .tool = cases[i].tool,
                        .extension = true,
                        .arguments = "{\"path\":\"deploy/a\"}",
                        .posture = POSTURE_FULL_ACCESS,
                        .law = law,
                };

                g_assert_cmpint(probe(&what, NULL), ==, cases[i].expected);
        }
}

/* A law that can't be read is no licence. */
static void test_law_unreadable(void) {
        g_autoptr(RepositoryLaw) law = repository_law_new();
        Probe what = { .tool = "write", .arguments = "{\"path\":\"x\"}", .law = law };

        repository_law_set_unreadable(law, "law.toml:3: broken");
        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ASK);
        what.posture = POSTURE_FULL_ACCESS;
        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_DENY);
        what.tool = "read";
        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ALLOW);
        /* Nobody knows what a plugin's tool does. */
        what = (Probe){ .tool = "t", .extension = true, .law = law, .posture = POSTURE_FULL_ACCESS };
        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_DENY);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/repository-law/cells", test_law);
        g_test_add_func("/repository-law/extension", test_law_of_extension);
        g_test_add_func("/repository-law/errors", test_law_errors);
        g_test_add_func("/repository-law/unreadable", test_law_unreadable);
        return g_test_run();
}
