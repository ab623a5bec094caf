/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "service/selection.h"

struct Selection {
        char *workspace;
        char **plugins;
        GHashTable *script_tools, *native_tools, *builtin_commands, *markdown_commands; /* folded names */
};

void selection_lists_done(SelectionLists *lists) {
        g_strfreev(lists->plugins);
        g_strfreev(lists->script_tools);
        g_strfreev(lists->builtin_commands);
        g_strfreev(lists->markdown_commands);
        g_strfreev(lists->native_tools);
        *lists = (SelectionLists) {};
}

static int check_list(const char *option, char **words, size_t *bytes, sd_bus_error *reterr) {
        if (!words)
                return 0;
        if (g_strv_length(words) > SESSION_NAMES_MAX)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "Option '%s' may name at most %u.", option, SESSION_NAMES_MAX);

        for (size_t i = 0; words[i]; i++) {
                g_autofree char *clean = NULL;
                SanitizeFlags flags = 0;

                *bytes += strlen(words[i]);
                if (*bytes > SESSION_NAMES_BYTES_MAX)
                        return errors_set(reterr, ERROR_LIMIT_EXCEEDED,
                                          "The names that a session brings may have at most %zu bytes in all.",
                                          SESSION_NAMES_BYTES_MAX);
                clean = sanitize_line(words[i], SESSION_NAMES_BYTES_MAX, &flags);
                if (flags || words[i][0] == '\0')
                        return errors_set(reterr, ERROR_INVALID_OPTION, "Option '%s' holds something that is no name.", option);
        }
        return 0;
}

static int check_lists(const SelectionLists *lists, sd_bus_error *reterr) {
        const struct {
                const char *option;
                char **words;
        } all[] = {
                { "plugins", lists->plugins },
                { "script-tools", lists->script_tools },
                { "builtin-commands", lists->builtin_commands },
                { "markdown-commands", lists->markdown_commands },
                { "native-tools", lists->native_tools },
        };
        size_t bytes = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
                int r = check_list(all[i].option, all[i].words, &bytes, reterr);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* NULL for an empty list: most sessions bring none. */
static GHashTable *fold(char **words) {
        GHashTable *set;

        if (!words || !words[0])
                return NULL;
        set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (size_t i = 0; words[i]; i++)
                g_hash_table_add(set, g_ascii_strdown(words[i], -1));
        return set;
}

int selection_new(const SelectionLists *lists, const char *workspace, Selection **ret, sd_bus_error *reterr) {
        Selection *selection;
        int r = check_lists(lists, reterr);

        if (r < 0)
                return r;

        selection = g_new0(Selection, 1);
        selection->workspace = g_strdup(workspace);
        selection->plugins = g_strdupv(lists->plugins);
        selection->script_tools = fold(lists->script_tools);
        selection->native_tools = fold(lists->native_tools);
        selection->builtin_commands = fold(lists->builtin_commands);
        selection->markdown_commands = fold(lists->markdown_commands);
        *ret = selection;
        return 0;
}

Selection *selection_free(Selection *selection) {
        if (!selection)
                return NULL;

        g_free(selection->workspace);
        g_strfreev(selection->plugins);
        g_clear_pointer(&selection->script_tools, g_hash_table_unref);
        g_clear_pointer(&selection->native_tools, g_hash_table_unref);
        g_clear_pointer(&selection->builtin_commands, g_hash_table_unref);
        g_clear_pointer(&selection->markdown_commands, g_hash_table_unref);
        g_free(selection);
        return NULL;
}

bool selection_sees(const Selection *selection, const Plugin *plugin) {
        return plugin_get_scope(plugin) != PLUGIN_WORKSPACE ||
                        g_strcmp0(plugin_get_workspace(plugin), selection->workspace) == 0;
}

/* "counter", "user/0123456789ab/counter", and either with "#entry" behind */
static bool word_names(const char *word, const Plugin *plugin, const char *entry) {
        const char *mark = strchr(word, '#');
        g_autofree char *who = g_strndup(word, mark ? (size_t) (mark - word) : strlen(word));

        if (strcmp(who, plugin_get_id(plugin)) != 0 && strcmp(who, plugin_get_name(plugin)) != 0)
                return false;
        return !mark || !entry || strcmp(mark + 1, entry) == 0;
}

bool selection_has(const Selection *selection, const Plugin *plugin, const char *entry) {
        if (!selection_sees(selection, plugin))
                return false;
        if (!selection->plugins)
                return true;

        for (size_t i = 0; selection->plugins[i]; i++)
                if (word_names(selection->plugins[i], plugin, entry))
                        return true;
        return false;
}

static bool holds(GHashTable *set, const char *folded) {
        return set && g_hash_table_contains(set, folded);
}

const char *selection_shadow(const Selection *selection, RegistrationKind kind, const char *folded) {
        if (kind == REGISTRATION_TOOL && holds(selection->script_tools, folded))
                return "a script tool of this session";
        if (kind == REGISTRATION_TOOL && holds(selection->native_tools, folded))
                return "a native tool of this session";
        if (kind == REGISTRATION_COMMAND && holds(selection->markdown_commands, folded))
                return "a Markdown command of this session";
        if (kind == REGISTRATION_COMMAND && holds(selection->builtin_commands, folded))
                return "a built-in command of this session";
        return NULL;
}

char **selection_get_plugins(const Selection *selection) {
        return selection->plugins;
}
