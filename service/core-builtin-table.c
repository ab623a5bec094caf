/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "service/core-builtin-table.h"

/* "action" is what callers add who use the name of a family, such as File. */
#define SCHEMA(required, properties)                                                                                     \
        "{\"type\":\"object\",\"required\":[" required "],\"additionalProperties\":false,\"properties\":{\"action\":" \
        "{\"type\":\"string\",\"maxLength\":32}," properties "}}"
#define PATH "\"path\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096}"
#define LIMIT "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2000}"
#define PATTERN "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1024}"

/* A scheme, a host or an address in brackets, a port, and what signs an address may hold: nothing that two readers of it could
 * take apart differently, such as a name and password, a backslash or a blank. */
#define URL                                                                                                                \
        "\"url\":{\"type\":\"string\",\"maxLength\":2048,\"pattern\":\"^[Hh][Tt][Tt][Pp][Ss]?://(\\\\[[0-9A-Fa-f:.]+\\\\]|" \
        "[A-Za-z0-9._-]+)(:[0-9]{1,5})?([/?#][A-Za-z0-9._~:/?#@!$&'()*+,;=%\\\\[\\\\]-]*)?$\"}"

static const struct {
        const char *name, *description, *schema;
        Requirement requirement;
        ToolCapabilities capabilities;
        WorkspaceAccess access;
} table[] = {
        { "read", "Reads a text file of the workspace, or some lines of it.",
          SCHEMA("\"path\"", PATH ",\"offset\":{\"type\":\"integer\",\"minimum\":1},\"limit\":{\"type\":\"integer\",\"minimum\":1}"),
          REQUIREMENT_AUTO, 0, WORKSPACE_READ },
        { "list_dir", "Lists a folder of the workspace.", SCHEMA("", PATH), REQUIREMENT_AUTO, 0, WORKSPACE_READ },
        { "file_search", "Finds files of the workspace by name; '*' and '?' are wild.", SCHEMA("\"pattern\"", PATTERN "," PATH "," LIMIT),
          REQUIREMENT_AUTO, 0, WORKSPACE_READ },
        { "grep_files", "Finds lines in the text files of the workspace by a regular expression.",
          SCHEMA("\"pattern\"", PATTERN "," PATH ",\"glob\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":256},"
                 "\"ignore_case\":{\"type\":\"boolean\"}," LIMIT),
          REQUIREMENT_AUTO, 0, WORKSPACE_READ },
        { "write_file", "Writes a file of the workspace, whole.",
          SCHEMA("\"path\",\"content\"", PATH ",\"content\":{\"type\":\"string\",\"maxLength\":4194304},"
                 "\"create_directories\":{\"type\":\"boolean\"}"),
          REQUIREMENT_REQUIRED, TOOL_WRITES, WORKSPACE_WRITE },
        { "edit_file", "Replaces a text in a file of the workspace. It must be there once, or replace_all must be true.",
          SCHEMA("\"path\",\"old_string\",\"new_string\"", PATH ",\"old_string\":{\"type\":\"string\",\"minLength\":1,"
                 "\"maxLength\":1048576},\"new_string\":{\"type\":\"string\",\"maxLength\":1048576},"
                 "\"replace_all\":{\"type\":\"boolean\"}"),
          REQUIREMENT_REQUIRED, TOOL_WRITES, WORKSPACE_WRITE },
        { "shell", "Runs a command with /bin/sh in the workspace, without network. What it leaves running ends with it.",
          SCHEMA("\"command\"", "\"command\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":32768},"
                 "\"cwd\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096},\"interactive\":{\"const\":false},"
                 "\"timeout_ms\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":600000}"),
          REQUIREMENT_REQUIRED, TOOL_PROCESS | TOOL_EXECUTES | TOOL_WRITES, WORKSPACE_RUN },
        { "web_fetch", "Fetches the text behind an address: https, or http from this machine. It sees no file. A redirect to another "
                       "host is told, not followed.",
          SCHEMA("\"url\"", URL), REQUIREMENT_REQUIRED, TOOL_NETWORK, WORKSPACE_READ },
};

CoreTools *core_builtin_tools(void) {
        CoreTools *tools = core_tools_new();

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                core_tools_add(tools, table[i].name, table[i].description, table[i].schema, table[i].requirement,
                               table[i].capabilities);
        return tools;
}

bool core_builtin_is_web(const CoreTool *tool) {
        return tool->capabilities & TOOL_NETWORK;
}

WorkspaceAccess core_builtin_access(const CoreTool *tool) {
        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                if (strcmp(table[i].name, tool->name) == 0)
                        return table[i].access;

        g_assert_not_reached();
}
