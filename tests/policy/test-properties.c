/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "../harness/checked.h"
#include "policy/admission.h"
#include "policy/auto-review.h"
#include "policy/decision.h"
#include "policy/repository-law.h"
#include "policy/rules.h"
#include "policy/tool-name.h"
#include "test-json.h"

/* What must hold for every call, tried on many that a seeded generator makes up. */

#define ROUNDS (test_is_checked() ? 400u : 4000u)

static const char *const tools[] = {
        "mod_counter",
        "read",
        "write",
        "bash",
        "web_fetch",
        "File",
        "Git",
        "todo_write",
        "run_tests",
        "notify",
};
static const char *const argument_members[] = {
        "\"path\":\"src/a\"",
        "\"path\":\"deploy/a\"",
        "\"path\":\"/etc/passwd\"",
        "\"action\":\"write\"",
        "\"action\":\"read\"",
        "\"x\":{\"b\":1,\"a\":2}",
        "\"command\":\"ls\"",
        "\"command\":\"git push\"",
        "\"command\":\"ls; curl x\"",
        "\"command\":\"rm -rf /\"",
        "\"command\":\"$X\"",
        "\"url\":\"http://a/\"",
};
static const char *const base_rules[] = {
        "{}",
        "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"*\"}]}",
        "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"*\",\"caller\":\"*\"}]}",
        "{\"rule\":[{\"outcome\":\"allow\",\"tool\":\"*\",\"plugin\":\"*\",\"build\":\"aaaa\"}]}",
        "{\"commands\":{\"trust\":[\"ls\",\"git push\"],\"deny\":[\"curl\"]}}",
        "{\"rule\":[{\"outcome\":\"ask\",\"path\":\"deploy\"},{\"outcome\":\"allow\",\"path\":\"src/**\"}]}",
};
static const char *const tight_rules[] = {
        "{\"rule\":[{\"outcome\":\"deny\",\"tool\":\"*\"}]}",
        "{\"rule\":[{\"outcome\":\"ask\",\"tool\":\"*\"}]}",
        "{\"rule\":[{\"outcome\":\"ask\",\"path\":\"src/**\"}]}",
        "{\"rule\":[{\"outcome\":\"deny\",\"command\":\"ls\"}]}",
        "{\"commands\":{\"deny\":[\"ls\",\"git\"]}}",
        "{\"rule\":[{\"outcome\":\"deny\",\"tool\":\"exec_*\"},{\"outcome\":\"ask\",\"plugin\":\"c*\"}]}",
};
static const char *const hook_answers[] = {
        "{\"kind\":\"ask\"}",
        "{\"kind\":\"deny\",\"reason\":\"r\"}",
        "{}",
        "{\"kind\":\"abstain\"}",
};
static const char *const laws[] = {
        "{\"protect\":[{\"path\":\"src\",\"outcome\":\"ask\"}]}",
        "{\"protect\":[{\"path\":\"**\",\"outcome\":\"block\"}]}",
        "{\"tools\":[{\"tool\":\"*\",\"outcome\":\"ask\"}]}",
        "{\"tools\":[{\"tool\":\"exec_*\"}]}",
};

/* A call and all that belongs to it. */
typedef struct World {
        DecisionInput input;
        Jdoc *arguments;
        ApprovalKeys keys;
        GrantTable *grants;
        RuleSet *rules;
        RepositoryLaw *law;
        AutoReview *review;
        Admission *admission, *project;
        bool listed; /* something is on the list of allowed tools */
        HookFold *hooks;
} World;

#define PICK(random, list) ((list)[g_rand_int_range((random), 0, G_N_ELEMENTS(list))])

static void world_load_rules(World *world, RuleSource source, const char *json) {
        g_autoptr(Jdoc) doc = parse_json(json);
        g_auto(PolicyDocument) document = {};
        Jval root = jdoc_root(doc);

        g_assert_cmpint(rule_set_load(world->rules, source, jval_member(root, "rule"), jval_member(root, "commands"),
                                        &document),
                        ==, 0);
}

