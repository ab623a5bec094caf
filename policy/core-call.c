/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "policy/core-call.h"
#include "policy/tool-name.h"

/* Looked up with the name as called and with the policy name, both in lower case. */
static const char *const refused_names[] = {
        "execute_tools",
        "code_execution",
        "js_execution",
        "multi_tool_use.parallel",
        "agent",
        "workflow",
        "rlm",
        "request_user_input",
        "list_mcp_resources",
        "list_mcp_resource_templates",
        "read_mcp_resource",
        "computer_use",
        "computer_use_consent",
        "computer_use_script",
        "request_computer_use",
        "tool_search",
        "tool_search_tool_regex",
        "tool_search_tool_bm25",
        "retrieve_tool_result",
        "remember",
        "request_plugin_install",
        "create_goal",
        "update_goal",
        "automation",
        "send_later",
        "start_mcp_server",
        "start_registry_mcp_server",
};

static const char *const refused_prefixes[] = { "mcp_", "ext_", "rlm_", "automation_", "computer_use_" };
static const char *const refused_suffixes[] = { "_authenticate" };

static const char *const forced_names[] = {
        "web.run",
        "git_fetch",
        "finance",
        "run_tests",
        "run_verifiers",
        "verify",
        "harness",
        "task_gate_run",
        "github_issue_context",
};

static const char *const auto_names[] = { "read_file", "list_dir", "file_search", "grep_files", NULL };

static bool name_in(const char *const *list, size_t length, const char *name) {
        for (size_t i = 0; i < length; i++)
                if (g_ascii_strcasecmp(list[i], name) == 0)
                        return true;

        return false;
}

static bool name_is_refused(const char *name) {
        size_t size = strlen(name);

        if (name_in(refused_names, G_N_ELEMENTS(refused_names), name))
                return true;
        for (size_t i = 0; i < G_N_ELEMENTS(refused_prefixes); i++)
                if (g_ascii_strncasecmp(name, refused_prefixes[i], strlen(refused_prefixes[i])) == 0)
                        return true;
        for (size_t i = 0; i < G_N_ELEMENTS(refused_suffixes); i++) {
                size_t suffix = strlen(refused_suffixes[i]);

                if (size >= suffix && g_ascii_strcasecmp(name + size - suffix, refused_suffixes[i]) == 0)
                        return true;
        }
        return false;
}

/* Anything but an explicit false counts: what a core makes of "yes" or 1 is its own affair. */
static bool is_set(Jval flag) {
        bool value;

        if (jval_is(flag, J_ABSENT) || jval_is(flag, J_NULL))
                return false;
        return jval_boolean(flag, &value) < 0 || value;
}

bool core_call_refused(const char *name, Jval input, bool is_extension, const char **ret_why) {
        g_autofree char *policy_name = tool_alias_resolve(name, input);
        const char *why = NULL;

        if (is_extension)
                why = "an extension may not call extension tools";
        else if (name_is_refused(name) || name_is_refused(policy_name))
                why = "the tool is on the list that no extension may call";
        else if (!jval_is(jval_member(input, "sandbox_permissions"), J_ABSENT))
                why = "an extension may not ask for other sandbox permissions";
        else if (tool_category(policy_name) == CATEGORY_SHELL && is_set(jval_member(input, "interactive")))
                why = "an extension may not open an interactive shell";

        if (why && ret_why)
                *ret_why = why;
        return why;
}

static const char *const class_table[_CORE_CALL_CLASS_MAX] = {
        [CORE_CALL_AUTO_ELIGIBLE] = "auto-eligible",
        [CORE_CALL_ORDINARY] = "ordinary",
        [CORE_CALL_FORCED] = "forced",
};

const char *core_call_class_to_string(CoreCallClass class) {
        return class >= 0 && class < _CORE_CALL_CLASS_MAX ? class_table[class] : NULL;
}

const char *const *core_call_auto_names(void) {
        return auto_names;
}

CoreCallClass core_call_classify(const char *name, Jval input, ToolCapabilities capabilities) {
        g_autofree char *policy_name = tool_alias_resolve(name, input);
        ToolCategory category = tool_category(policy_name);

        /* Both spellings count: a core may well know a tool by the name that only resolves for us. */
        if (category == CATEGORY_SHELL || category == CATEGORY_NETWORK ||
                        tool_category(name) == CATEGORY_SHELL || tool_category(name) == CATEGORY_NETWORK)
                return CORE_CALL_FORCED;
        if (capabilities & (TOOL_NETWORK | TOOL_PROCESS | TOOL_EXECUTES))
                return CORE_CALL_FORCED;
        if (name_in(forced_names, G_N_ELEMENTS(forced_names), policy_name) ||
                        name_in(forced_names, G_N_ELEMENTS(forced_names), name))
                return CORE_CALL_FORCED;
        if (!(capabilities & TOOL_WRITES) && name_in(auto_names, G_N_ELEMENTS(auto_names) - 1, policy_name))
                return CORE_CALL_AUTO_ELIGIBLE;

        return CORE_CALL_ORDINARY;
}
