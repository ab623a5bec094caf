/* SPDX-License-Identifier: MIT */
#include "policy/wildcard.h"
#include "probe.h"

/* ---- reading ---- */

static void test_load_errors(void) {
        static const struct {
                const char *json;
                const char *words;
        } cases[] = {
                { "{\"rule\":{}}", "list of tables" },
                { "{\"rule\":[5]}", "rule 1: it must be a table" },
                { "{\"rule\":[{\"tool\":\"a\"}]}", "rule 1: it needs an \"outcome\"" },
                { "{\"rule\":[{\"outcome\":\"Allow\",\"tool\":\"a\"}]}", "\"deny\", \"ask\" or \"allow\"" },
                { "{\"rule\":[{\"outcome\":\"allow\"}]}", "must say what it is about" },
                { "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"\"}]}", "\"tool\" must be a text" },
                { "{\"rule\":[{\"outcome\":\"allow\",\"tool\":5}]}", "\"tool\" must be a text" },
                { "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"a\"},{\"outcome\":\"deny\",\"tol\":\"a\"}]}",
                                "rule 2: unknown member \"tol\"" },
                { "{\"rule\":[{\"outcome\":\"deny\",\"command\":\"rm; ls\"}]}",
                                "first words of one plain command" },
                { "{\"rule\":[{\"outcome\":\"deny\",\"command\":\"'open\"}]}",
                                "first words of one plain command" },
                { "{\"commands\":[]}", "must be a table" },
                { "{\"commands\":{\"denied\":[]}}", "only \"deny\" and \"trust\"" },
                { "{\"commands\":{\"deny\":\"rm\"}}", "must be a list" },
                { "{\"commands\":{\"deny\":[\"rm |\"]}}", "first words of one plain command" },
                { "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"good\"}],\"commands\":{\"trust\":[7]}}",
                                "commands.trust" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(RuleSet) rules = rule_set_new();
                g_auto(PolicyDocument) document = {};
                g_autofree char *words = NULL;

                g_test_message("%s", cases[i].json);
                g_assert_cmpint(load_rules(rules, RULE_USER, cases[i].json, &document), ==, -EINVAL);
                g_assert_cmpint(document.error, ==, -EINVAL);
                words = policy_document_words(&document);
                g_test_message("%s", words);
                g_assert_nonnull(strstr(words, cases[i].words));
                g_assert_cmpuint(rule_set_length(rules), ==, 0);
        }
}

/* What is right is read as if there were no mistake, and each mistake is named. */
static void test_all_mistakes(void) {
        static const char json[] = "{\"rule\":[{\"outcome\":\"deny\"},{\"outcome\":\"deny\",\"tool\":\"a\",\"id\":\"x\"},"
                                   "{\"outcome\":\"no\",\"tol\":\"b\"},{\"outcome\":\"ask\",\"tool\":\"a\",\"id\":\"x\"}],"
                                   "\"commands\":{\"deny\":[\"a|b\",\"ok\"]}}";
        static const char *const words[] = {
                "rule 1: it must say what it is about", "rule 3: \"outcome\"", "rule 3: unknown member \"tol\"",
                "rule 4: rule 2 has the id \"x\" already", "commands.deny: ",
        };
        g_autoptr(RuleSet) rules = rule_set_new();
        g_auto(PolicyDocument) document = { .file = "permissions.toml" };
        g_autofree char *all = NULL;

        g_assert_cmpint(load_rules(rules, RULE_USER, json, &document), ==, -EINVAL);
        g_assert_cmpuint(document.mistakes->len, ==, G_N_ELEMENTS(words));
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
                const PolicyMistake *mistake = document.mistakes->pdata[i];

                g_test_message("%s", mistake->text);
                g_assert_true(g_str_has_prefix(mistake->text, words[i]));
                g_assert_false(mistake->warning);
        }
        all = policy_document_words(&document);
        g_assert_true(g_str_has_prefix(all, "permissions.toml: rule 1: "));
        g_assert_true(g_str_has_suffix(all, " (4 more)"));
        g_assert_cmpuint(rule_set_length(rules), ==, 0);
}

