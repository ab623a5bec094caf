/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "policy/tool-name.h"
#include "service/core-tool.h"

struct CoreTools {
        unsigned n_ref;
        GPtrArray *tools;
};

static void core_tool_free(void *data) {
        CoreTool *tool = data;

        g_free(tool->name);
        g_free(tool->policy_name);
        g_free(tool->description);
        g_free(tool->schema_text);
        schema_unref(tool->schema);
        g_free(tool);
}

CoreTools *core_tools_new(void) {
        CoreTools *tools = g_new0(CoreTools, 1);

        tools->n_ref = 1;
        tools->tools = g_ptr_array_new_with_free_func(core_tool_free);
        return tools;
}

CoreTools *core_tools_ref(CoreTools *tools) {
        tools->n_ref++;
        return tools;
}

CoreTools *core_tools_unref(CoreTools *tools) {
        if (!tools || --tools->n_ref > 0)
                return NULL;

        g_ptr_array_unref(tools->tools);
        g_free(tools);
        return NULL;
}

size_t core_tools_count(const CoreTools *tools) {
        return tools->tools->len;
}

const CoreTool *core_tools_get(const CoreTools *tools, size_t index) {
        return g_ptr_array_index(tools->tools, index);
}

void core_tools_add(
                CoreTools *tools, const char *name, const char *description, const char *schema, Requirement requirement,
                ToolCapabilities capabilities) {
        CoreTool *tool = g_new0(CoreTool, 1);

        *tool = (CoreTool) {
                .name = g_strdup(name),
                .policy_name = tool_alias_resolve(name, (Jval) {}),
                .description = g_strdup(description),
                .schema_text = g_strdup(schema),
                .requirement = requirement,
                .capabilities = capabilities,
        };
        if (schema && schema_compile(schema, strlen(schema), NULL, &tool->schema, NULL) < 0)
                g_assert_not_reached();
        g_ptr_array_add(tools->tools, tool);
}

/* ---- what a client offers ---- */

static int read_capabilities(Jval list, ToolCapabilities *ret) {
        static const struct {
                const char *word;
                ToolCapabilities capability;
        } known[] = {
                { "network", TOOL_NETWORK }, { "process", TOOL_PROCESS }, { "executes", TOOL_EXECUTES }, { "writes", TOOL_WRITES },
        };
        JIter iter = jval_iterate(list);
        Jval key, item;
        unsigned found = 0;

        if (!jval_is(list, J_ABSENT) && !jval_is(list, J_ARRAY))
                return -EINVAL;
        while (jiter_next(&iter, &key, &item)) {
                size_t i = 0;

                while (i < G_N_ELEMENTS(known) && !jval_equals_text(item, known[i].word))
                        i++;
                if (i == G_N_ELEMENTS(known))
                        return -EINVAL;
                found |= known[i].capability;
        }
        *ret = (ToolCapabilities) found;
        return 0;
}

static int read_requirement(Jval word, Requirement *ret) {
        if (jval_is(word, J_ABSENT)) {
                *ret = REQUIREMENT_REQUIRED;
                return 0;
        }
        for (Requirement i = 0; i < _REQUIREMENT_MAX; i++)
                if (jval_equals_text(word, requirement_to_string(i))) {
                        *ret = i;
                        return 0;
                }
        return -EINVAL;
}

static int read_schema(CoreTool *tool, Jval value, sd_bus_error *reterr) {
        static const SchemaOptions options = { .object_root = true };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const char *text;
        size_t size;

        if (jval_is(value, J_ABSENT))
                return 0;
        text = jval_source(value, &size);
        if (schema_compile(text, size, &options, &tool->schema, &error) < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The input_schema of core tool '%s': %s", tool->name,
                                  error.message);
        tool->schema_text = g_strndup(text, size);
        return 0;
}

/* What may be called is a name that the rest of us can show and compare. */
static bool is_name(const char *name) {
        size_t size = name ? strlen(name) : 0;

        if (size == 0 || size > CORE_CALL_NAME_CHARS_MAX || !g_ascii_isalpha(name[0]))
                return false;
        for (size_t i = 0; i < size; i++)
                if (!g_ascii_isalnum(name[i]) && !strchr("_-.", name[i]))
                        return false;
        return true;
}

