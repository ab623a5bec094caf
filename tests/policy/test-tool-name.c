/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/cleanup.h"
#include "policy/tool-name.h"

static void test_grammar(void) {
        static const struct {
                const char *name;
                int expected;
        } cases[] = {
                { "a", 0 },
                { "Z", 0 },
                { "mod_counter", 0 },
                { "a-b_C9", 0 },
                { "a123456789012345678901234567890123456789012345678901234567890123", 0 },
                { "a1234567890123456789012345678901234567890123456789012345678901234", -EINVAL },
                { "", -EINVAL },
                { "1a", -EINVAL },
                { "_a", -EINVAL },
                { "-a", -EINVAL },
                { "a b", -EINVAL },
                { "a.b", -EINVAL },
                { "a/b", -EINVAL },
                { "\xc3\xa9t", -EINVAL },
                { "a\xc3\xa9", -EINVAL },
                { "a\n", -EINVAL },
                { NULL, -EINVAL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s", cases[i].name ? cases[i].name : "(null)");
                g_assert_cmpint(tool_name_check(cases[i].name), ==, cases[i].expected);
        }
}

static void expect_admit(const char *name, int expected) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        g_test_message("%s", name);
        g_assert_cmpint(tool_name_admit(name, NULL, &error), ==, expected);
        if (expected < 0)
                g_assert_nonnull(strstr(error.message, name));
        else
                g_assert_false(sd_bus_error_is_set(&error));
}

/* Each name as given, in lower, in upper and in mixed case. */
static void expect_all_cases(const char *name, int expected) {
        g_autofree char *lower = g_ascii_strdown(name, -1), *upper = g_ascii_strup(name, -1);
        g_autofree char *mixed = g_strdup(lower);

        for (size_t i = 0, size = strlen(mixed); i < size; i += 2)
                mixed[i] = g_ascii_toupper(mixed[i]);
        expect_admit(name, expected);
        expect_admit(lower, expected);
        expect_admit(upper, expected);
        expect_admit(mixed, expected);
}

