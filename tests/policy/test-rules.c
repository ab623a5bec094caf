/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "policy/auto-review.h"
#include "policy/decision.h"
#include "policy/repository-law.h"
#include "policy/rules.h"
#include "policy/tool-name.h"
#include "policy/wildcard.h"
#include "test-json.h"

static RuleSet *load(RuleSource source, const char *json) {
        RuleSet *rules = rule_set_new();
        g_autoptr(Jdoc) doc = parse_json(json);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = rule_set_load(rules, source, jdoc_root(doc), &error);

        if (r < 0)
                g_error("%s: %s", json, error.message);
        return rules;
}

static void load_more(RuleSet *rules, RuleSource source, const char *json) {
        g_autoptr(Jdoc) doc = parse_json(json);

        g_assert_cmpint(rule_set_load(rules, source, jdoc_root(doc), NULL), ==, 0);
}

/* What a client's call of a core tool comes to. */
typedef struct Probe {
        const char *tool;
        const char *arguments;
        const char *original; /* NULL: nobody revised */
        Posture posture;
        Requirement requirement;
        const RuleSet *rules;
        const RepositoryLaw *law;
        const AutoReview *review;
        const char *caller;
        bool extension;
        const char *build;
        bool never_bypassable;
        const HookFold *hooks;
        bool background;
        bool headless;
} Probe;

static Verdict probe(const Probe *probe, char **ret_source) {
        g_autoptr(Jdoc) arguments = parse_json(probe->arguments ? probe->arguments : "{}");
        g_autoptr(Jdoc) original = probe->original ? parse_json(probe->original) : NULL;
        g_auto(Decision) decision = {};
        const DecisionInput input = {
                .session = "s",
                .workspace = "/w",
                .kind = probe->extension ? TOOL_EXTENSION : TOOL_CORE,
                .tool = probe->tool,
                .plugin = probe->extension ? "counter" : NULL,
                .build = probe->extension ? (probe->build ? probe->build : "aaaa") : NULL,
                .caller_plugin = probe->caller,
                .posture = probe->posture,
                .requirement = probe->requirement,
                .never_bypassable = probe->never_bypassable,
                .arguments = jdoc_root(arguments),
                .original = original ? jdoc_root(original) : (Jval){},
                .rules = probe->rules,
                .law = probe->law,
                .review = probe->review,
                .hooks = probe->hooks,
                .background = probe->background,
                .headless = probe->headless,
        };

        decision_make(&input, &decision);
        if (ret_source)
                *ret_source = trace_last(decision.trace) ? g_strdup(trace_last(decision.trace)->source)
                                                         : NULL;
        return decision.verdict;
}

/* ---- reading ---- */

static void test_load_errors(void) {
        static const struct {
                const char *json;
                const char *words;
        } cases[] = {
                { "[]", "must be a table" },
                { "{\"rules\":[]}", "only \"rule\" and \"commands\"" },
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
                g_autoptr(Jdoc) doc = parse_json(cases[i].json);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

                g_test_message("%s", cases[i].json);
                g_assert_cmpint(rule_set_load(rules, RULE_USER, jdoc_root(doc), &error), ==, -EINVAL);
                g_test_message("%s", error.message);
                g_assert_nonnull(strstr(error.message, cases[i].words));
                g_assert_cmpuint(rule_set_length(rules), ==, 0);
        }
}

static void test_load_limit(void) {
        g_autoptr(GString) json = g_string_new("{\"rule\":[");
        g_autoptr(RuleSet) rules = rule_set_new();
        g_autoptr(Jdoc) doc = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        for (unsigned i = 0; i < 4096; i++)
                g_string_append_printf(
                                json, "%s{\"outcome\":\"ask\",\"tool\":\"t%u\"}", i > 0 ? "," : "", i);
        g_string_append(json, "]}");
        doc = parse_json(json->str);
        g_assert_cmpint(rule_set_load(rules, RULE_USER, jdoc_root(doc), &error), ==, 0);
        g_assert_cmpuint(rule_set_length(rules), ==, 4096);
        g_assert_cmpstr(rule_set_get(rules, 6)->id, ==, "rule 7");
        g_assert_cmpint(rule_set_load(rules, RULE_ADMIN, jdoc_root(doc), &error), ==, -ENOBUFS);
        g_assert_cmpstr(error.name, ==, ERROR_LIMIT_EXCEEDED);
}

