/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "policy/tool-name.h"
#include "policy/wildcard.h"

typedef struct FamilyAction {
        const char *family; /* lower case, as everything in these tables */
        const char *action;
        const char *policy_name;
        bool is_default; /* for policy, when the action is missing */
} FamilyAction;

static const FamilyAction family_actions[] = {
        { "bash", "run", "exec_shell", true },
        { "bash", "wait", "exec_shell_wait", false },
        { "bash", "interact", "exec_shell_interact", false },
        { "bash", "cancel", "exec_shell_cancel", false },
        { "file", "read", "read_file", true },
        { "file", "list", "list_dir", false },
        { "file", "search_name", "file_search", false },
        { "file", "search_content", "grep_files", false },
        { "file", "write", "write_file", false },
        { "file", "edit", "edit_file", false },
        { "file", "patch", "apply_patch", false },
        { "git", "status", "git_status", true },
        { "git", "diff", "git_diff", false },
        { "git", "log", "git_log", false },
        { "git", "show", "git_show", false },
        { "git", "blame", "git_blame", false },
        { "git", "fetch", "git_fetch", false },
        { "run", "tests", "run_tests", true },
        { "run", "verifiers", "run_verifiers", false },
        { "web", "search", "web_search", true },
        { "web", "fetch", "fetch_url", false },
        { "web", "wait", "wait_for_dev_server", false },
        { "rlm", "session_objects", "rlm_session_objects", false },
        { "rlm", "open", "rlm_open", false },
        { "rlm", "eval", "rlm_eval", false },
        { "rlm", "configure", "rlm_configure", false },
        { "rlm", "close", "rlm_close", false },
        { "tasks", "create", "task_create", false },
        { "tasks", "list", "task_list", false },
        { "tasks", "read", "task_read", false },
        { "tasks", "cancel", "task_cancel", false },
        { "tasks", "gate_run", "task_gate_run", false },
        { "tasks", "pr_attempt_record", "pr_attempt_record", false },
        { "tasks", "pr_attempt_list", "pr_attempt_list", false },
        { "tasks", "pr_attempt_read", "pr_attempt_read", false },
        { "tasks", "pr_attempt_preflight", "pr_attempt_preflight", false },
        { "automation", "create", "automation_create", false },
        { "automation", "list", "automation_list", false },
        { "automation", "read", "automation_read", false },
        { "automation", "update", "automation_update", false },
        { "automation", "pause", "automation_pause", false },
        { "automation", "resume", "automation_resume", false },
        { "automation", "delete", "automation_delete", false },
        { "automation", "run", "automation_run", false },
        { "github", "issue_context", "github_issue_context", false },
        { "github", "pr_context", "github_pr_context", false },
        { "github", "comment", "github_comment", false },
        { "github", "close_issue", "github_close_issue", false },
        { "github", "close_pr", "github_close_pr", false },
};

/* The last two are tools of our built-in core: they mean what the others mean. */
static const struct {
        const char *name;
        const char *policy_name;
} renames[] = {
        { "read", "read_file" },
        { "write", "write_file" },
        { "edit", "edit_file" },
        { "shell", "exec_shell" },
        { "web_fetch", "fetch_url" },
};

static const struct {
        const char *name;
        ToolCategory category;
} categories[] = {
        { "agent", CATEGORY_AGENT },
        { "workflow", CATEGORY_AGENT },
        { "write", CATEGORY_FILE_WRITE },
        { "edit", CATEGORY_FILE_WRITE },
        { "write_file", CATEGORY_FILE_WRITE },
        { "edit_file", CATEGORY_FILE_WRITE },
        { "apply_patch", CATEGORY_FILE_WRITE },
        { "web_run", CATEGORY_NETWORK },
        { "web_search", CATEGORY_NETWORK },
        { "fetch_url", CATEGORY_NETWORK },
        { "wait_for_dev_server", CATEGORY_NETWORK },
        { "registry_sync", CATEGORY_NETWORK },
        { "bash", CATEGORY_SHELL },
        { "exec_shell", CATEGORY_SHELL },
        { "task_shell_start", CATEGORY_SHELL },
        { "task_shell_wait", CATEGORY_SHELL },
        { "exec_shell_wait", CATEGORY_SHELL },
        { "exec_shell_interact", CATEGORY_SHELL },
        { "exec_shell_cancel", CATEGORY_SHELL },
        { "exec_wait", CATEGORY_SHELL },
        { "exec_interact", CATEGORY_SHELL },
        { "start_mcp_server", CATEGORY_MCP_ACTION },
        { "start_registry_mcp_server", CATEGORY_MCP_ACTION },
        { "read", CATEGORY_SAFE },
        { "read_file", CATEGORY_SAFE },
        { "list_dir", CATEGORY_SAFE },
        { "work_update", CATEGORY_SAFE },
        { "todo_write", CATEGORY_SAFE },
        { "todo_read", CATEGORY_SAFE },
        { "checklist_write", CATEGORY_SAFE },
        { "note", CATEGORY_SAFE },
        { "update_plan", CATEGORY_SAFE },
        { "search", CATEGORY_SAFE },
        { "file_search", CATEGORY_SAFE },
        { "grep_files", CATEGORY_SAFE },
        { "git_status", CATEGORY_SAFE },
        { "git_diff", CATEGORY_SAFE },
        { "git_log", CATEGORY_SAFE },
        { "git_show", CATEGORY_SAFE },
        { "git_blame", CATEGORY_SAFE },
        { "project", CATEGORY_SAFE },
        { "diagnostics", CATEGORY_SAFE },
};

