/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/toml.h"
#include "policy/policy-set.h"
#include "test-json.h"

static int load(PolicySet *set, RuleSource source, const char *toml, char **ret_message) {
        g_autofree char *json = NULL;
        g_autoptr(TomlLines) lines = NULL;
        g_auto(PolicyDocument) document = { .file = "permissions.toml" };
        g_autoptr(Jdoc) doc = NULL;
        TomlError toml_error;
        int r;

        g_assert_cmpint(toml_to_json_lines(toml, strlen(toml), &json, &lines, &toml_error), ==, 0);
        doc = parse_json(json);
        document.lines = lines;
        r = policy_set_load(set, source, jdoc_root(doc), &document);
        g_assert_cmpint(r, ==, document.error);
        if (r < 0 && ret_message)
                *ret_message = policy_document_words(&document);
        return r;
}

static const char user_file[] = "# mine\n"
                                "[[rule]]\n"
                                "outcome = \"allow\"\n"
                                "tool = \"exec_shell\"\n"
                                "command = \"make check\"\n"
                                "\n"
                                "[[rule]]\n"
                                "outcome = \"ask\"\n"
                                "path = \"deploy/**\"\n"
                                "why = \"it goes live\"\n"
                                "\n"
                                "[commands]\n"
                                "deny = [\"curl\"]\n"
                                "[tools]\n"
                                "allow = [\"exec_shell\", \"write_file\", \"mod_counter\"]\n"
                                "deny = [\"web_run\"]\n"
                                "[auto_review]\n"
                                "block = [\"command:make install\"]\n";

static void test_load(void) {
        g_autoptr(PolicySet) set = policy_set_new();
        const RuleSubject subject = {
                .name = "exec_shell", .policy_name = "exec_shell", .is_shell = true, .is_core = true
        };
        g_autoptr(Jdoc) arguments = parse_json("{\"command\":\"make check\"}");
        RuleSubject call = subject;
        RuleMatch match;

        g_assert_cmpint(load(set, RULE_USER, user_file, NULL), ==, 0);
        g_assert_cmpuint(rule_set_length(set->rules), ==, 2);
        g_assert_cmpstr(rule_set_get(set->rules, 1)->why, ==, "it goes live");
        g_assert_true(admission_check(set->admission, "mod_counter", "mod_counter", NULL, NULL));
        g_assert_false(admission_check(set->admission, "web_run", "web_run", NULL, NULL));
        g_assert_false(admission_check(set->admission, "other", "other", NULL, NULL));
        call.arguments = jdoc_root(arguments);
        rule_set_match(set->rules, &call, &match);
        g_assert_cmpint(match.rule->outcome, ==, RULE_ALLOW);
        g_assert_null(policy_set_free(NULL));
}

/* The administrator's list and the user's must both admit a tool, in either order of reading. */
static void test_two_lists(void) {
        static const char admin[] = "[tools]\nallow = [\"a\", \"b\"]\n",
                          user[] = "[tools]\nallow = [\"b\", \"c\"]\n";

        for (unsigned order = 0; order < 2; order++) {
                g_autoptr(PolicySet) set = policy_set_new();

                g_assert_cmpint(load(set, order == 0 ? RULE_ADMIN : RULE_USER, order == 0 ? admin : user,
                                                NULL),
                                ==, 0);
                g_assert_cmpint(load(set, order == 0 ? RULE_USER : RULE_ADMIN, order == 0 ? user : admin,
                                                NULL),
                                ==, 0);
                g_assert_false(admission_check(set->admission, "a", "a", NULL, NULL));
                g_assert_true(admission_check(set->admission, "b", "b", NULL, NULL));
                g_assert_false(admission_check(set->admission, "c", "c", NULL, NULL));
        }
}