static void test_write(void) {
        g_autoptr(RuleSet) rules = load(RULE_ADMIN, "{\"rule\":[{\"outcome\":\"ask\",\"tool\":\"a\","
                                                    "\"command\":\"git push\",\"why\":\"w\"}],"
                                                    "\"commands\":{\"deny\":[\"rm -rf\"]}}");
        g_auto(JWriter) writer = {};
        g_autofree char *json = NULL;

        load_more(rules, RULE_USER, "{\"commands\":{\"trust\":[\"ls\"]}}");
        jwriter_init(&writer);
        rule_set_write(rules, &writer);
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

/* ---- commands ---- */

/* A denied prefix is found in every part of a chain and beats everything; a trusted one counts for a plain
 * command only. */
static void test_commands(void) {
        static const struct {
                const char *command;
                Verdict expected;
        } cases[] = {
                { "git status", VERDICT_ALLOW },
                { "git status -s", VERDICT_ALLOW },
                { "git stash", VERDICT_ASK },
                { "git status; make", VERDICT_ASK },
                { "git status > out", VERDICT_ASK },
                { "git status $(make)", VERDICT_ASK },
                { "curl x", VERDICT_DENY },
                { "git status; curl x", VERDICT_DENY },
                { "git status | curl x", VERDICT_DENY },
                { "git status $(curl x)", VERDICT_DENY },
                { "sudo curl x", VERDICT_DENY },
                { "sh -c 'git status; curl x'", VERDICT_DENY },
                { "make", VERDICT_ASK },
                { "ok", VERDICT_ALLOW },
                { "ok; ok", VERDICT_ASK },
        };
        g_autoptr(RuleSet) rules = load(RULE_USER,
                        "{\"commands\":{\"deny\":[\"curl\"],\"trust\":[\"git status\",\"curl\"]},"
                        "\"rule\":[{\"outcome\":\"allow\",\"tool\":\"exec_shell\",\"command\":\"ok\"},"
                        "{\"outcome\":\"allow\",\"tool\":\"exec_shell\",\"command\":\"curl\"}]}");

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *arguments = g_strdup_printf("{\"command\":\"%s\"}", cases[i].command);
                const Probe what = {
                        .tool = "bash",
                        .arguments = arguments,
                        .requirement = REQUIREMENT_REQUIRED,
                        .rules = rules,
                };

                g_test_message("%s", cases[i].command);
                g_assert_cmpint(probe(&what, NULL), ==, cases[i].expected);
        }
}

/* A typed ask beats a trusted prefix, and so does a command that nobody can read. */
static void test_ask_beats_trust(void) {
        g_autoptr(RuleSet) rules = load(RULE_USER,
                        "{\"commands\":{\"trust\":[\"git status\"],\"deny\":[\"curl\"]},"
                        "\"rule\":[{\"outcome\":\"ask\",\"tool\":\"exec_shell\",\"command\":\"git\"}]}");
        Probe what = {
                .tool = "bash",
                .arguments = "{\"command\":\"git status\"}",
                .requirement = REQUIREMENT_AUTO,
                .rules = rules,
        };
        g_autofree char *source = NULL;

        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ASK);
        what.arguments = "{\"command\":\"$RUN x\"}";
        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ASK);
        what.arguments = "{}";
        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ASK);
        what.arguments = "{\"command\":[\"curl\"]}";
        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ASK);
        what.posture = POSTURE_FULL_ACCESS;
        g_assert_cmpint(probe(&what, &source), ==, VERDICT_DENY);
        g_assert_cmpstr(source, ==, "posture:full-access");
}

/* B5: deny rules see the input before and after a revision. */
static void test_both_inputs(void) {
        g_autoptr(RuleSet) rules = load(RULE_USER,
                        "{\"commands\":{\"deny\":[\"curl\"]},"
                        "\"rule\":[{\"outcome\":\"allow\",\"tool\":\"exec_shell\",\"command\":\"wrap\"},"
                        "{\"outcome\":\"deny\",\"tool\":\"write_file\",\"path\":\"secret/**\"},"
                        "{\"outcome\":\"ask\",\"tool\":\"write_file\",\"path\":\"hm/**\"},"
                        "{\"outcome\":\"allow\",\"tool\":\"write_file\",\"path\":\"fine/**\"}]}");
        static const struct {
                const char *tool;
                const char *original;
                const char *final;
                Verdict expected;
        } cases[] = {
                { "bash", "{\"command\":\"curl x\"}", "{\"command\":\"wrap x\"}", VERDICT_DENY },
                { "bash", "{\"command\":\"wrap x\"}", "{\"command\":\"curl x\"}", VERDICT_DENY },
                { "bash", "{\"command\":\"make\"}", "{\"command\":\"wrap make\"}", VERDICT_ALLOW },
                { "write", "{\"path\":\"secret/a\"}", "{\"path\":\"fine/a\"}", VERDICT_DENY },
                { "write", "{\"path\":\"fine/a\"}", "{\"path\":\"secret/a\"}", VERDICT_DENY },
                { "write", "{\"path\":\"hm/a\"}", "{\"path\":\"fine/a\"}", VERDICT_ASK },
                { "write", "{\"path\":\"other/a\"}", "{\"path\":\"fine/a\"}", VERDICT_ALLOW },
                { "write", "{\"path\":\"fine/a\"}", "{\"path\":\"other/a\"}", VERDICT_ASK },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Probe what = {
                        .tool = cases[i].tool,
                        .arguments = cases[i].final,
                        .original = cases[i].original,
                        .requirement = REQUIREMENT_REQUIRED,
                        .rules = rules,
                };

                g_test_message("%s -> %s", cases[i].original, cases[i].final);
                g_assert_cmpint(probe(&what, NULL), ==, cases[i].expected);
        }
}

