/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "policy/admission.h"
#include "policy/core-call.h"
#include "policy/decision.h"
#include "policy/tool-name.h"
#include "test-json.h"

static const BuildScope build = { .plugin = "counter", .content_hash = "aaaa" };
static const BuildScope caller = { .plugin = "caller", .content_hash = "cccc" };

/* One call with everything it needs. */
typedef struct Call {
        DecisionInput input;
        Jdoc *arguments;
        ApprovalKeys keys;
        GrantTable *grants;
} Call;

static void call_init(Call *call, ToolKind kind, const char *tool, bool nested, const char *json) {
        g_autofree char *policy_name = NULL;
        ApprovalSubject subject = { .tool = tool };

        call->arguments = parse_json(json);
        call->grants = grant_table_new();
        call->keys = (ApprovalKeys){};
        call->input = (DecisionInput){
                .session = "s",
                .workspace = "/w",
                .kind = kind,
                .tool = tool,
                .plugin = kind == TOOL_EXTENSION ? build.plugin : NULL,
                .build = kind == TOOL_EXTENSION ? build.content_hash : NULL,
                .caller_plugin = nested ? caller.plugin : NULL,
                .arguments = jdoc_root(call->arguments),
                .grants = call->grants,
                .keys = &call->keys,
                .now_usec = 1,
        };
        if (kind == TOOL_EXTENSION)
                subject.build = &build;
        else
                subject.tool = policy_name = tool_alias_resolve(tool, call->input.arguments);
        if (nested)
                subject.called_from = &caller;
        g_assert_cmpint(approval_keys_make(&subject, call->input.arguments, &call->keys), ==, 0);
}

static void call_done(Call *call) {
        (void) jdoc_free(call->arguments);
        (void) grant_table_free(call->grants);
        approval_keys_done(&call->keys);
}

static void call_grant(Call *call) {
        const ApprovalSubject subject = { .tool = call->input.tool };
        const GrantRequest request = {
                .session = "s", .subject = &subject, .keys = &call->keys, .giver = "somebody"
        };
        uint64_t id;

        g_assert_cmpint(grant_table_give(call->grants, &request, &id), ==, 0);
}

static void call_deny(Call *call) {
        g_assert_cmpint(grant_table_deny(call->grants, "s", &call->keys), ==, 0);
}

/* ---- the two matrices of contract 5.6, cell by cell ---- */

typedef enum Row {
        ROW_ASK,
        ROW_AUTO_REVIEW,
        ROW_FULL_ACCESS,
        ROW_NEVER,
        ROW_HEADLESS_ASK,
        ROW_HEADLESS_FULL_ACCESS,
        _ROW_MAX,
} Row;

static const struct {
        const char *name;
        Posture posture;
        bool headless;
} rows[_ROW_MAX] = {
        [ROW_ASK] = { "ask", POSTURE_ASK, false },
        [ROW_AUTO_REVIEW] = { "auto-review", POSTURE_AUTO_REVIEW, false },
        [ROW_FULL_ACCESS] = { "full-access", POSTURE_FULL_ACCESS, false },
        [ROW_NEVER] = { "never", POSTURE_NEVER, false },
        [ROW_HEADLESS_ASK] = { "headless-ask", POSTURE_ASK, true },
        [ROW_HEADLESS_FULL_ACCESS] = { "headless-full-access", POSTURE_FULL_ACCESS, true },
};

typedef enum Column { COLUMN_PLAIN, COLUMN_GRANT, COLUMN_DENIAL, _COLUMN_MAX } Column;
static const char *const column_names[_COLUMN_MAX] = { "no-grant", "grant", "denial" };

typedef struct Cell {
        Verdict verdict;
        CallOutcome outcome; /* of a deny */
        bool forced;
} Cell;

#define RUN                                                                                                 \
        { VERDICT_ALLOW, OUTCOME_ALLOWED, false }
#define CARD                                                                                                \
        { VERDICT_ASK, _OUTCOME_INVALID, false }
#define FORCED_CARD                                                                                         \
        { VERDICT_ASK, _OUTCOME_INVALID, true }
#define HELD                                                                                                \
        { VERDICT_DENY, OUTCOME_REFUSED_BY_POLICY, false }
#define NOBODY                                                                                              \
        { VERDICT_DENY, OUTCOME_NO_APPROVER, false }
#define SAID_NO                                                                                             \
        { VERDICT_DENY, OUTCOME_DENIED, false }