/* Rules that are right and do nothing. */
static void test_warnings(void) {
        static const struct {
                const char *rule;
                const char *words; /* NULL: nothing to say */
        } cases[] = {
                { "\"outcome\":\"allow\",\"tool\":\"*\"", "takes no question away" },
                { "\"outcome\":\"allow\",\"plugin\":\"*/p\"", "takes no question away" },
                { "\"outcome\":\"allow\",\"plugin\":\"*/p\",\"build\":\"b\"", NULL },
                { "\"outcome\":\"allow\",\"caller\":\"*/p\"", NULL },
                { "\"outcome\":\"deny\",\"tool\":\"*\"", NULL },
                { "\"outcome\":\"deny\",\"plugin\":\"*/p\",\"command\":\"rm\"", "never applies" },
                { "\"outcome\":\"ask\",\"plugin\":\"*/p\",\"path\":\"x\"", "never applies" },
                { "\"outcome\":\"ask\",\"caller\":\"*/p\",\"path\":\"x\"", NULL },
                { "\"outcome\":\"deny\",\"plugin\":\"p\"", "\"*/p\"" },
                { "\"outcome\":\"deny\",\"caller\":\"p\"", "\"*/p\"" },
                { "\"outcome\":\"deny\",\"plugin\":\"user/b09c51bc393f/p\"", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *json = g_strdup_printf("{\"rule\":[{%s}]}", cases[i].rule);
                g_autoptr(RuleSet) rules = rule_set_new();
                g_auto(PolicyDocument) document = {};

                g_test_message("%s", json);
                g_assert_cmpint(load_rules(rules, RULE_USER, json, &document), ==, 0);
                g_assert_null(policy_document_words(&document));
                g_assert_cmpuint(document.mistakes ? document.mistakes->len : 0, ==, cases[i].words ? 1 : 0);
                if (cases[i].words) {
                        g_assert_true(((PolicyMistake *) document.mistakes->pdata[0])->warning);
                        g_assert_nonnull(strstr(((PolicyMistake *) document.mistakes->pdata[0])->text, cases[i].words));
                }
        }
}

static void test_load_limit(void) {
        g_autoptr(GString) json = g_string_new("{\"rule\":[");
        g_autoptr(RuleSet) rules = rule_set_new();
        g_auto(PolicyDocument) document = {};

        for (unsigned i = 0; i < 4096; i++)
                g_string_append_printf(
                                json, "%s{\"outcome\":\"ask\",\"tool\":\"t%u\"}", i > 0 ? "," : "", i);
        g_string_append(json, "]}");
        g_assert_cmpint(load_rules(rules, RULE_USER, json->str, &document), ==, 0);
        g_assert_cmpuint(rule_set_length(rules), ==, 4096);
        g_assert_cmpstr(rule_set_get(rules, 6)->id, ==, "rule 7");
        g_assert_cmpint(load_rules(rules, RULE_ADMIN, json->str, &document), ==, -ENOBUFS);
        g_assert_cmpint(document.error, ==, -ENOBUFS);
}

static void test_write(void) {
        g_autoptr(RuleSet) rules = load(RULE_ADMIN, "{\"rule\":[{\"outcome\":\"ask\",\"tool\":\"a\","
                                                    "\"command\":\"git push\",\"why\":\"w\"}],"
                                                    "\"commands\":{\"deny\":[\"rm -rf\"]}}");
        g_auto(JWriter) writer = {};
        g_autofree char *json = NULL;

        load_more(rules, RULE_USER, "{\"commands\":{\"trust\":[\"ls\"]}}");
        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        rule_set_write(rules, &writer);
        jwriter_end_object(&writer);
        json = jwriter_steal(&writer, NULL);
        g_assert_cmpstr(json, ==,
                        "{\"rules\":[{\"source\":\"administrator\",\"id\":\"rule "
                        "1\",\"outcome\":\"ask\",\"tool\":\"a\","
                        "\"why\":\"w\",\"command\":\"git "
                        "push\"}],\"commands\":{\"deny\":[{\"source\":\"administrator\","
                        "\"command\":\"rm -rf\"}],\"trust\":[{\"source\":\"user\",\"command\":\"ls\"}]}}");
}

static void test_wildcards(void) {
        static const struct {
                const char *pattern;
                const char *text;
                bool expected;
        } cases[] = {
                { "*", "", true },
                { "*", "any", true },
                { "a*", "ABC", true },
                { "a*c", "abbc", true },
                { "a*c", "abcd", false },
                { "?", "a", true },
                { "?", "", false },
                { "a?c", "abc", true },
                { "abc", "ABC", true },
                { "abc", "abcd", false },
                { "*b*", "abc", true },
                { "**", "x", true },
                { "a*b*c", "axbxc", true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_true(wildcard_match(cases[i].pattern, cases[i].text) == cases[i].expected);
}

/* ---- order ---- */

/* AP-13, C10: allow everything, ask about push, deny wipe; in all four postures. */
static void test_order(void) {
        static const struct {
                const char *tool;
                Verdict expected[_POSTURE_MAX];
        } cases[] = {
                { "look", { VERDICT_ALLOW, VERDICT_ALLOW, VERDICT_ALLOW, VERDICT_ALLOW } },
                { "wipe_all", { VERDICT_DENY, VERDICT_DENY, VERDICT_DENY, VERDICT_DENY } },
                /* Only Ask opens cards for a client's call; the others never let it run on the strength of
                   the allow. */
                { "push_it", { [POSTURE_ASK] = VERDICT_ASK,
                                             [POSTURE_AUTO_REVIEW] = VERDICT_DENY,
                                             [POSTURE_FULL_ACCESS] = VERDICT_DENY,
                                             [POSTURE_NEVER] = VERDICT_DENY } },
        };
        static const char *const orders[] = {
                "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"*\"},{\"outcome\":\"ask\",\"tool\":\"push*\"},"
                "{\"outcome\":\"deny\",\"tool\":\"wipe*\"}]}",
                "{\"rule\":[{\"outcome\":\"deny\",\"tool\":\"wipe*\"},{\"outcome\":\"ask\",\"tool\":\"push*"
                "\"},"
                "{\"outcome\":\"allow\",\"tool\":\"*\"}]}",
        };

        for (size_t order = 0; order < G_N_ELEMENTS(orders); order++) {
                g_autoptr(RuleSet) rules = load(RULE_USER, orders[order]);

                for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                        for (Posture posture = 0; posture < _POSTURE_MAX; posture++) {
                                const Probe what = {
                                        .tool = cases[i].tool,
                                        .posture = posture,
                                        .requirement = REQUIREMENT_REQUIRED,
                                        .rules = rules,
                                };

                                g_test_message("%s under %s", cases[i].tool, posture_to_string(posture));
                                g_assert_cmpint(probe(&what, NULL), ==, cases[i].expected[posture]);
                        }
        }
}

/* C10: for every pair of rules about the same call and every posture the stricter one counts, whichever is
 * narrower. */
static void test_pairs(void) {
        for (RuleOutcome wide = 0; wide < _RULE_OUTCOME_MAX; wide++)
                for (RuleOutcome narrow = 0; narrow < _RULE_OUTCOME_MAX; narrow++)
                        for (Posture posture = 0; posture < _POSTURE_MAX; posture++) {
                                g_autofree char *both = g_strdup_printf(
                                                "{\"rule\":[{\"outcome\":\"%s\",\"tool\":\"exec_*\"},"
                                                "{\"outcome\":\"%s\",\"tool\":\"exec_shell\",\"command\":"
                                                "\"go\"}]}",
                                                rule_outcome_to_string(wide),
                                                rule_outcome_to_string(narrow));
                                g_autofree char *stricter = g_strdup_printf(
                                                "{\"rule\":[{\"outcome\":\"%s\",\"tool\":\"exec_shell\"}]}",
                                                rule_outcome_to_string(MAX(wide, narrow)));
                                g_autoptr(RuleSet) pair = load(RULE_USER, both),
                                                   single = load(RULE_USER, stricter);
                                Probe what = {
                                        .tool = "exec_shell",
                                        .arguments = "{\"command\":\"go on\"}",
                                        .posture = posture,
                                        .requirement = REQUIREMENT_REQUIRED,
                                        .rules = pair,
                                };
                                Verdict verdict = probe(&what, NULL);

                                what.rules = single;
                                g_assert_cmpint(verdict, ==, probe(&what, NULL));
                        }
}

/* AP-12: one allow rule for one tool changes nothing for any other. */
static void test_single_allow(void) {
        static const char *const others[] = { "other", "write_file", "exec_shell", "todo_write" };
        g_autoptr(RuleSet) rules = load(RULE_USER, "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"mine\"}]}");
        Probe what = { .tool = "mine", .requirement = REQUIREMENT_REQUIRED, .rules = rules };

        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ALLOW);
        for (Posture posture = 0; posture < _POSTURE_MAX; posture++)
                for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                        for (Requirement requirement = 0; requirement < _REQUIREMENT_MAX; requirement++) {
                                Verdict with;

                                what = (Probe){
                                        .tool = others[i],
                                        .arguments = "{\"command\":\"make\"}",
                                        .posture = posture,
                                        .requirement = requirement,
                                        .rules = rules,
                                };
                                with = probe(&what, NULL);
                                what.rules = NULL;
                                g_assert_cmpint(with, ==, probe(&what, NULL));
                        }
}

/* Which source wins, for every pair of sources and outcomes. */
static void test_sources(void) {
        static const struct {
                RuleSource a;
                RuleOutcome a_outcome;
                RuleSource b;
                RuleOutcome b_outcome;
                RuleOutcome expected;
        } cases[] = {
                { RULE_USER, RULE_ALLOW, RULE_AGENT, RULE_DENY, RULE_ALLOW },
                { RULE_USER, RULE_DENY, RULE_AGENT, RULE_ALLOW, RULE_DENY },
                { RULE_AGENT, RULE_ALLOW, RULE_BUILTIN, RULE_DENY, RULE_ALLOW },
                { RULE_USER, RULE_ALLOW, RULE_BUILTIN, RULE_DENY, RULE_ALLOW },
                { RULE_ADMIN, RULE_DENY, RULE_USER, RULE_ALLOW, RULE_DENY },
                { RULE_ADMIN, RULE_ASK, RULE_USER, RULE_ALLOW, RULE_ASK },
                { RULE_ADMIN, RULE_ALLOW, RULE_USER, RULE_DENY, RULE_DENY },
                { RULE_ADMIN, RULE_ALLOW, RULE_USER, RULE_ASK, RULE_ASK },
                { RULE_ADMIN, RULE_ALLOW, RULE_AGENT, RULE_DENY, RULE_ALLOW },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                for (unsigned order = 0; order < 2; order++) {
                        g_autofree char *a =
                                        g_strdup_printf("{\"rule\":[{\"outcome\":\"%s\",\"tool\":\"t\"}]}",
                                                        rule_outcome_to_string(cases[i].a_outcome));
                        g_autofree char *b =
                                        g_strdup_printf("{\"rule\":[{\"outcome\":\"%s\",\"tool\":\"t\"}]}",
                                                        rule_outcome_to_string(cases[i].b_outcome));
                        g_autoptr(RuleSet) rules = rule_set_new();
                        const RuleSubject subject = { .name = "t", .policy_name = "t", .is_core = true };
                        RuleMatch match;

                        load_more(rules, order == 0 ? cases[i].a : cases[i].b, order == 0 ? a : b);
                        load_more(rules, order == 0 ? cases[i].b : cases[i].a, order == 0 ? b : a);
                        rule_set_match(rules, &subject, &match);
                        g_assert_cmpint(match.rule->outcome, ==, cases[i].expected);
                }
}

/* Among equals the more specific rule is named, and the earlier one among equally specific ones. */
static void test_specificity(void) {
        static const struct {
                const char *json;
                const char *expected;
        } cases[] = {
                { "{\"rule\":[{\"outcome\":\"ask\",\"tool\":\"*\",\"id\":\"all\"},"
                  "{\"outcome\":\"ask\",\"tool\":\"write_file\",\"id\":\"exact\"}]}",
                                "rule:user:exact" },
                { "{\"rule\":[{\"outcome\":\"ask\",\"tool\":\"write_file\",\"id\":\"exact\"},"
                  "{\"outcome\":\"ask\",\"tool\":\"write_file\",\"path\":\"src/**\",\"id\":\"path\"}]}",
                                "rule:user:path" },
                { "{\"rule\":[{\"outcome\":\"ask\",\"tool\":\"write_file\",\"id\":\"one\"},"
                  "{\"outcome\":\"ask\",\"tool\":\"write_file\",\"id\":\"two\"}]}",
                                "rule:user:one" },
                { "{\"rule\":[{\"outcome\":\"ask\",\"tool\":\"write_file\",\"path\":\"src/"
                  "**\",\"id\":\"path\"},"
                  "{\"outcome\":\"deny\",\"tool\":\"*\",\"id\":\"deny\"}]}",
                                "rule:user:deny" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(RuleSet) rules = load(RULE_USER, cases[i].json);
                const Probe what = {
                        .tool = "write",
                        .arguments = "{\"path\":\"src/a\"}",
                        .posture = POSTURE_NEVER,
                        .rules = rules,
                };
                g_autoptr(Jdoc) arguments = parse_json(what.arguments);
                const RuleSubject subject = {
                        .name = "write",
                        .policy_name = "write_file",
                        .arguments = jdoc_root(arguments),
                        .workspace = "/w",
                        .is_core = true,
                };
                g_autofree char *name = NULL;
                RuleMatch match;

                rule_set_match(rules, &subject, &match);
                name = g_strdup_printf(
                                "rule:%s:%s", rule_source_to_string(match.rule->source), match.rule->id);
                g_assert_cmpstr(name, ==, cases[i].expected);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rules/load-errors", test_load_errors);
        g_test_add_func("/rules/all-mistakes", test_all_mistakes);
        g_test_add_func("/rules/warnings", test_warnings);
        g_test_add_func("/rules/load-limit", test_load_limit);
        g_test_add_func("/rules/write", test_write);
        g_test_add_func("/rules/wildcards", test_wildcards);
        g_test_add_func("/rules/AP-13-C10-order", test_order);
        g_test_add_func("/rules/C10-pairs", test_pairs);
        g_test_add_func("/rules/AP-12-single-allow", test_single_allow);
        g_test_add_func("/rules/sources", test_sources);
        g_test_add_func("/rules/specificity", test_specificity);
        return g_test_run();
}
