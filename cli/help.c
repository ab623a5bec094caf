/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/view.h"

#define LEFT_COLUMNS 34

static const struct {
        ExitStatus status;
        const char *words;
} statuses[] = {
        { EXIT_STATUS_OK, "it worked" },
        { EXIT_STATUS_FAILURE, "it failed in a way that has no number of its own" },
        { EXIT_STATUS_USAGE, "the command line is wrong, or the tool does not take these arguments" },
        { EXIT_STATUS_NOT_FOUND, "there is no such plugin, tool, command, card, key …" },
        { EXIT_STATUS_REFUSED, "a rule, a hook or a person said no" },
        { EXIT_STATUS_UNREACHABLE, "the service cannot be reached" },
        { EXIT_STATUS_PLUGIN_FAILED, "the plugin failed: its code, its host, its time" },
        { EXIT_STATUS_WRONG_STATE, "the bundle or card is not in the state for it: invalid, not trusted, "
                                   "changed, not active" },
        { EXIT_STATUS_UNANSWERED,
                        "nobody decided: no approver there, no answer in time, question withdrawn" },
        { EXIT_STATUS_INTERRUPTED, "cancelled with Ctrl-C" },
};

static void append_line(GString *page, const char *left, const char *right) {
        int pad = LEFT_COLUMNS - (int) text_width(left);

        if (pad > 0)
                g_string_append_printf(page, "  %s%*s%s\n", left, pad, "", right);
        else
                g_string_append_printf(page, "  %s\n  %*s%s\n", left, LEFT_COLUMNS, "", right);
}

static void append_option(GString *page, const Option *option) {
        g_autoptr(GString) left = g_string_new(NULL);

        if (option->letter)
                g_string_append_printf(left, "-%c, ", option->letter);
        else
                g_string_append(left, "    ");
        g_string_append_printf(left, "--%s", option->name);
        if (option->argument)
                g_string_append_printf(left, "=%s", option->argument);
        append_line(page, left->str, option->help);
}

static void append_options(GString *page, const char *verb) {
        const Option *options;
        size_t n;

        options = options_table(&n);
        for (size_t i = 0; i < n; i++)
                if (verb ? options[i].verbs && option_is_for(&options[i], verb) : !options[i].verbs)
                        append_option(page, &options[i]);
}

static bool has_options(const char *verb) {
        const Option *options;
        size_t n;

        options = options_table(&n);
        for (size_t i = 0; i < n; i++)
                if (options[i].verbs && option_is_for(&options[i], verb))
                        return true;

        return false;
}

static void append_statuses(const Cli *cli, GString *page) {
        view_heading(cli, page, "Exit status");
        for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++)
                g_string_append_printf(page, "  %-4d%s\n", (int) statuses[i].status, statuses[i].words);
}

int help_print(const Cli *cli) {
        g_autoptr(GString) page = g_string_new(
                        "codewhalectl [OPTION...] VERB [ARGUMENT...]\n"
                        "Talks to the service that installs, reviews, runs and asks about extensions.\n");

        for (const Verb *verb = verbs_all(); verb->name; verb++) {
                g_autofree char *left = g_strdup_printf(
                                "%s%s%s", verb->name, *verb->arguments ? " " : "", verb->arguments);

                if (verb->group)
                        view_heading(cli, page, verb->group);
                append_line(page, left, verb->help);
        }

        view_heading(cli, page, "Options");
        append_options(page, NULL);
        g_string_append(page, "  More for single verbs: codewhalectl VERB --help\n");
        append_statuses(cli, page);
        return output_page(cli, page->str);
}

int help_print_verb(const Cli *cli, const Verb *verb) {
        g_autoptr(GString) page = g_string_new(NULL);

        g_string_append_printf(page, "codewhalectl [OPTION...] %s%s%s\n%s.\n", verb->name,
                        *verb->arguments ? " " : "", verb->arguments, verb->help);
        if (verb->more)
                g_string_append_printf(page, "\n%s\n", verb->more);
        if (has_options(verb->name)) {
                view_heading(cli, page, "Options");
                append_options(page, verb->name);
        }
        view_heading(cli, page, "Options of every verb");
        append_options(page, NULL);
        return output_page(cli, page->str);
}