static void check_cell(Call *call, Row row, Column column, const Cell *expected) {
        g_auto(Decision) decision = {};

        call->input.posture = rows[row].posture;
        call->input.headless = rows[row].headless;
        if (column == COLUMN_GRANT)
                call_grant(call);
        if (column == COLUMN_DENIAL)
                call_deny(call);
        decision_make(&call->input, &decision);

        g_test_message("%s, %s, %s: %s", call->input.tool, rows[row].name, column_names[column],
                        verdict_to_string(decision.verdict));
        g_assert_cmpint(decision.verdict, ==, expected->verdict);
        g_assert_cmpint(decision.outcome, ==, expected->outcome);
        if (expected->verdict == VERDICT_ASK) {
                g_assert_true(decision.forced == expected->forced);
                g_assert_true((decision.offers == 0) == expected->forced);
        } else
                g_assert_cmpuint(decision.offers, ==, 0);
        g_assert_cmpuint(trace_length(decision.trace), >, 0);
}

static void test_outer_matrix(void) {
        static const Cell cells[_ROW_MAX][_COLUMN_MAX] = {
                [ROW_ASK] = { CARD, RUN, SAID_NO },
                [ROW_AUTO_REVIEW] = { HELD, HELD, SAID_NO },
                [ROW_FULL_ACCESS] = { RUN, RUN, SAID_NO },
                [ROW_NEVER] = { HELD, HELD, SAID_NO },
                [ROW_HEADLESS_ASK] = { NOBODY, RUN, SAID_NO },
                [ROW_HEADLESS_FULL_ACCESS] = { RUN, RUN, SAID_NO },
        };

        for (Row row = 0; row < _ROW_MAX; row++)
                for (Column column = 0; column < _COLUMN_MAX; column++) {
                        Call call;

                        call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                        check_cell(&call, row, column, &cells[row][column]);
                        call_done(&call);
                }
}

/* Plan mode, any posture, any column: blocked by the mode. */
static void test_outer_plan(void) {
        for (Row row = 0; row < _ROW_MAX; row++)
                for (Column column = 0; column < _COLUMN_MAX; column++) {
                        static const Cell blocked = HELD;
                        Call call;

                        call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                        call.input.mode = MODE_PLAN;
                        check_cell(&call, row, column, &blocked);
                        call_done(&call);
                }
}

typedef struct NestedKind {
        const char *name;
        const char *tools[8];
        Cell cells[_ROW_MAX][_COLUMN_MAX];
} NestedKind;

static const NestedKind nested_kinds[] = {
        { "auto-eligible",
                        { "read", "read_file", "list_dir", "file_search", "grep_files", "File",
                                        "READ_FILE" },
                        { [ROW_ASK] = { RUN, RUN, SAID_NO },
                                        [ROW_AUTO_REVIEW] = { RUN, RUN, SAID_NO },
                                        [ROW_FULL_ACCESS] = { RUN, RUN, SAID_NO },
                                        [ROW_NEVER] = { RUN, RUN, SAID_NO },
                                        [ROW_HEADLESS_ASK] = { RUN, RUN, SAID_NO },
                                        [ROW_HEADLESS_FULL_ACCESS] = { RUN, RUN, SAID_NO } } },
        { "ordinary", { "write_file", "edit_file", "apply_patch", "todo_write", "notify", "write", "edit" },
                        { [ROW_ASK] = { CARD, RUN, SAID_NO },
                                        [ROW_AUTO_REVIEW] = { HELD, HELD, SAID_NO },
                                        [ROW_FULL_ACCESS] = { RUN, RUN, SAID_NO },
                                        [ROW_NEVER] = { HELD, HELD, SAID_NO },
                                        [ROW_HEADLESS_ASK] = { NOBODY, RUN, SAID_NO },
                                        [ROW_HEADLESS_FULL_ACCESS] = { RUN, RUN, SAID_NO } } },
        { "forced", { "bash", "exec_shell", "shell", "fetch_url", "web_fetch", "web_search", "Run" },
                        { [ROW_ASK] = { FORCED_CARD, FORCED_CARD, SAID_NO },
                                        [ROW_AUTO_REVIEW] = { HELD, HELD, SAID_NO },
                                        [ROW_FULL_ACCESS] = { FORCED_CARD, FORCED_CARD, SAID_NO },
                                        [ROW_NEVER] = { HELD, HELD, SAID_NO },
                                        [ROW_HEADLESS_ASK] = { NOBODY, NOBODY, SAID_NO },
                                        [ROW_HEADLESS_FULL_ACCESS] = { NOBODY, NOBODY, SAID_NO } } },
};