/* In this order: the longer prefixes first. */
static const struct {
        const char *prefix;
        ToolCategory category;
} category_prefixes[] = {
        { "list_mcp_", CATEGORY_MCP_READ },
        { "read_mcp_", CATEGORY_MCP_READ },
        { "get_mcp_", CATEGORY_MCP_READ },
        { "mcp_", CATEGORY_MCP_ACTION },
        { "read_", CATEGORY_SAFE },
        { "list_", CATEGORY_SAFE },
        { "get_", CATEGORY_SAFE },
};

static const char *const category_words[_TOOL_CATEGORY_MAX] = {
        [CATEGORY_UNKNOWN] = "unknown",
        [CATEGORY_AGENT] = "agent",
        [CATEGORY_FILE_WRITE] = "file-write",
        [CATEGORY_NETWORK] = "network",
        [CATEGORY_SHELL] = "shell",
        [CATEGORY_MCP_READ] = "mcp-read",
        [CATEGORY_MCP_ACTION] = "mcp-action",
        [CATEGORY_SAFE] = "safe",
};

/* Names whose card has a summary of its own. */
static const char *const special_summaries[] = {
        "run_tests",
        "run_verifiers",
        "fim_edit",
        "apply_patch",
        "exec_wait",
        "exec_interact",
        "exec_shell",
        "task_shell_start",
        "fetch_url",
        "web_search",
        "web_run",
        "verify",
};

static const char *const fixed_names[] = {
        "tool_search",
        "tool_search_tool_regex",
        "tool_search_tool_bm25",
        "retrieve_tool_result",
        "execute_tools",
        "code_execution",
        "js_execution",
        "request_user_input",
        "multi_tool_use.parallel",
};

static const char *const reserved_prefixes[] = { "mcp_", "ext_" };

const char *tool_category_to_string(ToolCategory category) {
        return category >= 0 && category < _TOOL_CATEGORY_MAX ? category_words[category] : NULL;
}

int tool_name_check(const char *name) {
        size_t length = 0;

        if (!name || !g_ascii_isalpha(name[0]))
                return -EINVAL;

        for (; name[length] != '\0'; length++)
                if (length >= TOOL_NAME_CHARS_MAX ||
                                !(g_ascii_isalnum(name[length]) || name[length] == '_' ||
                                                name[length] == '-'))
                        return -EINVAL;
        return 0;
}

const char *tool_short_name(const char *policy_name) {
        for (size_t i = 0; i < G_N_ELEMENTS(renames); i++)
                if (strcmp(renames[i].policy_name, policy_name) == 0)
                        return renames[i].name;

        return NULL;
}

const char *tool_family_of(const char *policy_name) {
        /* Every rule and every list asks this of every call, and hardly any call is to one of these. */
        for (size_t i = 0; i < G_N_ELEMENTS(family_actions); i++)
                if (family_actions[i].policy_name[0] == policy_name[0] && strcmp(family_actions[i].policy_name, policy_name) == 0)
                        return family_actions[i].family;

        return NULL;
}

bool tool_pattern_means(const char *pattern, const char *policy_name) {
        const char *short_name = tool_short_name(policy_name), *family = tool_family_of(policy_name);

        return wildcard_match(pattern, policy_name) || (short_name && wildcard_match(pattern, short_name)) ||
               (family && g_ascii_strcasecmp(pattern, family) == 0);
}

bool tool_is_family(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(family_actions); i++)
                if (g_ascii_strcasecmp(name, family_actions[i].family) == 0)
                        return true;

        return false;
}

static const char *family_lookup(const char *family, const char *action) {
        for (size_t i = 0; i < G_N_ELEMENTS(family_actions); i++) {
                const FamilyAction *row = &family_actions[i];

                if (strcmp(family, row->family) != 0)
                        continue;
                if (action ? g_ascii_strcasecmp(action, row->action) == 0 : row->is_default)
                        return row->policy_name;
        }
        return NULL;
}

char *tool_alias_resolve(const char *name, Jval input) {
        g_autofree char *lower = g_ascii_strdown(name, -1);
        Jval action = jval_member(input, "action");
        const char *found = NULL;

        /* An action that is no plain text is no known action: it must not become the default. */
        if (jval_is(action, J_ABSENT))
                found = family_lookup(lower, NULL);
        else if (jval_text(action))
                found = family_lookup(lower, jval_text(action));

        for (size_t i = 0; !found && i < G_N_ELEMENTS(renames); i++)
                if (strcmp(lower, renames[i].name) == 0)
                        found = renames[i].policy_name;

        return found ? g_strdup(found) : g_steal_pointer(&lower);
}

