/* SPDX-License-Identifier: MIT */

/* How far rules reach: into commands and paths, over revisions, and not over what an allow can't do. */

#include "policy/admission.h"
#include "policy/tool-name.h"
#include "probe.h"

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

/* Who names a tool means it, by whichever of its names it is then called: else a deny would be got round by an alias. */
static void test_names(void) {
        static const struct {
                const char *pattern;
                const char *tool, *arguments;
                bool means;
        } cases[] = {
                { "shell", "shell", "{}", true },
                { "shell", "bash", "{}", true },
                { "shell", "exec_shell", "{}", true },
                { "Shell", "Bash", "{\"action\":\"run\"}", true },
                { "bash", "shell", "{}", true },
                { "bash", "exec_shell_wait", "{}", true },
                { "exec_shell", "shell", "{}", true },
                { "sh*", "bash", "{}", true },
                { "web_fetch", "fetch_url", "{}", true },
                { "web_fetch", "Web", "{\"action\":\"fetch\"}", true },
                { "web_fetch", "Web", "{\"action\":\"search\"}", false },
                { "web_*", "fetch_url", "{}", true },
                { "fetch_url", "web_fetch", "{}", true },
                { "Web", "web_fetch", "{}", true },
                { "web", "web_search", "{}", true },
                { "we*", "web_search", "{}", true },
                { "File", "read", "{}", true },
                { "file", "write_file", "{}", true },
                { "fil?", "write_file", "{}", false },
                { "read", "read_file", "{}", true },
                { "read", "File", "{}", true },
                { "read", "File", "{\"action\":\"write\"}", false },
                { "write", "edit_file", "{}", false },
                { "edit", "edit_file", "{}", true },
                { "read", "read_mail", "{}", false },
                { "exec_shell", "exec_shell_wait", "{}", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *rule = g_strdup_printf("{\"rule\":[{\"outcome\":\"deny\",\"tool\":\"%s\"}]}", cases[i].pattern);
                g_autoptr(RuleSet) rules = load(RULE_USER, rule);
                const Probe what = {
                        .tool = cases[i].tool,
                        .arguments = cases[i].arguments,
                        .requirement = REQUIREMENT_AUTO,
                        .rules = rules,
                };
                g_autofree char *policy_name = NULL;
                g_autoptr(Admission) admission = admission_new();
                g_autoptr(Jdoc) arguments = parse_json(cases[i].arguments);

                g_test_message("%s: %s %s", cases[i].pattern, cases[i].tool, cases[i].arguments);
                g_assert_cmpint(probe(&what, NULL) == VERDICT_DENY, ==, cases[i].means);
                policy_name = tool_alias_resolve(cases[i].tool, jdoc_root(arguments));
                g_assert_cmpint(tool_pattern_means(cases[i].pattern, policy_name), ==, cases[i].means);
                /* Lists hold names, no patterns. */
                if (strpbrk(cases[i].pattern, "*?"))
                        continue;
                g_assert_cmpint(admission_deny(admission, cases[i].pattern, NULL), ==, 0);
                g_assert_cmpint(admission_check(admission, cases[i].tool, policy_name, NULL, NULL), ==, !cases[i].means);
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

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rule-reach/commands", test_commands);
        g_test_add_func("/rule-reach/AP-22-every-name-of-a-tool", test_names);
        g_test_add_func("/rule-reach/ask-beats-trust", test_ask_beats_trust);
        g_test_add_func("/rule-reach/B5-both-inputs", test_both_inputs);
        g_test_add_func("/rule-reach/paths", test_paths);
        g_test_add_func("/rule-reach/allow-is-bounded", test_allow_is_bounded);
        g_test_add_func("/rule-reach/AP-11-ask-beats-grant", test_ask_beats_grant);
        return g_test_run();
}