static void test_reserved_prefixes(void) {
        static const char *const names[] = { "mcp_x", "ext_x", "mcp_", "ext_" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                expect_all_cases(names[i], -EPERM);
        expect_all_cases("mcpx", 0);
        expect_all_cases("my_ext_x", 0);
}

static void test_probing(void) {
        static const char *const refused[] = {
                "web_fetch",
                "exec_wait",
                "exec_interact",
                "task_shell_start",
                "web_search",
                "run_tests",
                "run_verifiers",
                "fim_edit",
                "Bash",
                "read_",
                "read_anything",
                "list_things",
                "get_x",
                "list_mcp_x",
                "read_mcp_x",
                "get_mcp_x",
                "start_mcp_server",
                "start_registry_mcp_server",
                "read",
                "write",
                "edit",
                "shell",
                "apply_patch",
                "agent",
                "workflow",
                "File",
                "Git",
                "Run",
                "Web",
                "rlm",
                "tasks",
                "automation",
                "github",
                "exec_shell",
                "fetch_url",
                "todo_write",
                "note",
                "diagnostics",
                "project",
                "grep_files",
                "list_dir",
                "tool_search",
                "tool_search_tool_regex",
                "tool_search_tool_bm25",
                "retrieve_tool_result",
                "execute_tools",
                "code_execution",
                "js_execution",
                "request_user_input",
                "pr_attempt_list",
        };
        static const char *const admitted[] = { "load_workspace_dependencies", "slow_wait", "probe_read",
                "mod_counter" };

        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
                expect_all_cases(refused[i], -EPERM);
        for (size_t i = 0; i < G_N_ELEMENTS(admitted); i++)
                expect_all_cases(admitted[i], 0);
        expect_admit("multi_tool_use.parallel", -EINVAL);
}

/* What a family's action means is a name that policy knows: none of them is to be had (5.2, 3). */
static void test_alias_targets(void) {
        static const char *const names[] = {
                "exec_shell_wait", "exec_shell_interact", "exec_shell_cancel", "file_search", "write_file", "edit_file",
                "git_status", "git_diff", "git_log", "git_show", "git_blame", "git_fetch", "wait_for_dev_server",
                "rlm_session_objects", "rlm_open", "rlm_eval", "rlm_configure", "rlm_close",
                "task_create", "task_list", "task_read", "task_cancel", "task_gate_run",
                "pr_attempt_record", "pr_attempt_read", "pr_attempt_preflight",
                "automation_create", "automation_list", "automation_read", "automation_update", "automation_pause",
                "automation_resume", "automation_delete", "automation_run",
                "github_issue_context", "github_pr_context", "github_comment", "github_close_issue", "github_close_pr",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                expect_all_cases(names[i], -EPERM);
}

/* The refusal says which of the four special treatments it was. */
static void test_probe_words(void) {
        static const struct {
                const char *name;
                unsigned expected;
        } cases[] = {
                { "probe_read", 0 },
                { "run_tests", TOOL_SPECIAL_ALIAS | TOOL_SPECIAL_SUMMARY },
                { "fim_edit", TOOL_SPECIAL_SUMMARY },
                { "read_x", TOOL_SPECIAL_CATEGORY },
                { "web_fetch", TOOL_SPECIAL_KEY | TOOL_SPECIAL_ALIAS | TOOL_SPECIAL_SUMMARY |
                                                TOOL_SPECIAL_CATEGORY },
                { "exec_wait", TOOL_SPECIAL_KEY | TOOL_SPECIAL_SUMMARY | TOOL_SPECIAL_CATEGORY },
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s", cases[i].name);
                g_assert_cmpuint(tool_name_probe(cases[i].name), ==, cases[i].expected);
        }
        g_assert_cmpint(tool_name_admit("exec_wait", NULL, &error), ==, -EPERM);
        g_assert_nonnull(strstr(error.message, "approval key, card summary, category"));
}

static void test_natives(void) {
        g_autoptr(NativeNames) natives = native_names_new();
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *name = NULL;

        g_assert_cmpint(tool_name_admit("paint_wall", natives, &error), ==, 0);
        g_assert_cmpint(native_names_add(natives, "Paint_Wall"), ==, 0);
        g_assert_cmpint(native_names_add(natives, "paint_wall"), ==, 0);
        g_assert_cmpint(tool_name_admit("PAINT_wall", natives, &error), ==, -EPERM);
        for (unsigned i = 1; i < 1024; i++) {
                g_free(name);
                name = g_strdup_printf("native%u", i);
                g_assert_cmpint(native_names_add(natives, name), ==, 0);
        }
        g_assert_cmpint(native_names_add(natives, "one_more"), ==, -ENOBUFS);
        g_assert_cmpint(native_names_add(natives, "native5"), ==, 0);
}

static void test_alias(void) {
        static const struct {
                const char *name;
                const char *input;
                const char *expected;
        } cases[] = {
                { "bash", "{\"action\":\"run\"}", "exec_shell" },
                { "Bash", "{}", "exec_shell" },
                { "BASH", "{\"action\":\"WAIT\"}", "exec_shell_wait" },
                { "File", "{\"action\":\"write\"}", "write_file" },
                { "file", "{}", "read_file" },
                { "file", "{\"action\":\"patch\"}", "apply_patch" },
                { "Git", "{\"action\":\"Fetch\"}", "git_fetch" },
                { "git", "{}", "git_status" },
                { "Run", "{\"action\":\"verifiers\"}", "run_verifiers" },
                { "Web", "{\"action\":\"fetch\"}", "fetch_url" },
                { "tasks", "{}", "tasks" },
                { "tasks", "{\"action\":\"gate_run\"}", "task_gate_run" },
                { "tasks", "{\"action\":\"pr_attempt_read\"}", "pr_attempt_read" },
                { "automation", "{\"action\":\"run\"}", "automation_run" },
                { "file", "{\"action\":\"explode\"}", "file" },
                { "file", "{\"action\":5}", "file" },
                { "file", "{\"action\":\"read\\u0000\"}", "file" },
                { "Read", "{}", "read_file" },
                { "write", "{}", "write_file" },
                { "EDIT", "{}", "edit_file" },
                { "shell", "{}", "exec_shell" },
                { "Mod_Counter", "{\"action\":\"run\"}", "mod_counter" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = NULL;
                g_autofree char *resolved = NULL;

                g_test_message("%s %s", cases[i].name, cases[i].input);
                g_assert_cmpint(jdoc_parse(cases[i].input, strlen(cases[i].input), NULL, &doc, NULL), ==, 0);
                resolved = tool_alias_resolve(cases[i].name, jdoc_root(doc));
                g_assert_cmpstr(resolved, ==, cases[i].expected);
        }
}

static void test_category(void) {
        static const struct {
                const char *name;
                ToolCategory expected;
        } cases[] = {
                { "agent", CATEGORY_AGENT },
                { "write_file", CATEGORY_FILE_WRITE },
                { "fetch_url", CATEGORY_NETWORK },
                { "EXEC_SHELL", CATEGORY_SHELL },
                { "list_mcp_x", CATEGORY_MCP_READ },
                { "mcp_a_b", CATEGORY_MCP_ACTION },
                { "start_mcp_server", CATEGORY_MCP_ACTION },
                { "read_file", CATEGORY_SAFE },
                { "get_weather", CATEGORY_SAFE },
                { "mod_counter", CATEGORY_UNKNOWN },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpint(tool_category(cases[i].name), ==, cases[i].expected);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/tool-name/O06-grammar", test_grammar);
        g_test_add_func("/tool-name/O06-reserved-prefixes", test_reserved_prefixes);
        g_test_add_func("/tool-name/O06-probing", test_probing);
        g_test_add_func("/tool-name/O06-alias-targets", test_alias_targets);
        g_test_add_func("/tool-name/O06-probe-words", test_probe_words);
        g_test_add_func("/tool-name/O07-natives-only-grow", test_natives);
        g_test_add_func("/tool-name/alias", test_alias);
        g_test_add_func("/tool-name/category", test_category);
        return g_test_run();
}