/* Paths outside the workspace match no file rule, and spoil an allow. */
static void test_paths(void) {
        static const struct {
                const char *arguments;
                Verdict expected;
        } cases[] = {
                { "{\"path\":\"src/a\"}", VERDICT_ALLOW },
                { "{\"path\":\"/w/src/a\"}", VERDICT_ALLOW },
                { "{\"path\":\"src/../../etc/passwd\"}", VERDICT_ASK },
                { "{\"path\":\"/etc/src/a\"}", VERDICT_ASK },
                { "{\"path\":\"src/a\",\"file\":\"/etc/passwd\"}", VERDICT_ASK },
                { "{\"paths\":[\"src/a\",\"src/b\"]}", VERDICT_ALLOW },
                { "{\"paths\":[\"src/a\",\"b\"]}", VERDICT_ASK },
                { "{\"path\":\"src/no/a\"}", VERDICT_DENY },
                { "{\"paths\":[\"src/a\",\"src/no/a\"]}", VERDICT_DENY },
                { "{}", VERDICT_ASK },
        };
        g_autoptr(RuleSet) rules = load(RULE_USER, "{\"rule\":[{\"outcome\":\"allow\",\"path\":\"src/"
                                                   "**\"},{\"outcome\":\"deny\",\"path\":\"src/no\"}]}");

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Probe what = {
                        .tool = "write",
                        .arguments = cases[i].arguments,
                        .requirement = REQUIREMENT_REQUIRED,
                        .rules = rules,
                };

                g_test_message("%s", cases[i].arguments);
                g_assert_cmpint(probe(&what, NULL), ==, cases[i].expected);
        }
}

/* ---- what an allow rule can't do ---- */

static void test_allow_is_bounded(void) {
        static const HookSource source = { .label = "guard", .strict = true };
        g_autoptr(RuleSet) wide = load(RULE_USER, "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"*\"}]}");
        g_autoptr(RuleSet) plugin = load(RULE_USER,
                        "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"t\",\"plugin\":\"counter\"}]}");
        g_autoptr(RuleSet) pinned = load(RULE_USER, "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"t\","
                                                    "\"plugin\":\"counter\",\"build\":\"aaaa\"}]}");
        g_autoptr(RuleSet) agent = load(RULE_AGENT, "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"t\","
                                                    "\"plugin\":\"counter\",\"build\":\"aaaa\"}]}");
        g_autoptr(RuleSet) caller = load(RULE_USER,
                        "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"*\",\"caller\":\"counter\"}]}");
        g_autoptr(HookFold) fold = hook_fold_new();
        const struct {
                Probe what;
                Verdict expected;
        } cases[] = {
                /* A plugin's tool: only a rule about exactly this build. */
                { { .tool = "t", .extension = true, .rules = wide }, VERDICT_ASK },
                { { .tool = "t", .extension = true, .rules = plugin }, VERDICT_ASK },
                { { .tool = "t", .extension = true, .rules = pinned }, VERDICT_ALLOW },
                { { .tool = "t", .extension = true, .build = "bbbb", .rules = pinned }, VERDICT_ASK },
                { { .tool = "t", .extension = true, .rules = agent }, VERDICT_ASK },
                /* A nested call: only a rule about its caller, and never shell or network. */
                { { .tool = "write", .caller = "counter", .rules = wide }, VERDICT_ASK },
                { { .tool = "write", .caller = "counter", .rules = caller }, VERDICT_ALLOW },
                { { .tool = "write", .caller = "other", .rules = caller }, VERDICT_ASK },
                { { .tool = "bash", .caller = "counter", .rules = caller }, VERDICT_ASK },
                /* A hook's question and a requirement that can't be bypassed. */
                { { .tool = "write", .requirement = REQUIREMENT_REQUIRED, .rules = wide }, VERDICT_ALLOW },
                { { .tool = "write", .requirement = REQUIREMENT_REQUIRED, .rules = wide, .hooks = fold },
                                VERDICT_ASK },
                { { .tool = "write",
                                  .requirement = REQUIREMENT_REQUIRED,
                                  .rules = wide,
                                  .never_bypassable = true },
                                VERDICT_ASK },
        };

        (void) hook_fold_add_text(fold, &source, "{\"kind\":\"ask\"}", strlen("{\"kind\":\"ask\"}"));
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu", i);
                g_assert_cmpint(probe(&cases[i].what, NULL), ==, cases[i].expected);
        }
}