static int check_members(Jval item) {
        static const char *const known[] = { "name", "description", "input_schema", "requirement", "capabilities" };
        JIter iter = jval_iterate(item);
        Jval key, value;

        if (!jval_is(item, J_OBJECT))
                return -EINVAL;
        while (jiter_next(&iter, &key, &value)) {
                size_t i = 0;

                while (i < G_N_ELEMENTS(known) && !jval_equals_text(key, known[i]))
                        i++;
                if (i == G_N_ELEMENTS(known))
                        return -EINVAL;
        }
        return 0;
}

static int read_tool(CoreTools *tools, Jval item, sd_bus_error *reterr) {
        const char *name = jval_text(jval_member(item, "name"));
        Jval description = jval_member(item, "description");
        CoreTool *tool;

        if (check_members(item) < 0 || !is_name(name))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                  "Core tool %zu is no object with a name and of the members that are known.", core_tools_count(tools) + 1);
        for (size_t i = 0; i < core_tools_count(tools); i++)
                if (g_ascii_strcasecmp(core_tools_get(tools, i)->name, name) == 0)
                        return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "Core tool '%s' is there twice.", name);

        tool = g_new0(CoreTool, 1);
        g_ptr_array_add(tools->tools, tool);
        tool->name = g_strdup(name);
        tool->policy_name = tool_alias_resolve(name, (Jval) {});
        tool->description = g_strdup(jval_text(description) ?: "");
        if ((!jval_is(description, J_ABSENT) && !jval_text(description)) || strlen(tool->description) > TOOL_DESCRIPTION_BYTES_MAX)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The description of core tool '%s' is no text of at most %zu bytes.",
                                  name, TOOL_DESCRIPTION_BYTES_MAX);
        if (read_requirement(jval_member(item, "requirement"), &tool->requirement) < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The requirement of core tool '%s' is auto, suggest or required.", name);
        if (read_capabilities(jval_member(item, "capabilities"), &tool->capabilities) < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                  "The capabilities of core tool '%s' are a list of network, process, executes and writes.", name);
        return read_schema(tool, jval_member(item, "input_schema"), reterr);
}

int core_tools_read(const char *json, CoreTools **ret, sd_bus_error *reterr) {
        g_autoptr(CoreTools) tools = core_tools_new();
        g_autoptr(Jdoc) doc = NULL;
        JdocError error = {};
        Jval key, item;
        JIter iter;
        int r;

        if (strlen(json) > CORE_TOOLS_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "The tools of a core may have at most %zu bytes.", CORE_TOOLS_BYTES_MAX);
        if (jdoc_parse(json, strlen(json), NULL, &doc, &error) < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The tools are not strict JSON: %s at line %zu, column %zu.",
                                  error.message, error.line, error.column);
        if (!jval_is(jdoc_root(doc), J_ARRAY))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The tools of a core are an array.");
        if (jval_length(jdoc_root(doc)) > CORE_TOOLS_MAX)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "A core may have at most %u tools.", CORE_TOOLS_MAX);

        iter = jval_iterate(jdoc_root(doc));
        while (jiter_next(&iter, &key, &item)) {
                r = read_tool(tools, item, reterr);
                if (r < 0)
                        return r;
        }
        *ret = g_steal_pointer(&tools);
        return 0;
}

/* ---- looking up ---- */

const CoreTool *core_tools_find(const CoreTools *tools, const char *name, Jval input) {
        g_autofree char *policy_name = NULL;

        for (size_t i = 0; i < core_tools_count(tools); i++)
                if (g_ascii_strcasecmp(core_tools_get(tools, i)->name, name) == 0)
                        return core_tools_get(tools, i);

        /* "File" without an action means reading to the rules, but nothing that could be run. */
        if (g_ascii_strcasecmp(name, "bash") != 0 && tool_is_family(name) && jval_is(jval_member(input, "action"), J_ABSENT))
                return NULL;
        policy_name = tool_alias_resolve(name, input);
        for (size_t i = 0; i < core_tools_count(tools); i++)
                if (!tool_is_family(core_tools_get(tools, i)->name) &&
                                g_ascii_strcasecmp(core_tools_get(tools, i)->policy_name, policy_name) == 0)
                        return core_tools_get(tools, i);
        return NULL;
}