ToolCategory tool_category(const char *policy_name) {
        for (size_t i = 0; i < G_N_ELEMENTS(categories); i++)
                if (g_ascii_strcasecmp(policy_name, categories[i].name) == 0)
                        return categories[i].category;

        for (size_t i = 0; i < G_N_ELEMENTS(category_prefixes); i++)
                if (g_ascii_strncasecmp(policy_name, category_prefixes[i].prefix,
                                    strlen(category_prefixes[i].prefix)) == 0)
                        return category_prefixes[i].category;

        return CATEGORY_UNKNOWN;
}

struct NativeNames {
        GHashTable *names; /* lower case */
};

NativeNames *native_names_new(void) {
        NativeNames *names = g_new0(NativeNames, 1);

        names->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return names;
}

NativeNames *native_names_free(NativeNames *names) {
        if (!names)
                return NULL;

        g_hash_table_unref(names->names);
        g_free(names);
        return NULL;
}

int native_names_add(NativeNames *names, const char *name) {
        if (native_names_contains(names, name))
                return 0;
        if (g_hash_table_size(names->names) >= TOOLS_MAX)
                return -ENOBUFS;

        g_hash_table_add(names->names, g_ascii_strdown(name, -1));
        return 0;
}

bool native_names_contains(const NativeNames *names, const char *name) {
        g_autofree char *lower = g_ascii_strdown(name, -1);

        return g_hash_table_contains(names->names, lower);
}

static bool list_contains(const char *const *list, size_t length, const char *name) {
        for (size_t i = 0; i < length; i++)
                if (g_ascii_strcasecmp(name, list[i]) == 0)
                        return true;

        return false;
}

static bool is_alias(const char *name) {
        g_autofree char *lower = g_ascii_strdown(name, -1);
        g_autofree char *resolved = tool_alias_resolve(name, (Jval){});

        if (strcmp(lower, resolved) != 0 || tool_is_family(name))
                return true;

        for (size_t i = 0; i < G_N_ELEMENTS(family_actions); i++)
                if (strcmp(lower, family_actions[i].policy_name) == 0)
                        return true;
        return false;
}

unsigned tool_name_probe(const char *name) {
        g_autofree char *resolved = tool_alias_resolve(name, (Jval){});
        ToolCategory category = tool_category(resolved);
        unsigned special = 0;

        if (category == CATEGORY_UNKNOWN)
                category = tool_category(name);
        if (category == CATEGORY_SHELL || category == CATEGORY_NETWORK || category == CATEGORY_FILE_WRITE)
                special |= TOOL_SPECIAL_KEY;
        if (is_alias(name))
                special |= TOOL_SPECIAL_ALIAS;
        if (list_contains(special_summaries, G_N_ELEMENTS(special_summaries), name) ||
                        list_contains(special_summaries, G_N_ELEMENTS(special_summaries), resolved))
                special |= TOOL_SPECIAL_SUMMARY;
        if (category != CATEGORY_UNKNOWN)
                special |= TOOL_SPECIAL_CATEGORY;

        return special;
}

static char *special_words(unsigned special) {
        static const char *const words[] = { "approval key", "alias", "card summary", "category" };
        g_autoptr(GString) out = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (special & (1u << i))
                        g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "", words[i]);

        return g_string_free(g_steal_pointer(&out), FALSE);
}

static int refuse_reserved(sd_bus_error *reterr, const char *name, const char *why) {
        (void) errors_set(
                        reterr, ERROR_INVALID_ARGUMENTS, "The tool name \"%s\" is reserved: %s.", name, why);
        return -EPERM;
}

static int tool_name_check_prefixes(const char *name, sd_bus_error *reterr) {
        for (size_t i = 0; i < G_N_ELEMENTS(reserved_prefixes); i++) {
                const char *prefix = reserved_prefixes[i];
                g_autofree char *why = NULL;

                if (g_ascii_strncasecmp(name, prefix, strlen(prefix)) != 0)
                        continue;
                why = g_strdup_printf("no plugin's tool may begin with \"%s\"", prefix);
                return refuse_reserved(reterr, name, why);
        }
        return 0;
}

int tool_name_admit(const char *name, const NativeNames *natives, sd_bus_error *reterr) {
        unsigned special;
        int r;

        /* One fixed name holds a dot and could not pass the grammar; it is refused either way. */
        if (tool_name_check(name) < 0) {
                (void) errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                "The tool name \"%s\" is not a letter followed by at most %u letters, "
                                "digits, '_' or '-'.",
                                name ? name : "", TOOL_NAME_CHARS_MAX - 1);
                return -EINVAL;
        }
        r = tool_name_check_prefixes(name, reterr);
        if (r < 0)
                return r;
        if (list_contains(fixed_names, G_N_ELEMENTS(fixed_names), name))
                return refuse_reserved(reterr, name, "it belongs to the core");
        if (natives && native_names_contains(natives, name))
                return refuse_reserved(reterr, name, "a native tool has it");

        special = tool_name_probe(name);
        if (special != 0) {
                g_autofree char *words = special_words(special);
                g_autofree char *why = g_strdup_printf("the name has special treatment (%s)", words);

                return refuse_reserved(reterr, name, why);
        }
        return 0;
}