/* Some members in some order. */
static char *make_arguments(GRand *random) {
        g_autoptr(GString) json = g_string_new("{");
        g_autoptr(GHashTable) used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (int i = g_rand_int_range(random, 0, 4); i > 0; i--) {
                const char *member = PICK(random, argument_members);
                char *name = g_strndup(member, strcspn(member, ":"));

                if (!g_hash_table_add(used, name))
                        continue;
                g_string_append_printf(json, "%s%s", json->len > 1 ? "," : "", member);
        }
        g_string_append_c(json, '}');
        return g_string_free(g_steal_pointer(&json), FALSE);
}

static void world_grant(World *world, const ApprovalSubject *subject) {
        const GrantRequest request = { .session = "s", .subject = subject, .keys = &world->keys };
        uint64_t id;

        g_assert_cmpint(grant_table_give(world->grants, &request, &id), ==, 0);
}

static void world_init(World *world, GRand *random) {
        static const BuildScope build = { .plugin = "counter", .content_hash = "aaaa" };
        static const BuildScope caller = { .plugin = "caller", .content_hash = "bbbb" };
        g_autofree char *json = make_arguments(random), *policy_name = NULL;
        bool nested = g_rand_boolean(random);
        const char *tool = PICK(random, tools);
        ToolKind kind = strcmp(tool, "mod_counter") == 0 ? TOOL_EXTENSION : TOOL_CORE;
        ApprovalSubject subject = { .build = kind == TOOL_EXTENSION ? &build : NULL,
                .called_from = nested ? &caller : NULL };

        *world = (World){
                .arguments = parse_json(json),
                .grants = grant_table_new(),
                .rules = rule_set_new(),
                .law = repository_law_new(),
                .review = auto_review_new(),
                .admission = admission_new(),
                .project = admission_new(),
                .hooks = hook_fold_new(),
        };
        policy_name = kind == TOOL_EXTENSION ? g_strdup(tool)
                                             : tool_alias_resolve(tool, jdoc_root(world->arguments));
        subject.tool = policy_name;
        g_assert_cmpint(approval_keys_make(&subject, jdoc_root(world->arguments), &world->keys), ==, 0);
        if (g_rand_boolean(random))
                world_grant(world, &subject);
        world_load_rules(world, g_rand_boolean(random) ? RULE_USER : RULE_ADMIN, PICK(random, base_rules));

        world->input = (DecisionInput){
                .session = "s",
                .workspace = "/w",
                .kind = kind,
                .tool = tool,
                .plugin = kind == TOOL_EXTENSION ? "counter" : NULL,
                .build = kind == TOOL_EXTENSION ? "aaaa" : NULL,
                .caller_plugin = nested ? "caller" : NULL,
                .posture = g_rand_int_range(random, 0, _POSTURE_MAX),
                .requirement = g_rand_int_range(random, 0, _REQUIREMENT_MAX),
                .mode = g_rand_int_range(random, 0, 8) == 0 ? MODE_PLAN : MODE_AGENT,
                .headless = g_rand_int_range(random, 0, 4) == 0,
                .arguments = jdoc_root(world->arguments),
                .grants = world->grants,
                .keys = &world->keys,
                .rules = world->rules,
                .law = world->law,
                .review = world->review,
                .admission = world->admission,
                .project_admission = world->project,
                .hooks = world->hooks,
                .now_usec = 1,
        };
}

static void world_done(World *world) {
        (void) jdoc_free(world->arguments);
        (void) grant_table_free(world->grants);
        (void) rule_set_free(world->rules);
        (void) repository_law_free(world->law);
        (void) auto_review_free(world->review);
        (void) admission_free(world->admission);
        (void) admission_free(world->project);
        (void) hook_fold_free(world->hooks);
        approval_keys_done(&world->keys);
}

static const HookSource guard = { .label = "guard", .plugin = "guard", .strict = true };

static void world_hook(World *world, const char *json) {
        (void) hook_fold_add_text(world->hooks, &guard, json, strlen(json));
}

/* A limit that is there is not moved: that would be another one and not one more. */
static void world_limit(PostureLimit *limit, GRand *random) {
        if (!limit->set)
                *limit = (PostureLimit){ .set = true, .posture = g_rand_int_range(random, 0, _POSTURE_MAX) };
}