/* AP-11: a grant does not answer a rule that asks, whoever wrote it. */
static void test_ask_beats_grant(void) {
        static const BuildScope build = { .plugin = "counter", .content_hash = "aaaa" };
        static const ApprovalSubject subject = { .tool = "t", .build = &build };
        g_autoptr(RuleSet) rules = load(RULE_ADMIN, "{\"rule\":[{\"outcome\":\"ask\",\"tool\":\"t\"}]}");
        g_autoptr(GrantTable) grants = grant_table_new();
        g_autoptr(Jdoc) arguments = parse_json("{}");
        g_auto(ApprovalKeys) keys = {};
        g_auto(Decision) decision = {};
        GrantRequest request = { .session = "s", .subject = &subject, .keys = &keys };
        DecisionInput input = {
                .session = "s",
                .tool = "t",
                .plugin = "counter",
                .build = "aaaa",
                .arguments = jdoc_root(arguments),
                .rules = rules,
                .grants = grants,
                .keys = &keys,
        };
        uint64_t id;

        g_assert_cmpint(approval_keys_make(&subject, jdoc_root(arguments), &keys), ==, 0);
        g_assert_cmpint(grant_table_give(grants, &request, &id), ==, 0);
        decision_make(&input, &decision);
        g_assert_cmpint(decision.verdict, ==, VERDICT_ASK);
        g_assert_true(decision.forced);
        g_assert_cmpuint(decision.offers, ==, 0);
}

/* ---- auto-review ---- */

static void test_auto_review(void) {
        g_autoptr(AutoReview) review = auto_review_new();
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

        g_assert_cmpint(auto_review_load(review, jdoc_root(doc), NULL), ==, 0);
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
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                const Probe what = { .tool = "fine", .review = review, .posture = POSTURE_FULL_ACCESS };

                g_test_message("%s", cases[i]);
                g_assert_cmpint(auto_review_load(review, jdoc_root(doc), &error), ==, -EINVAL);
                g_assert_true(sd_bus_error_is_set(&error));
                g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ALLOW);
        }
}

/* ---- repository law ---- */

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
        g_autoptr(Jdoc) doc = parse_json(
                        "{\"protect\":[{\"path\":\"deploy/**\",\"outcome\":\"block\",\"why\":\"live\"},"
                        "{\"path\":\"docs\",\"outcome\":\"ask\"}],\"tools\":[{\"tool\":\"fetch_*\"}]}");

        g_assert_cmpint(repository_law_load(law, jdoc_root(doc), NULL), ==, 0);
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
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                const Probe what = { .tool = "write", .arguments = "{\"path\":\"x\"}", .law = law };

                g_test_message("%s", cases[i]);
                g_assert_cmpint(repository_law_load(law, jdoc_root(doc), &error), ==, -EINVAL);
                g_assert_true(sd_bus_error_is_set(&error));
                g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ALLOW);
        }
}

/* A law that can't be read is no licence. */
static void test_law_unreadable(void) {
        g_autoptr(RepositoryLaw) law = repository_law_new();
        Probe what = { .tool = "write", .arguments = "{\"path\":\"x\"}", .law = law };

        repository_law_set_unreadable(law);
        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ASK);
        what.tool = "read";
        g_assert_cmpint(probe(&what, NULL), ==, VERDICT_ALLOW);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rules/load-errors", test_load_errors);
        g_test_add_func("/rules/load-limit", test_load_limit);
        g_test_add_func("/rules/write", test_write);
        g_test_add_func("/rules/wildcards", test_wildcards);
        g_test_add_func("/rules/AP-13-C10-order", test_order);
        g_test_add_func("/rules/C10-pairs", test_pairs);
        g_test_add_func("/rules/AP-12-single-allow", test_single_allow);
        g_test_add_func("/rules/sources", test_sources);
        g_test_add_func("/rules/specificity", test_specificity);
        g_test_add_func("/rules/commands", test_commands);
        g_test_add_func("/rules/ask-beats-trust", test_ask_beats_trust);
        g_test_add_func("/rules/B5-both-inputs", test_both_inputs);
        g_test_add_func("/rules/paths", test_paths);
        g_test_add_func("/rules/allow-is-bounded", test_allow_is_bounded);
        g_test_add_func("/rules/AP-11-ask-beats-grant", test_ask_beats_grant);
        g_test_add_func("/auto-review/cells", test_auto_review);
        g_test_add_func("/auto-review/errors", test_auto_review_errors);
        g_test_add_func("/repository-law/cells", test_law);
        g_test_add_func("/repository-law/errors", test_law_errors);
        g_test_add_func("/repository-law/unreadable", test_law_unreadable);
        return g_test_run();
}
