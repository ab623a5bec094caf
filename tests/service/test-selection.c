/* SPDX-License-Identifier: MIT */
#include "registered.h"

/* What a session sees of the registries, by what it chose and by what it has itself. */

static char **words(const char *text) {
        return g_strsplit(text, " ", -1);
}

static void test_lists(void) {
        static const struct {
                const char *words;
                unsigned times;
                const char *error;
        } cases[] = {
                { "counter user/0123456789ab/counter counter#native/main.mjs", 1, NULL },
                { "counter  greeting", 1, ERROR_INVALID_OPTION }, /* an empty word */
                { "coun\033ter", 1, ERROR_INVALID_OPTION },
                { "x", SESSION_NAMES_MAX, NULL },
                { "x", SESSION_NAMES_MAX + 1, ERROR_LIMIT_EXCEEDED },
                { "0123456789012345678901234567890123456789012345678901234567890123", SESSION_NAMES_MAX, NULL },
                { "01234567890123456789012345678901234567890123456789012345678901234", SESSION_NAMES_MAX, ERROR_LIMIT_EXCEEDED },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) text = g_string_new(cases[i].words);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_autoptr(Selection) selection = NULL;
                SelectionLists lists = {};

                for (unsigned n = 1; n < cases[i].times; n++)
                        g_string_append_printf(text, " %s", cases[i].words);
                lists.script_tools = words(text->str);
                g_test_message("case %zu", i);
                (void) selection_new(&lists, "", &selection, &error);
                g_assert_cmpstr(error.name, ==, cases[i].error);
                g_assert_true((selection != NULL) == (cases[i].error == NULL));
                selection_lists_done(&lists);
        }
}

/* Two entries of one plugin offer one name: who uses both can't have it, who chose one has that one. */
static void test_two_entries(Registered *registered, const void *data) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        uint64_t main_tool, more_tool;
        SelectionLists lists = {};

        (void) data;
        main_tool = registered_tool(registered, registered->one, 0, "probe_a");
        more_tool = registered_tool(registered, registered->one, 1, "probe_a");
        registered_activate(registered->one);

        g_assert_null(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", &error));
        g_assert_cmpstr(error.name, ==, ERROR_NO_SUCH_TOOL);
        g_assert_nonnull(strstr(error.message, "two entries"));

        lists.plugins = words("one#native/main.mjs");
        g_assert_cmpuint(registered_find(registered, &lists, REGISTRATION_TOOL, "probe_a", NULL)->handle, ==, main_tool);
        selection_lists_done(&lists);
        lists.plugins = words("two one#native/more.mjs");
        g_assert_cmpuint(registered_find(registered, &lists, REGISTRATION_TOOL, "Probe_A", NULL)->handle, ==, more_tool);
        selection_lists_done(&lists);
        lists.plugins = words("one");
        g_assert_null(registered_find(registered, &lists, REGISTRATION_TOOL, "probe_a", NULL));
        selection_lists_done(&lists);
}

static void test_not_chosen(Registered *registered, const void *data) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *id = NULL;
        SelectionLists lists = {};

        (void) data;
        g_assert_cmpuint(registered_command(registered, registered->one, "do-it"), >, 0);
        g_assert_cmpuint(registered_command(registered, registered->two, "do-that"), >, 0);
        registered_activate(registered->one);
        registered_activate(registered->two);

        lists.plugins = words("two");
        g_assert_nonnull(registered_find(registered, &lists, REGISTRATION_COMMAND, "do-that", NULL));
        g_assert_null(registered_find(registered, &lists, REGISTRATION_COMMAND, "do-it", &error));
        g_assert_cmpstr(error.name, ==, ERROR_NO_SUCH_COMMAND);
        g_assert_nonnull(strstr(error.message, "does not use the plugin one"));
        selection_lists_done(&lists);

        id = g_strdup(owner_get_plugin_id(registered->one));
        lists.plugins = words(id);
        g_assert_nonnull(registered_find(registered, &lists, REGISTRATION_COMMAND, "do-it", NULL));
        selection_lists_done(&lists);

        /* An empty list is a choice too: of nothing. */
        lists.plugins = g_new0(char *, 1);
        g_assert_null(registered_find(registered, &lists, REGISTRATION_COMMAND, "do-that", NULL));
        selection_lists_done(&lists);
}

static void count(const Registration *registration, const char *why, void *userdata) {
        g_test_message("%s: %s", registration->name, why);
        ++*(unsigned *) userdata;
}

static void count_visible(Registration *registration, void *userdata) {
        (void) registration;
        ++*(unsigned *) userdata;
}

