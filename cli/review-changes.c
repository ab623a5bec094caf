/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/output.h"
#include "cli/review-changes.h"
#include "cli/view.h"
#include "cli/when.h"
#include "common/cleanup.h"

static Style style_of_change(const char *change) {
        if (g_strcmp0(change, "added") == 0)
                return STYLE_GOOD;
        return g_strcmp0(change, "removed") == 0 ? STYLE_BAD : STYLE_WARNING;
}

static Style style_of_line(const char *line) {
        if (line[0] == '+')
                return STYLE_GOOD;
        if (line[0] == '-')
                return STYLE_BAD;
        return line[0] == '@' ? STYLE_DIM : STYLE_PLAIN;
}

/* The service made the text safe; it is made so again, because this is the terminal. */
static void append_diff(const Cli *cli, GString *page, const char *diff) {
        g_auto(GStrv) lines = g_strsplit(diff, "\n", -1);

        for (size_t i = 0; lines[i]; i++) {
                if (!*lines[i] && !lines[i + 1])
                        break;
                g_string_append(page, "      ");
                style_append(cli, page, style_of_line(lines[i]), lines[i]);
                g_string_append_c(page, '\n');
        }
}

static void append_sizes(GString *page, Jval item) {
        uint64_t before = 0, after = 0;
        bool was = jval_uint64(jval_member(jval_member(item, "before"), "size"), &before) >= 0;
        bool is = jval_uint64(jval_member(jval_member(item, "after"), "size"), &after) >= 0;

        if (was && is && before != after)
                g_string_append_printf(page, "  (%" G_GUINT64_FORMAT " bytes, were %" G_GUINT64_FORMAT ")", after, before);
        else if (was || is)
                g_string_append_printf(page, "  (%" G_GUINT64_FORMAT " bytes)", is ? after : before);
}

static const char *words_of_change(const char *change, Jval item) {
        bool executable = false;

        if (g_strcmp0(change, "mode") != 0)
                return change;
        (void) jval_boolean(jval_member(jval_member(item, "after"), "executable"), &executable);
        return executable ? "executable" : "not executable";
}

static void append_path(GString *page, Jval item) {
        g_autofree char *path = view_scalar(jval_member(item, "path"));
        bool directory = false;

        (void) jval_boolean(jval_member(item, "directory"), &directory);
        g_string_append_printf(page, "%s%s", path, directory ? "/" : "");
}

static void append_file(const Cli *cli, GString *page, Jval item) {
        g_autofree char *change = view_scalar(jval_member(item, "change"));

        g_string_append(page, "  ");
        style_append(cli, page, style_of_change(change), words_of_change(change, item));
        g_string_append(page, "  ");
        append_path(page, item);
        append_sizes(page, item);
        if (cli_has(cli, OPTION_DIFF) && g_strcmp0(change, "modified") == 0 && !jval_text(jval_member(item, "diff")))
                g_string_append(page, "  not shown by line: it is no text, or too much of it");
        g_string_append_c(page, '\n');
}

static void append_lines(const Cli *cli, GString *page, Jval item) {
        const char *diff = jval_text(jval_member(item, "diff"));

        if (!diff)
                return;
        g_string_append_printf(page, "\n  %s", style_on(cli, STYLE_BOLD));
        append_path(page, item);
        g_string_append_printf(page, "%s\n", style_on(cli, STYLE_PLAIN));
        append_diff(cli, page, diff);
}

/* All names first: a thousand lines of one file must not hide that another one changed, too. */
static void append_files(const Cli *cli, GString *page, Jval files) {
        JIter iter = jval_iterate(files);
        Jval key, item;

        while (jiter_next(&iter, &key, &item))
                append_file(cli, page, item);
        iter = jval_iterate(files);
        while (jiter_next(&iter, &key, &item))
                append_lines(cli, page, item);
        if (jval_length(files) > 0 && !cli_has(cli, OPTION_DIFF))
                g_string_append(page, "  With --diff the lines of text files that changed are shown.\n");
}

static void append_names(const Cli *cli, GString *page, Jval names, const char *words, Style style) {
        JIter iter = jval_iterate(names);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *name = view_scalar(item);

                g_string_append(page, "  ");
                style_append(cli, page, style, words);
                g_string_append_printf(page, "  %s\n", name);
        }
}

static void append_review(GString *page, Jval changes) {
        g_autofree char *by = view_scalar(jval_member(changes, "confirmed_by"));
        uint64_t seconds;

        if (jval_uint64(jval_member(changes, "reviewed_at"), &seconds) >= 0 && seconds < UINT64_MAX / 1000000) {
                g_autofree char *time = when_format(seconds * 1000000);

                g_string_append_printf(page, "  Last reviewed: %s, confirmed by %s\n", time, by);
        }
}

void review_changes_append(const Cli *cli, GString *page, Jval changes) {
        static const char *const elsewhere[] = { "reviewed_at", "confirmed_by", "same", "capabilities_added",
                "capabilities_removed", "files", NULL };
        bool same = false;

        append_review(page, changes);
        (void) jval_boolean(jval_member(changes, "same"), &same);
        if (same)
                g_string_append(page, "  Nothing changed since.\n");
        append_names(cli, page, jval_member(changes, "capabilities_added"), "asks for now", STYLE_WARNING);
        append_names(cli, page, jval_member(changes, "capabilities_removed"), "asks no more for", STYLE_GOOD);
        append_files(cli, page, jval_member(changes, "files"));
        view_append(cli, page, changes, 2, elsewhere);
}
