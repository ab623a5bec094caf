/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "policy/core-call.h"

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

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/core-call/X03-AP-22-refused-list", test_refused_list);
        g_test_add_func("/core-call/X16-AP-22-rewritten-target", test_rewritten_target);
        g_test_add_func("/core-call/X12-forced-list", test_forced_list);
        g_test_add_func("/core-call/X13-auto-names", test_auto_names);
        return g_test_run();
}
