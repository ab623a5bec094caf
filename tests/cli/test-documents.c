/* SPDX-License-Identifier: MIT */

/* What is written about the command line holds every verb and option, and no other. */

#include <glib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/verbs.h"
#include "common/messages.h"

static char *read_document(const char *name) {
        g_autofree char *path = g_build_filename(g_getenv("CODEWHALE_DATA"), name, NULL);
        g_autoptr(GError) error = NULL;
        char *text = NULL;

        (void) g_file_get_contents(path, &text, NULL, &error);
        g_assert_no_error(error);
        return text;
}

static bool matches(const char *text, const char *format, const char *word) {
        g_autofree char *escaped = g_regex_escape_string(word, -1);
        g_auto(GStrv) parts = g_strsplit(format, "@", 2);
        g_autofree char *pattern = g_strconcat(parts[0], escaped, parts[1], NULL);

        return g_regex_match_simple(pattern, text, G_REGEX_MULTILINE, 0);
}

/* How a verb and an option stand in each document; @ is the word. */
static const struct {
        const char *name, *verb, *option;
} documents[] = {
        { "man/codewhalectl.1", "^\\.It Cm @( |$)", "Fl -?@( |$)" },
        { "completions/codewhalectl.bash", "\\b@\\b", "--@\\b" },
        { "completions/_codewhalectl", "['\"]@:", "--@\\b" },
        { "completions/codewhalectl.fish", "__fish_use_subcommand -a @ ", "-l @ " },
};

static void test_verbs(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(documents); i++) {
                g_autofree char *text = read_document(documents[i].name);

                for (const Verb *verb = verbs_all(); verb->name; verb++) {
                        g_test_message("%s: %s", documents[i].name, verb->name);
                        g_assert_true(matches(text, documents[i].verb, verb->name));
                }
        }
}

static void test_options(void) {
        const Option *options;
        size_t n;

        options = options_table(&n);
        for (size_t i = 0; i < G_N_ELEMENTS(documents); i++) {
                g_autofree char *text = read_document(documents[i].name);
                bool manual = g_str_has_prefix(documents[i].name, "man/");

                for (size_t j = 0; j < n; j++) {
                        g_autofree char *name = g_strconcat(manual ? "-" : "", options[j].name, NULL);

                        g_test_message("%s: --%s", documents[i].name, options[j].name);
                        if (manual)
                                g_assert_true(matches(text, "(Fl @|, @)( |$)", name) ||
                                                matches(text, "Fl (\\w , )?@( |$)", name));
                        else
                                g_assert_true(matches(text, documents[i].option, name));
                }
        }
}

/* No document names an option that does not exist. */
static void test_no_others(void) {
        const Option *options;
        size_t n;

        options = options_table(&n);
        for (size_t i = 0; i < G_N_ELEMENTS(documents); i++) {
                bool fish = g_str_has_suffix(documents[i].name, ".fish"),
                     manual = g_str_has_prefix(documents[i].name, "man/");
                g_autofree char *text = read_document(documents[i].name);
                g_autoptr(GRegex) regex = g_regex_new(manual ? "(?:Fl |, )-([a-z][a-z-]+)"
                                                      : fish ? "^complete .* -l ([a-z-]+)"
                                                             : "--([a-z][a-z-]+)",
                                G_REGEX_MULTILINE, 0, NULL);
                g_autoptr(GMatchInfo) match = NULL;

                for ((void) g_regex_match(regex, text, 0, &match); g_match_info_matches(match);
                                (void) g_match_info_next(match, NULL)) {
                        g_autofree char *name = g_match_info_fetch(match, 1);
                        bool known = false;

                        for (size_t j = 0; j < n; j++)
                                known = known || strcmp(options[j].name, name) == 0;
                        g_test_message("%s: --%s", documents[i].name, name);
                        g_assert_true(known);
                }
        }
}

static void test_exit_statuses(void) {
        static const int statuses[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 130 };
        g_autofree char *text = read_document("man/codewhalectl.1");
        const char *section = strstr(text, ".Sh EXIT STATUS");

        g_assert_nonnull(section);
        for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++) {
                g_autofree char *line = g_strdup_printf("\n.It %d\n", statuses[i]);

                g_assert_nonnull(strstr(section, line));
        }
}

/* Each message that has an id has an entry in the journal's catalog, and stands in the manual. */
static void test_catalog(void) {
        static const char *const ids[] = { MESSAGE_PLUGIN_ACTIVE, MESSAGE_PLUGIN_FAILED,
                MESSAGE_SANDBOX_REFUSED, MESSAGE_PLUGIN_CRASHED, MESSAGE_PLUGIN_LEFT_ALONE, MESSAGE_PLUGIN_LIMIT,
                MESSAGE_DECISION_LOST, MESSAGE_DECISION, MESSAGE_TRUST, MESSAGE_CARD, MESSAGE_GRANT, MESSAGE_POSTURE,
                MESSAGE_ATTEMPT };
        g_autofree char *text = read_document("codewhale-extensions.catalog");
        g_autofree char *manual = read_document("man/codewhale-extensionsd.8");
        size_t entries = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
                g_autofree char *line = g_strdup_printf("\n-- %s\nSubject: ", ids[i]);

                g_test_message("%s", ids[i]);
                g_assert_cmpuint(strlen(ids[i]), ==, 32);
                g_assert_nonnull(strstr(text, line));
                g_assert_nonnull(strstr(manual, ids[i]));
        }
        for (const char *at = strstr(text, "\n-- "); at; at = strstr(at + 1, "\n-- "))
                entries++;
        g_assert_cmpuint(entries, ==, G_N_ELEMENTS(ids));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cli/documents/verbs", test_verbs);
        g_test_add_func("/cli/documents/options", test_options);
        g_test_add_func("/cli/documents/no-others", test_no_others);
        g_test_add_func("/cli/documents/exit-statuses", test_exit_statuses);
        g_test_add_func("/cli/documents/catalog", test_catalog);
        return g_test_run();
}