/* Every mistake leads to its line. */
static void test_errors(void) {
        static const struct {
                const char *toml;
                const char *words;
        } cases[] = {
                { "[tool]\n", "permissions.toml:1:2: permissions: there is no \"tool\"" },
                { "\ntools = 5\n", "permissions.toml:2:9: tools: must be a table" },
                { "[tools]\nallowed = []\n", "permissions.toml:2:1: tools: only \"allow\" and \"deny\"" },
                { "[tools]\nallow = [\n\"a\",\n5]\n", "permissions.toml:4:1: tools.allow: must be a list" },
                { "[tools]\ndeny = \"x\"\n", "permissions.toml:2:8: tools.deny: must be a list" },
                { "[auto_review]\nask = []\n", "permissions.toml:2:1: auto_review: only" },
                { "[auto_review]\nblock = [\"command:a|b\"]\n", "permissions.toml:2:10: auto_review.block: each entry" },
                { "# one\n[[rule]]\noutcome = \"deny\"\ntool = \"a\"\n\n  [[ rule ]]\noutcom = \"deny\"\ntool = \"b\"\n",
                                "permissions.toml:7:1: rule 2: unknown member \"outcom\"" },
                { "[[rule]]\noutcome = \"deny\"\n", "permissions.toml:1:1: rule 1: it must say" },
                { "[[rule]]\ntool = \"x\"\noutcome = \"no\"\n", "permissions.toml:3:11: rule 1: \"outcome\" must be" },
                { "[commands]\ndeny = [\n\"rm\",\n\"a; b\",\n]\n", "permissions.toml:4:1: commands.deny: \"command\"" },
                { "rule = []\ncommands = 1\n", "permissions.toml:2:12: commands: must be a table" },
                { "[rule]\noutcome = \"deny\"\n", "permissions.toml:1:1: rule: must be a list of tables" },
                { "[policy]\nposture = \"ask\"\n", "permissions.toml:2:11: policy: the default posture" },
                { "[policy]\nmode = \"ask\"\n", "permissions.toml:1:1: policy: only \"posture\"" },
                { "a = 1\nb = 2\n[tools]\nc = 3\n", " (2 more)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(PolicySet) set = policy_set_new();
                g_autofree char *message = NULL;

                g_assert_cmpint(load(set, RULE_USER, cases[i].toml, &message), ==, -EINVAL);
                g_test_message("%s", message);
                g_assert_nonnull(strstr(message, cases[i].words));
        }
}

/* Where each part stands is kept, for those who ask what is in force and why. */
static void test_places(void) {
        static const char admin[] = "[policy]\nposture = \"ask\"\n[tools]\nallow = [\"a\"]\ndeny = [\"b\"]\n";
        g_autoptr(PolicySet) set = policy_set_new();
        g_auto(JWriter) writer = {};
        g_autofree char *json = NULL;

        g_assert_cmpint(load(set, RULE_ADMIN, admin, NULL), ==, 0);
        g_assert_cmpint(load(set, RULE_USER, user_file, NULL), ==, 0);
        g_assert_true(set->has_posture);
        g_assert_cmpint(set->posture, ==, POSTURE_ASK);
        g_assert_cmpstr(set->posture_at, ==, "permissions.toml:2");
        g_assert_cmpstr(rule_set_get(set->rules, 0)->at, ==, "permissions.toml:2");
        g_assert_cmpstr(rule_set_get(set->rules, 1)->at, ==, "permissions.toml:7");

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        policy_set_write(set, &writer);
        jwriter_end_object(&writer);
        json = jwriter_steal(&writer, NULL);
        g_test_message("%s", json);
        g_assert_nonnull(strstr(json, "\"posture_limit\":{\"posture\":\"ask\",\"at\":\"permissions.toml:2\"}"));
        g_assert_nonnull(strstr(json, "{\"source\":\"user\",\"command\":\"curl\",\"at\":\"permissions.toml:13\"}"));
        g_assert_nonnull(strstr(json, "\"deny\":[{\"tool\":\"b\",\"at\":\"permissions.toml:5\"},"));
        g_assert_nonnull(strstr(json, "\"allow\":[[{\"tool\":\"a\",\"at\":\"permissions.toml:4\"}],["));
        g_assert_nonnull(strstr(json, "{\"rule\":\"command:make install\",\"at\":\"permissions.toml:18\"}"));
}

static void test_limits(void) {
        g_autoptr(GString) toml = g_string_new("[tools]\nallow = [");
        g_autoptr(PolicySet) set = policy_set_new();
        g_autofree char *message = NULL;

        for (unsigned i = 0; i < 1025; i++)
                g_string_append_printf(toml, "\"t%u\",", i);
        g_string_append(toml, "]\n");
        g_assert_cmpint(load(set, RULE_USER, toml->str, &message), ==, -ENOBUFS);
        g_assert_nonnull(strstr(message, "1024"));
}

/* A project only tightens, and is told when it tries something else. */
static void test_project(void) {
        static const struct {
                const char *json;
                int expected;
                bool has_posture;
                unsigned denied;
        } cases[] = {
                { "{}", 0, false, 0 },
                { "{\"policy\":{\"posture\":\"never\"}}", 0, true, 0 },
                { "{\"tools\":{\"deny\":[\"a\",\"b\"]}}", 0, false, 2 },
                { "{\"editor\":{\"theme\":\"dark\"}}", 0, false, 0 },
                { "{\"policy\":{\"posture\":\"lax\"}}", -EINVAL, false, 0 },
                { "{\"policy\":{\"posture\":5}}", -EINVAL, false, 0 },
                { "{\"tools\":{\"allow\":[]}}", -EINVAL, false, 0 },
                { "{\"tools\":{\"deny\":5}}", -EINVAL, false, 0 },
                { "{\"rule\":[]}", -EINVAL, false, 0 },
                { "{\"commands\":{}}", -EINVAL, false, 0 },
                { "{\"auto_review\":{\"allow\":[]}}", -EINVAL, false, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = parse_json(cases[i].json);
                g_auto(PolicyDocument) document = {};
                g_auto(ProjectWish) wish = {};

                g_test_message("%s", cases[i].json);
                g_assert_cmpint(project_wish_load(jdoc_root(doc), &wish, &document), ==, cases[i].expected);
                g_assert_true(wish.has_posture == cases[i].has_posture);
                g_assert_true(!wish.denied || admission_check(wish.denied, "c", "c", NULL, NULL));
                g_assert_true((wish.denied && !admission_check(wish.denied, "B", "b", NULL, NULL)) == (cases[i].denied > 0));
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/policy-set/load", test_load);
        g_test_add_func("/policy-set/two-lists", test_two_lists);
        g_test_add_func("/policy-set/errors", test_errors);
        g_test_add_func("/policy-set/places", test_places);
        g_test_add_func("/policy-set/limits", test_limits);
        g_test_add_func("/policy-set/project", test_project);
        return g_test_run();
}