/* One thing that can only make it stricter. Returns what it was. */
static const char *world_tighten(World *world, GRand *random) {
        g_auto(PolicyDocument) document = {};
        g_autoptr(Jdoc) law = NULL;

        switch (g_rand_int_range(random, 0, 14)) {
        case 0:
                world_load_rules(world, g_rand_boolean(random) ? RULE_USER : RULE_ADMIN,
                                PICK(random, tight_rules));
                return "rule";
        case 1:
                world_hook(world, PICK(random, hook_answers));
                return "hook";
        case 2:
                law = parse_json(PICK(random, laws));
                g_assert_cmpint(repository_law_load(world->law, jdoc_root(law), &document), ==, 0);
                return "law";
        case 3:
                g_assert_cmpint(auto_review_block(world->review,
                                                g_rand_boolean(random) ? "exec_*" : "command:ls", NULL),
                                ==, 0);
                return "review";
        case 4:
                g_assert_cmpint(admission_deny(world->admission, PICK(random, tools), NULL), ==, 0);
                return "admission deny";
        case 5:
                /* A further name would widen it again. */
                if (!world->listed)
                        g_assert_cmpint(admission_allow(world->admission, PICK(random, tools), NULL), ==, 0);
                world->listed = true;
                return "admission allow list";
        case 6:
                g_assert_cmpint(grant_table_deny(world->grants, "s", &world->keys), ==, 0);
                return "session denial";
        case 7:
                world->input.headless = world->input.background = true;
                return "headless";
        case 8:
                world->input.never_bypassable = true;
                return "never bypassable";
        case 9:
                world_limit(&world->input.project_posture, random);
                return "project posture";
        case 10:
                world_limit(&world->input.admin_posture, random);
                return "administrator's posture";
        case 11:
                g_assert_cmpint(admission_deny(world->project, PICK(random, tools), NULL), ==, 0);
                return "project denial";
        case 12:
                repository_law_set_unreadable(world->law, "broken");
                return "unreadable law";
        default:
                if (g_rand_int_range(random, 0, 8) == 0)
                        *(g_rand_boolean(random) ? &world->input.unreadable_rules : &world->input.unreadable_settings) = "broken";
                return "unreadable rules";
        }
}

static Verdict decide(const World *world, CallOutcome *ret_outcome, char **ret_trace) {
        g_auto(Decision) decision = {};

        decision_make(&world->input, &decision);
        if (ret_outcome)
                *ret_outcome = decision.outcome;
        if (ret_trace)
                *ret_trace = trace_to_json(decision.trace);
        return decision.verdict;
}

/* Some of these can only be told apart for a card: a grant that may not be offered any more, never one that
 * newly may. */
static void test_tightening(void) {
        GRand *random = g_rand_new_with_seed(1);
        unsigned changed = 0;

        for (unsigned round = 0; round < ROUNDS; round++) {
                g_autofree char *story = NULL;
                World world;
                Verdict before;

                world_init(&world, random);
                before = decide(&world, NULL, &story);
                for (unsigned step = 0; step < 4; step++) {
                        g_autofree char *trace = NULL;
                        const char *what = world_tighten(&world, random);
                        Verdict after = decide(&world, NULL, &trace);

                        if (after < before)
                                g_error("round %u: %s loosened %s under %s: %s became %s", round, what,
                                                world.input.tool, posture_to_string(world.input.posture),
                                                story, trace);
                        changed += after > before;
                        before = after;
                        g_free(story);
                        story = g_steal_pointer(&trace);
                }
                world_done(&world);
        }
        /* The property would hold of a decision that never changes, too. */
        g_assert_cmpuint(changed, >, ROUNDS / 4);
        g_rand_free(random);
}