static void test_nested_matrix(const void *data) {
        const NestedKind *kind = data;

        for (size_t i = 0; i < G_N_ELEMENTS(kind->tools) && kind->tools[i]; i++)
                for (Row row = 0; row < _ROW_MAX; row++)
                        for (Column column = 0; column < _COLUMN_MAX; column++) {
                                Call call;

                                call_init(&call, TOOL_CORE, kind->tools[i], true, "{\"command\":\"make\"}");
                                check_cell(&call, row, column, &kind->cells[row][column]);
                                call_done(&call);
                        }
}

static void test_nested_refused_column(void) {
        for (Row row = 0; row < _ROW_MAX; row++)
                for (Column column = 0; column < _COLUMN_MAX; column++) {
                        static const Cell refused = HELD;
                        Call call;

                        call_init(&call, TOOL_CORE, "request_user_input", true, "{}");
                        check_cell(&call, row, column, &refused);
                        call_done(&call);
                }
}

/* ---- refused and forced lists ---- */

/* X03, AP-22: the whole list in several letter cases, through aliases too. */
static void test_refused_list(void) {
        static const struct {
                const char *name;
                const char *input;
                bool refused;
        } cases[] = {
                { "execute_tools", "{}", true },
                { "code_execution", "{}", true },
                { "js_execution", "{}", true },
                { "multi_tool_use.parallel", "{}", true },
                { "agent", "{}", true },
                { "workflow", "{}", true },
                { "rlm", "{}", true },
                { "rlm", "{\"action\":\"eval\"}", true },
                { "rlm_eval", "{}", true },
                { "request_user_input", "{}", true },
                { "bash", "{\"interactive\":true}", true },
                { "exec_shell", "{\"interactive\":true}", true },
                { "shell", "{\"interactive\":true}", true },
                { "exec_shell_interact", "{\"interactive\":true}", true },
                { "bash", "{\"interactive\":\"yes\"}", true },
                { "bash", "{\"interactive\":false}", false },
                { "bash", "{\"interactive\":null}", false },
                { "bash", "{}", false },
                { "read_file", "{\"interactive\":true}", false },
                { "read_file", "{\"sandbox_permissions\":\"all\"}", true },
                { "write_file", "{\"sandbox_permissions\":null}", true },
                { "mcp_x", "{}", true },
                { "mcp_server_tool", "{}", true },
                { "list_mcp_resources", "{}", true },
                { "list_mcp_resource_templates", "{}", true },
                { "read_mcp_resource", "{}", true },
                { "github_authenticate", "{}", true },
                { "tool_search", "{}", true },
                { "tool_search_tool_regex", "{}", true },
                { "tool_search_tool_bm25", "{}", true },
                { "retrieve_tool_result", "{}", true },
                { "remember", "{}", true },
                { "request_plugin_install", "{}", true },
                { "create_goal", "{}", true },
                { "update_goal", "{}", true },
                { "automation", "{}", true },
                { "automation", "{\"action\":\"list\"}", true },
                { "automation_anything", "{}", true },
                { "send_later", "{}", true },
                { "start_mcp_server", "{}", true },
                { "start_registry_mcp_server", "{}", true },
                { "ext_tool", "{}", true },
                { "computer_use", "{}", true },
                { "read_file", "{}", false },
                { "write_file", "{}", false },
                { "todo_write", "{}", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = parse_json(cases[i].input);
                g_autofree char *lower = g_ascii_strdown(cases[i].name, -1),
                                *upper = g_ascii_strup(cases[i].name, -1);
                g_autofree char *title = g_strdup(lower);

                title[0] = g_ascii_toupper(title[0]);
                g_test_message("%s %s", cases[i].name, cases[i].input);
                g_assert_true(core_call_refused(lower, jdoc_root(doc), false, NULL) == cases[i].refused);
                g_assert_true(core_call_refused(upper, jdoc_root(doc), false, NULL) == cases[i].refused);
                g_assert_true(core_call_refused(title, jdoc_root(doc), false, NULL) == cases[i].refused);
                /* Any extension's tool, by registration, whatever it is called. */
                g_assert_true(core_call_refused(lower, jdoc_root(doc), true, NULL));
        }
}

/* X16, AP-22: a revision into a refused target is refused, and so is one out of it. */
static void test_rewritten_target(void) {
        Call call;
        g_autoptr(Jdoc) evil = parse_json("{\"action\":\"run\",\"interactive\":true}");

        call_init(&call, TOOL_CORE, "bash", true, "{\"command\":\"ls\"}");
        for (unsigned turn = 0; turn < 2; turn++) {
                g_auto(Decision) decision = {};

                call.input.original = turn == 0 ? jdoc_root(call.arguments) : jdoc_root(evil);
                call.input.arguments = turn == 0 ? jdoc_root(evil) : jdoc_root(call.arguments);
                decision_make(&call.input, &decision);
                g_assert_cmpint(decision.outcome, ==, OUTCOME_REFUSED_BY_POLICY);
                g_assert_cmpstr(trace_last(decision.trace)->source, ==, "refused-list");
        }
        call_done(&call);
}

/* X12: the forced list in several spellings, by family action, with and without a registry's word. */
static void test_forced_list(void) {
        static const struct {
                const char *name;
                const char *input;
                ToolCapabilities capabilities;
                CoreCallClass expected;
        } cases[] = {
                { "bash", "{}", 0, CORE_CALL_FORCED },
                { "exec_shell", "{}", 0, CORE_CALL_FORCED },
                { "exec_shell_cancel", "{}", 0, CORE_CALL_FORCED },
                { "task_shell_start", "{}", 0, CORE_CALL_FORCED },
                { "shell", "{}", 0, CORE_CALL_FORCED },
                { "web_run", "{}", 0, CORE_CALL_FORCED },
                { "web.run", "{}", 0, CORE_CALL_FORCED },
                { "web_search", "{}", 0, CORE_CALL_FORCED },
                { "fetch_url", "{}", 0, CORE_CALL_FORCED },
                { "web_fetch", "{}", 0, CORE_CALL_FORCED },
                { "git_fetch", "{}", 0, CORE_CALL_FORCED },
                { "finance", "{}", 0, CORE_CALL_FORCED },
                { "run_tests", "{}", 0, CORE_CALL_FORCED },
                { "run_verifiers", "{}", 0, CORE_CALL_FORCED },
                { "verify", "{}", 0, CORE_CALL_FORCED },
                { "harness", "{}", 0, CORE_CALL_FORCED },
                { "git", "{\"action\":\"fetch\"}", 0, CORE_CALL_FORCED },
                { "git", "{\"action\":\"FETCH\"}", 0, CORE_CALL_FORCED },
                { "git", "{\"action\":\"status\"}", 0, CORE_CALL_ORDINARY },
                { "run", "{\"action\":\"tests\"}", 0, CORE_CALL_FORCED },
                { "run", "{\"action\":\"Verifiers\"}", 0, CORE_CALL_FORCED },
                { "run", "{}", 0, CORE_CALL_FORCED },
                { "web", "{\"action\":\"search\"}", 0, CORE_CALL_FORCED },
                { "web", "{\"action\":\"fetch\"}", 0, CORE_CALL_FORCED },
                { "tasks", "{\"action\":\"gate_run\"}", 0, CORE_CALL_FORCED },
                { "tasks", "{\"action\":\"list\"}", 0, CORE_CALL_ORDINARY },
                { "github", "{\"action\":\"issue_context\"}", 0, CORE_CALL_FORCED },
                { "github", "{\"action\":\"comment\"}", 0, CORE_CALL_ORDINARY },
                { "file", "{\"action\":\"read\"}", 0, CORE_CALL_AUTO_ELIGIBLE },
                { "file", "{\"action\":\"search_content\"}", 0, CORE_CALL_AUTO_ELIGIBLE },
                { "file", "{\"action\":\"write\"}", 0, CORE_CALL_ORDINARY },
                { "file", "{\"action\":\"unheard_of\"}", 0, CORE_CALL_ORDINARY },
                { "read_file", "{}", 0, CORE_CALL_AUTO_ELIGIBLE },
                { "read_file", "{}", TOOL_NETWORK, CORE_CALL_FORCED },
                { "read_file", "{}", TOOL_PROCESS, CORE_CALL_FORCED },
                { "read_file", "{}", TOOL_EXECUTES, CORE_CALL_FORCED },
                { "read_file", "{}", TOOL_WRITES, CORE_CALL_ORDINARY },
                { "notify", "{}", 0, CORE_CALL_ORDINARY },
                { "notify", "{}", TOOL_NETWORK, CORE_CALL_FORCED },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = parse_json(cases[i].input);
                g_autofree char *upper = g_ascii_strup(cases[i].name, -1), *title = g_strdup(cases[i].name);

                title[0] = g_ascii_toupper(title[0]);
                g_test_message("%s %s %d", cases[i].name, cases[i].input, cases[i].capabilities);
                g_assert_cmpint(core_call_classify(cases[i].name, jdoc_root(doc), cases[i].capabilities), ==,
                                cases[i].expected);
                g_assert_cmpint(core_call_classify(upper, jdoc_root(doc), cases[i].capabilities), ==,
                                cases[i].expected);
                g_assert_cmpint(core_call_classify(title, jdoc_root(doc), cases[i].capabilities), ==,
                                cases[i].expected);
        }
}

/* X13: an auto-eligible name that is not registered as an Auto tool is an ordinary one. */
static void test_auto_names(void) {
        for (const char *const *name = core_call_auto_names(); *name; name++) {
                Call call;
                g_auto(Decision) plain = {}, required = {};

                g_assert_cmpint(tool_category(*name), ==, CATEGORY_SAFE);
                call_init(&call, TOOL_CORE, *name, true, "{}");
                decision_make(&call.input, &plain);
                g_assert_cmpint(plain.verdict, ==, VERDICT_ALLOW);
                call.input.requirement = REQUIREMENT_REQUIRED;
                decision_make(&call.input, &required);
                g_assert_cmpint(required.verdict, ==, VERDICT_ASK);
                call_done(&call);
        }
}

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
                        g_assert_cmpint(admission_allow(admission, cases[i].allow), ==, 0);
                if (cases[i].deny)
                        g_assert_cmpint(admission_deny(admission, cases[i].deny), ==, 0);
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

        g_assert_cmpint(admission_deny(admission, "exec_shell"), ==, 0);
        call_init(&call, TOOL_CORE, "Bash", false, "{\"command\":\"ls\"}");
        call.input.admission = admission;
        decision_admit(&call.input, &decision);
        g_assert_cmpint(decision.verdict, ==, VERDICT_DENY);
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

/* C9, AP-24: what a tool says about itself changes no cell of the matrix. */
static void test_claims(void) {
        for (Row row = 0; row < _ROW_MAX; row++)
                for (Column column = 0; column < _COLUMN_MAX; column++)
                        for (unsigned nested = 0; nested < 2; nested++) {
                                g_auto(Decision) plain = {}, claimed = {};
                                Call call;

                                if (nested)
                                        call_init(&call, TOOL_CORE, "write_file", true, "{}");
                                else
                                        call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                                call.input.posture = rows[row].posture;
                                call.input.headless = rows[row].headless;
                                if (column == COLUMN_GRANT)
                                        call_grant(&call);
                                if (column == COLUMN_DENIAL)
                                        call_deny(&call);
                                decision_make(&call.input, &plain);
                                call.input.claims_read_only = true;
                                if (!nested) {
                                        call.input.requirement = REQUIREMENT_AUTO;
                                        call.input.capabilities = 0;
                                }
                                decision_make(&call.input, &claimed);
                                g_assert_cmpint(plain.verdict, ==, claimed.verdict);
                                g_assert_cmpint(plain.outcome, ==, claimed.outcome);
                                g_assert_cmpuint(plain.offers, ==, claimed.offers);
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
        call.input.has_overlay = true;
        call.input.project_posture = POSTURE_NEVER;
        decision_make(&call.input, &tightened);
        g_assert_cmpint(tightened.verdict, ==, VERDICT_DENY);
        why = decision_why(&tightened);
        g_assert_cmpstr(why, ==, "Refused: it needs approval, and the posture is Never (posture:never).");
        call_done(&call);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/decision/5.6.1-outer-all-cells", test_outer_matrix);
        g_test_add_func("/decision/5.6.1-outer-plan", test_outer_plan);
        for (size_t i = 0; i < G_N_ELEMENTS(nested_kinds); i++) {
                g_autofree char *path =
                                g_strdup_printf("/decision/X11-nested-%s-all-cells", nested_kinds[i].name);

                g_test_add_data_func(path, &nested_kinds[i], test_nested_matrix);
        }
        g_test_add_func("/decision/X11-nested-refused-all-cells", test_nested_refused_column);
        g_test_add_func("/decision/X03-AP-22-refused-list", test_refused_list);
        g_test_add_func("/decision/X16-AP-22-rewritten-target", test_rewritten_target);
        g_test_add_func("/decision/X12-forced-list", test_forced_list);
        g_test_add_func("/decision/X13-auto-names", test_auto_names);
        g_test_add_func("/decision/E01-hook-answers", test_hook_answers);
        g_test_add_func("/decision/HK-05-hook-ask-beats-grant", test_hook_ask_beats_grant);
        g_test_add_func("/decision/HK-03-B4-hook-revision", test_hook_revision);
        g_test_add_func("/decision/HK-14-read-into-write", test_read_into_write);
        g_test_add_func("/decision/E06-admission", test_admission);
        g_test_add_func("/decision/E06-admission-alias", test_admission_alias);
        g_test_add_func("/decision/E06-plan-mode", test_plan_mode);
        g_test_add_func("/decision/C9-AP-24-claims", test_claims);
        g_test_add_func("/decision/narrowing", test_narrowing);
        return g_test_run();
}
