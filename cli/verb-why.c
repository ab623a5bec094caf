/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

/* What happened in sentences first, then the record that they were made from. */
static void append_story(GString *page, Jval story) {
        JIter iter = jval_iterate(story);
        Jval key, item;

        if (jval_is(story, J_STRING)) {
                size_t size;
                const char *text = jval_string(story, &size);
                g_autofree char *block = sanitize_block_n(text, size, OUTPUT_TEXT_BYTES_MAX, NULL);

                g_string_append_printf(page, "%s%s", block, g_str_has_suffix(block, "\n") ? "" : "\n");
                return;
        }
        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *line = view_scalar(item);

                g_string_append_printf(page, "%s\n", line);
        }
}

/* What became of it, in one line above all that led to it. */
static void append_headline(const Cli *cli, GString *page, Jval record) {
        static const char *const members[] = { "kind", "call", "tool", "plugin", "outcome", "result" };
        static const char *const before[] = { "", " ", ": ", " of ", ": ", "; it ended with: " };
        g_autoptr(GString) line = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
                Jval value = jval_member(record, members[i]);
                g_autofree char *text = view_scalar(value);

                if (!jval_is(value, J_ABSENT))
                        g_string_append_printf(line, "%s%s", before[i], text);
        }
        view_heading(cli, page, line->str);
}

int verb_why(Cli *cli, int argc, char **argv) {
        /* Told in the sentences; --json has them as they are. */
        static const char *const above[] = { "story", "related", "time", "duration_usec", NULL };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(GString) page = g_string_new(NULL);
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        int r;

        (void) argc;

        r = client_call_text(cli, ".Decisions", "Get", CLIENT_WAIT_SHORT, &json, &error, "s", argv[1]);
        if (r < 0)
                return failure_report(cli, r, &error, argv[1]);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;

        append_headline(cli, page, jdoc_root(doc));
        append_story(page, jval_member(jdoc_root(doc), "story"));
        view_heading(cli, page, "Record");
        view_append(cli, page, jdoc_root(doc), 2, above);
        return output_page(cli, page->str);
}