/* B6, HK-05: an "allow" from a hook changes nothing, not even the trace. */
static void test_hook_allow(void) {
        GRand *random = g_rand_new_with_seed(2);

        for (unsigned round = 0; round < ROUNDS; round++) {
                g_autofree char *before = NULL, *after = NULL;
                CallOutcome outcome_before, outcome_after;
                World world;

                world_init(&world, random);
                if (g_rand_boolean(random))
                        world_hook(&world, PICK(random, hook_answers));
                (void) decide(&world, &outcome_before, &before);
                world_hook(&world, "{\"kind\":\"allow\"}");
                (void) decide(&world, &outcome_after, &after);
                g_assert_cmpstr(before, ==, after);
                g_assert_cmpint(outcome_before, ==, outcome_after);
                world_done(&world);
        }
        g_rand_free(random);
}

/* The order of the arguments' members decides nothing. */
static void test_member_order(void) {
        GRand *random = g_rand_new_with_seed(3);

        for (unsigned round = 0; round < ROUNDS; round++) {
                g_autoptr(GString) turned = g_string_new(NULL);
                g_autoptr(Jdoc) doc = NULL;
                g_autofree char *before = NULL, *after = NULL;
                World world;
                JIter iter;
                Jval key, value;

                world_init(&world, random);
                (void) decide(&world, NULL, &before);
                iter = jval_iterate(world.input.arguments);
                while (jiter_next(&iter, &key, &value)) {
                        size_t size;
                        const char *text = jval_source(value, &size);
                        g_autofree char *member =
                                        g_strdup_printf("\"%s\":%.*s", jval_text(key), (int) size, text);

                        if (turned->len > 0)
                                g_string_prepend_c(turned, ',');
                        g_string_prepend(turned, member);
                }
                g_string_prepend_c(turned, '{');
                g_string_append_c(turned, '}');
                doc = parse_json(turned->str);
                world.input.arguments = jdoc_root(doc);
                (void) decide(&world, NULL, &after);
                g_assert_cmpstr(before, ==, after);
                world_done(&world);
        }
        g_rand_free(random);
}

/* The same facts, the same answer; and a deny always says who and why. */
static void test_pure(void) {
        GRand *random = g_rand_new_with_seed(4);

        for (unsigned round = 0; round < ROUNDS; round++) {
                g_autofree char *first = NULL, *second = NULL;
                g_auto(Decision) decision = {};
                World world;

                world_init(&world, random);
                (void) world_tighten(&world, random);
                (void) decide(&world, NULL, &first);
                (void) decide(&world, NULL, &second);
                g_assert_cmpstr(first, ==, second);

                decision_make(&world.input, &decision);
                if (decision.verdict == VERDICT_DENY) {
                        g_assert_cmpint(trace_last(decision.trace)->verdict, ==, VERDICT_DENY);
                        g_assert_nonnull(call_outcome_error(decision.outcome));
                }
                g_assert_true((decision.verdict == VERDICT_ASK) == (decision.outcome == _OUTCOME_INVALID));
                g_assert_true(decision.offers == 0 || (decision.verdict == VERDICT_ASK && !decision.forced));
                world_done(&world);
        }
        g_rand_free(random);
}

/* Nothing but a person lets an extension's shell or network call run. */
static void test_forced_never_runs_alone(void) {
        static const char *const forced[] = { "bash", "shell", "web_fetch", "run_tests", "Git" };
        GRand *random = g_rand_new_with_seed(5);

        for (unsigned round = 0; round < ROUNDS; round++) {
                World world;

                world_init(&world, random);
                world.input.kind = TOOL_CORE;
                world.input.caller_plugin = "caller";
                world.input.tool = PICK(random, forced);
                world.input.capabilities = TOOL_PROCESS;
                if (g_rand_boolean(random))
                        world_hook(&world, "{\"kind\":\"allow\"}");
                g_assert_cmpint(decide(&world, NULL, NULL), !=, VERDICT_ALLOW);
                world_done(&world);
        }
        g_rand_free(random);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/properties/tightening-never-loosens", test_tightening);
        g_test_add_func("/properties/B6-HK-05-hook-allow-changes-nothing", test_hook_allow);
        g_test_add_func("/properties/member-order-decides-nothing", test_member_order);
        g_test_add_func("/properties/pure-and-explained", test_pure);
        g_test_add_func("/properties/forced-never-runs-alone", test_forced_never_runs_alone);
        return g_test_run();
}