/* A script tool or a Markdown command of the session's own wins, in that session alone. */
static void test_shadows(Registered *registered, const void *data) {
        static const SelectionLists none;
        SelectionLists lists = { .script_tools = words("PROBE_A"), .markdown_commands = words("Do-It") };
        g_auto(sd_bus_error) tool_error = SD_BUS_ERROR_NULL, command_error = SD_BUS_ERROR_NULL;
        g_autoptr(Selection) own = NULL, plain = NULL;
        unsigned hidden = 0, visible = 0;

        (void) data;
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "probe_a"), >, 0);
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "probe_b"), >, 0);
        g_assert_cmpuint(registered_command(registered, registered->one, "do-it"), >, 0);
        registered_activate(registered->one);

        g_assert_null(registered_find(registered, &lists, REGISTRATION_TOOL, "probe_a", &tool_error));
        g_assert_nonnull(strstr(tool_error.message, "script tool"));
        g_assert_nonnull(registered_find(registered, &lists, REGISTRATION_TOOL, "probe_b", NULL));
        g_assert_null(registered_find(registered, &lists, REGISTRATION_COMMAND, "do-it", &command_error));
        g_assert_nonnull(strstr(command_error.message, "Markdown command"));
        g_assert_nonnull(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL));
        g_assert_nonnull(registered_find(registered, NULL, REGISTRATION_COMMAND, "do-it", NULL));

        g_assert_cmpint(selection_new(&lists, "", &own, NULL), ==, 0);
        g_assert_cmpint(selection_new(&none, "", &plain, NULL), ==, 0);
        selection_foreach_hidden(own, registered->registry, count, &hidden);
        g_assert_cmpuint(hidden, ==, 2);
        selection_foreach(own, registered->registry, REGISTRATION_TOOL, count_visible, &visible);
        selection_foreach(own, registered->registry, REGISTRATION_COMMAND, count_visible, &visible);
        g_assert_cmpuint(visible, ==, 1);
        hidden = 0;
        selection_foreach_hidden(plain, registered->registry, count, &hidden);
        g_assert_cmpuint(hidden, ==, 0);
        selection_lists_done(&lists);
}

/* A name that some session has natively is refused from then on, for every plugin. */
static void test_native_later(Registered *registered, const void *data) {
        SessionOptions options = { .lists = { .native_tools = words("Paint_Wall"), .builtin_commands = words("Paint") } };
        g_autoptr(SessionTable) table = session_table_new(POSTURE_ASK);
        SelectionLists none = {};
        g_autoptr(Selection) plain = NULL;
        Session *session = NULL;
        Registration *tool = NULL;

        (void) data;
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "paint_wall"), >, 0);
        g_assert_cmpuint(registered_command(registered, registered->one, "paint"), >, 0);
        registered_activate(registered->one);

        g_assert_cmpint(session_open(table, registered->registry, ":1.1", &options, &session, NULL), ==, 0);
        assert_refused(registered, registered->two, "tool",
                       "{\"name\":\"PAINT_wall\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}", "native tool");
        assert_refused(registered, registered->two, "command", "{\"name\":\"paint\",\"description\":\"d\"}", "built-in command");

        /* What was there before stays for others and is out of the way in that session. */
        g_assert_cmpint(selection_find(session->selection, registered->registry, REGISTRATION_TOOL, "paint_wall", &tool, NULL), <, 0);
        g_assert_cmpint(selection_find(session->selection, registered->registry, REGISTRATION_COMMAND, "paint", &tool, NULL), <, 0);
        g_assert_cmpint(selection_new(&none, "", &plain, NULL), ==, 0);
        g_assert_cmpint(selection_find(plain, registered->registry, REGISTRATION_TOOL, "paint_wall", &tool, NULL), ==, 0);

        /* The names outlive the session. */
        session_close(session);
        assert_refused(registered, registered->two, "tool",
                       "{\"name\":\"paint_wall\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}", "native tool");
        selection_lists_done(&options.lists);
}

static void test_native_limit(Registered *registered, const void *data) {
        g_autoptr(SessionTable) table = session_table_new(POSTURE_ASK);
        SessionOptions options = {};
        g_autoptr(GString) text = g_string_new("n0");
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Session *session = NULL;

        (void) data;
        for (unsigned i = 1; i < TOOLS_MAX; i++)
                g_string_append_printf(text, " n%u", i);
        options.lists.native_tools = words(text->str);
        g_assert_cmpint(session_open(table, registered->registry, ":1.1", &options, &session, NULL), ==, 0);
        selection_lists_done(&options.lists);
        options.lists.native_tools = words("one_more");
        g_assert_cmpint(session_open(table, registered->registry, ":1.1", &options, &session, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_LIMIT_EXCEEDED);
        g_assert_null(session_table_find(table, 2));
        selection_lists_done(&options.lists);
}

/* Without any list of built-in commands no command is taken; the grammar comes first, and tools do not care. */
static void test_no_catalogue(Registered *registered, const void *data) {
        (void) data;
        registered->registry = registry_free(registered->registry);
        registered->registry = registry_new(NULL);
        assert_refused(registered, registered->one, "command", "{\"name\":\"do-it\",\"description\":\"d\"}", "no built-in commands are known");
        assert_refused(registered, registered->one, "command", "{\"name\":\"Do It\",\"description\":\"d\"}", "no name for a command");
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "probe_a"), >, 0);
}

static void test_builtin_commands(Registered *registered, const void *data) {
        (void) data;
        for (size_t i = 0; builtin_commands[i]; i++) {
                g_test_message("%s", builtin_commands[i]);
                g_assert_cmpuint(registered_command(registered, registered->one, builtin_commands[i]), ==, 0);
                /* A tool may have that name: the two are separate. */
        }
        g_assert_cmpuint(registered_command(registered, registered->one, "jihua"), ==, 0);
        g_assert_cmpuint(registered_command(registered, registered->one, "zidong"), ==, 0);
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "jihua"), >, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        g_test_add_func("/selection/lists", test_lists);
        REGISTERED_TEST("/selection/O09-two-entries", test_two_entries);
        REGISTERED_TEST("/selection/C10-not-chosen", test_not_chosen);
        REGISTERED_TEST("/selection/O10-C05-shadows", test_shadows);
        REGISTERED_TEST("/selection/O07-C01-native-later", test_native_later);
        REGISTERED_TEST("/selection/native-limit", test_native_limit);
        REGISTERED_TEST("/selection/C02-no-catalogue", test_no_catalogue);
        REGISTERED_TEST("/selection/C01-builtin-commands", test_builtin_commands);
        return g_test_run();
}
