/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "policy/admission.h"
#include "policy/repository-law.h"

/* ---- hooks ---- */

static HookFold *fold_of(const char *json) {
        static const HookSource source = { .label = "guard", .plugin = "guard", .strict = true };
        HookFold *fold = hook_fold_new();

        (void) hook_fold_add_text(fold, &source, json, strlen(json));
        return fold;
}

/* Each hook answer under each posture, for a client's call and for an extension's. */
static void test_hook_answers(void) {
        static const struct {
                const char *json;
                bool nested;
                Verdict expected[_POSTURE_MAX];
                CallOutcome outcome;
        } cases[] = {
                { "{\"kind\":\"deny\",\"reason\":\"r\"}", false,
                                { VERDICT_DENY, VERDICT_DENY, VERDICT_DENY, VERDICT_DENY },
                                OUTCOME_HOOK_DENIED },
                { "{}", false, { VERDICT_DENY, VERDICT_DENY, VERDICT_DENY, VERDICT_DENY },
                                OUTCOME_HOOK_FAILED },
                { "{\"kind\":\"ask\"}", false,
                                { [POSTURE_ASK] = VERDICT_ASK,
                                                [POSTURE_AUTO_REVIEW] = VERDICT_DENY,
                                                [POSTURE_FULL_ACCESS] = VERDICT_ALLOW,
                                                [POSTURE_NEVER] = VERDICT_DENY },
                                _OUTCOME_INVALID },
                /* A read becomes an ordinary call, which Full Access approves and the others treat as one.
                 */
                { "{\"kind\":\"ask\"}", true,
                                { [POSTURE_ASK] = VERDICT_ASK,
                                                [POSTURE_AUTO_REVIEW] = VERDICT_DENY,
                                                [POSTURE_FULL_ACCESS] = VERDICT_ALLOW,
                                                [POSTURE_NEVER] = VERDICT_DENY },
                                _OUTCOME_INVALID },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                for (Posture posture = 0; posture < _POSTURE_MAX; posture++) {
                        g_autoptr(HookFold) fold = fold_of(cases[i].json);
                        g_auto(Decision) decision = {};
                        Call call;

                        if (cases[i].nested)
                                call_init(&call, TOOL_CORE, "read_file", true, "{}");
                        else
                                call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                        call.input.posture = posture;
                        call.input.hooks = fold;
                        decision_make(&call.input, &decision);
                        g_test_message("%s %s", cases[i].json, posture_to_string(posture));
                        g_assert_cmpint(decision.verdict, ==, cases[i].expected[posture]);
                        if (cases[i].outcome >= 0)
                                g_assert_cmpint(decision.outcome, ==, cases[i].outcome);
                        call_done(&call);
                }
}

/* A hook's question in Ask is one that no grant answers. */
static void test_hook_ask_beats_grant(void) {
        g_autoptr(HookFold) fold = fold_of("{\"kind\":\"ask\",\"reason\":\"look\"}");
        g_auto(Decision) decision = {};
        Call call;

        call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
        call_grant(&call);
        call.input.hooks = fold;
        decision_make(&call.input, &decision);
        g_assert_cmpint(decision.verdict, ==, VERDICT_ASK);
        g_assert_true(decision.forced);
        g_assert_cmpuint(decision.offers, ==, 0);
        call_done(&call);
}

/* HK-03, B4: the revision is what is judged, in Full Access too, and the trace says who made it. */
static void test_hook_revision(void) {
        g_autoptr(HookFold) fold = fold_of("{\"kind\":\"revise\",\"input\":{\"p\":\"b\"}}");
        g_autoptr(Jdoc) revised = parse_json(hook_fold_revision(fold, NULL));

        for (Posture posture = 0; posture < _POSTURE_MAX; posture++) {
                g_auto(Decision) decision = {};
                Call call;

                call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{\"p\":\"a\"}");
                call.input.posture = posture;
                call.input.hooks = fold;
                call.input.original = call.input.arguments;
                call.input.arguments = jdoc_root(revised);
                decision_make(&call.input, &decision);
                g_assert_cmpstr(trace_step(decision.trace, 0)->source, ==, "hook:guard");
                g_assert_cmpstr(trace_step(decision.trace, 0)->why, ==, "it revised the input");
                call_done(&call);
        }
}

/* HK-14: a read that is revised into a write is judged as a write, and an old grant for the read does not
 * answer. */
static void test_read_into_write(void) {
        g_autoptr(HookFold) fold = fold_of("{\"kind\":\"revise\",\"input\":{\"action\":\"write\"}}");
        g_autoptr(Jdoc) revised = parse_json(hook_fold_revision(fold, NULL));
        const ApprovalSubject subject = { .tool = "write_file", .called_from = &caller };
        g_auto(ApprovalKeys) keys = {};
        g_auto(Decision) before = {}, after = {};
        Call call;

        call_init(&call, TOOL_CORE, "File", true, "{\"action\":\"read\"}");
        call_grant(&call);
        decision_make(&call.input, &before);
        g_assert_cmpint(before.verdict, ==, VERDICT_ALLOW);

        g_assert_cmpint(approval_keys_make(&subject, jdoc_root(revised), &keys), ==, 0);
        call.input.hooks = fold;
        call.input.original = call.input.arguments;
        call.input.arguments = jdoc_root(revised);
        call.input.keys = &keys;
        decision_make(&call.input, &after);
        g_assert_cmpint(after.verdict, ==, VERDICT_ASK);
        g_assert_cmpuint(after.offers, !=, 0);
        call_done(&call);
}

/* ---- admission and modes ---- */

static void test_admission(void) {
        static const struct {
                const char *allow;
                const char *deny;
                const char *tool;
                bool expected;
        } cases[] = {
                { NULL, NULL, "mod_counter", true },
                { NULL, "Mod_Counter", "mod_counter", false },
                { "mod_counter", NULL, "MOD_counter", true },
                { "other", NULL, "mod_counter", false },
                { "mod_counter", "mod_counter", "mod_counter", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Admission) admission = admission_new();
                g_auto(Decision) admitted = {}, made = {};
                Call call;

                if (cases[i].allow)
                        g_assert_cmpint(admission_allow(admission, cases[i].allow, NULL), ==, 0);
                if (cases[i].deny)
                        g_assert_cmpint(admission_deny(admission, cases[i].deny, NULL), ==, 0);
                call_init(&call, TOOL_EXTENSION, cases[i].tool, false, "{}");
                call.input.posture = POSTURE_FULL_ACCESS;
                call.input.admission = admission;
                decision_admit(&call.input, &admitted);
                decision_make(&call.input, &made);
                g_assert_cmpint(admitted.verdict, ==, cases[i].expected ? VERDICT_ALLOW : VERDICT_DENY);
                g_assert_cmpint(made.verdict, ==, admitted.verdict);
                call_done(&call);
        }
}

/* A core tool is denied by its policy name too, so that an alias is no way round. */
static void test_admission_alias(void) {
        g_autoptr(Admission) admission = admission_new();
        g_auto(Decision) decision = {};
        Call call;

        g_assert_cmpint(admission_deny(admission, "exec_shell", "permissions.toml:7"), ==, 0);
        call_init(&call, TOOL_CORE, "Bash", false, "{\"command\":\"ls\"}");
        call.input.admission = admission;
        decision_admit(&call.input, &decision);
        g_assert_cmpint(decision.verdict, ==, VERDICT_DENY);
        g_assert_cmpstr(trace_last(decision.trace)->at, ==, "permissions.toml:7");
        call_done(&call);
}

static void test_plan_mode(void) {
        static const struct {
                const char *tool;
                const char *input;
                ToolCapabilities capabilities;
                bool blocked;
        } cases[] = {
                { "read_file", "{}", 0, false },
                { "list_dir", "{}", 0, false },
                { "write_file", "{}", 0, true },
                { "apply_patch", "{}", 0, true },
                { "bash", "{}", 0, true },
                { "file", "{\"action\":\"edit\"}", 0, true },
                { "file", "{\"action\":\"read\"}", 0, false },
                { "notify", "{}", 0, true },
                { "read_file", "{}", TOOL_WRITES, true },
                { "fetch_url", "{}", 0, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(Decision) decision = {};
                Call call;

                call_init(&call, TOOL_CORE, cases[i].tool, false, cases[i].input);
                call.input.mode = MODE_PLAN;
                call.input.capabilities = cases[i].capabilities;
                call.input.posture = POSTURE_FULL_ACCESS;
                decision_admit(&call.input, &decision);
                g_test_message("%s", cases[i].tool);
                g_assert_true((decision.verdict == VERDICT_DENY) == cases[i].blocked);
                call_done(&call);
        }
}


/* Provenance and a project's wish are said in the trace. */
static void test_narrowing(void) {
        g_auto(Decision) narrowed = {}, tightened = {};
        g_autofree char *why = NULL;
        Call call;

        call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
        call.input.posture = POSTURE_FULL_ACCESS;
        call.input.no_standing = true;
        decision_make(&call.input, &narrowed);
        g_assert_cmpint(narrowed.verdict, ==, VERDICT_ASK);
        g_assert_cmpint(narrowed.posture, ==, POSTURE_ASK);
        g_assert_cmpint(trace_step(narrowed.trace, 0)->layer, ==, LAYER_CONFIGURATION);

        call.input.no_standing = false;
        call.input.project_posture = (PostureLimit){ .set = true, .posture = POSTURE_NEVER, .at = "config.toml:2" };
        decision_make(&call.input, &tightened);
        g_assert_cmpint(tightened.verdict, ==, VERDICT_DENY);
        g_assert_cmpstr(trace_step(tightened.trace, 0)->at, ==, "config.toml:2");
        why = decision_why(&tightened);
        g_assert_cmpstr(why, ==, "Refused: it needs approval, and the posture is Never (posture:never).");
        call_done(&call);
}

/* The administrator's limit and the project's wish: the tighter one, and neither loosens. */
static void test_limits(void) {
        for (Posture posture = 0; posture < _POSTURE_MAX; posture++)
                for (Posture admin = 0; admin < _POSTURE_MAX; admin++)
                        for (Posture project = 0; project < _POSTURE_MAX; project++) {
                                g_auto(Decision) decision = {};
                                Call call;

                                call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                                call.input.posture = posture;
                                call.input.admin_posture = (PostureLimit){ .set = true, .posture = admin };
                                call.input.project_posture = (PostureLimit){ .set = true, .posture = project };
                                decision_make(&call.input, &decision);
                                g_assert_cmpint(decision.posture, ==,
                                                posture_tighten(posture_tighten(posture, admin), project));
                                call_done(&call);
                        }
}

/* A project that wishes Ask in an Auto-Review session tightens it, and opens no cards that there were none of. */
static void test_ask_over_auto_review(void) {
        for (unsigned granted = 0; granted < 2; granted++) {
                g_auto(Decision) decision = {};
                Call call;

                call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                if (granted)
                        call_grant(&call);
                call.input.posture = POSTURE_AUTO_REVIEW;
                call.input.project_posture = (PostureLimit){ .set = true, .posture = POSTURE_ASK };
                decision_make(&call.input, &decision);
                g_assert_cmpint(decision.verdict, ==, VERDICT_DENY);
                g_assert_cmpint(decision.posture, ==, POSTURE_ASK);
                call_done(&call);
        }
}

/* Ask over Full Access adds cards to what ran without; what Full Access holds stays held. */
static void test_ask_over_full_access(void) {
        static const struct {
                const char *hook;
                bool law;
                Verdict expected;
        } cases[] = {
                { NULL, false, VERDICT_ASK }, { "{\"kind\":\"ask\"}", false, VERDICT_ASK }, { NULL, true, VERDICT_DENY },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(HookFold) fold = cases[i].hook ? fold_of(cases[i].hook) : NULL;
                g_autoptr(RepositoryLaw) law = repository_law_new();
                g_auto(Decision) decision = {};
                Call call;

                if (cases[i].law)
                        repository_law_set_unreadable(law, "broken");
                call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                call.input.posture = POSTURE_FULL_ACCESS;
                call.input.project_posture = (PostureLimit){ .set = true, .posture = POSTURE_ASK };
                call.input.hooks = fold;
                call.input.law = law;
                decision_make(&call.input, &decision);
                g_assert_cmpint(decision.verdict, ==, cases[i].expected);
                call_done(&call);
        }
}

/* Rules, or a configuration, that nobody can read: nothing runs, whatever else is said, and before any hook is asked. */
static void check_unreadable(bool settings) {
        for (Posture posture = 0; posture < _POSTURE_MAX; posture++) {
                g_auto(Decision) admitted = {}, made = {};
                Call call;

                call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                call_grant(&call);
                call.input.posture = posture;
                if (settings)
                        call.input.unreadable_settings = "config.toml:3: broken";
                else
                        call.input.unreadable_rules = "permissions.toml:3: broken";
                decision_admit(&call.input, &admitted);
                decision_make(&call.input, &made);
                g_assert_cmpint(admitted.outcome, ==, OUTCOME_REFUSED_BY_POLICY);
                g_assert_cmpint(made.outcome, ==, OUTCOME_REFUSED_BY_POLICY);
                g_assert_cmpint(trace_last(made.trace)->layer, ==, LAYER_CONFIGURATION);
                g_assert_cmpstr(trace_last(made.trace)->source, ==, settings ? "configuration" : "permissions");
                call_done(&call);
        }
}

static void test_unreadable(void) {
        check_unreadable(false);
        check_unreadable(true);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/decision/E01-hook-answers", test_hook_answers);
        g_test_add_func("/decision/HK-05-hook-ask-beats-grant", test_hook_ask_beats_grant);
        g_test_add_func("/decision/HK-03-B4-hook-revision", test_hook_revision);
        g_test_add_func("/decision/HK-14-read-into-write", test_read_into_write);
        g_test_add_func("/decision/E06-admission", test_admission);
        g_test_add_func("/decision/E06-admission-alias", test_admission_alias);
        g_test_add_func("/decision/E06-plan-mode", test_plan_mode);
        g_test_add_func("/decision/narrowing", test_narrowing);
        g_test_add_func("/decision/limits", test_limits);
        g_test_add_func("/decision/ask-over-auto-review", test_ask_over_auto_review);
        g_test_add_func("/decision/ask-over-full-access", test_ask_over_full_access);
        g_test_add_func("/decision/unreadable", test_unreadable);
        return g_test_run();
}
