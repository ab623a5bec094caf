/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session-word.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "cli/when.h"
#include "common/cleanup.h"
#include "common/limits.h"

#define LIMIT_DEFAULT 50u

static char *record_time(Jval record) {
        uint64_t usec;

        return jval_uint64(jval_member(record, "time"), &usec) >= 0 ? when_format(usec) : g_strdup("-");
}

/* What was decided, and how it ended where that was not well: "allowed: Timeout" */
static char *record_outcome(Jval record) {
        g_autofree char *outcome = view_scalar(jval_member(record, "outcome"));
        Jval result = jval_member(record, "result");
        g_autofree char *end = jval_is(result, J_ABSENT) || jval_equals_text(result, "ok") ? NULL : view_scalar(result);

        return end ? g_strdup_printf("%s: %s", outcome, end) : g_steal_pointer(&outcome);
}

static int print_records(const Cli *cli, const char *json) {
        static const char *const headings[] = { "TIME", "KIND", "OUTCOME", "PLUGIN", "TOOL", "CALL", NULL };
        g_autoptr(Table) table = table_new(headings);
        g_autoptr(GString) page = g_string_new(NULL);
        g_autoptr(Jdoc) doc = view_parse(json);
        Jval key, item;
        JIter iter;

        if (!doc)
                return EXIT_STATUS_FAILURE;

        iter = jval_iterate(jdoc_root(doc));
        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *time = record_time(item);
                g_autofree char *kind = view_scalar(jval_member(item, "kind"));
                g_autofree char *outcome = record_outcome(item);
                g_autofree char *plugin = view_scalar(jval_member(item, "plugin"));
                g_autofree char *tool = view_scalar(jval_member(item, "tool"));
                g_autofree char *call = view_scalar(jval_member(item, "call"));
                const char *cells[] = { time, kind, outcome, plugin, tool, call };

                table_add(table, cells);
        }
        if (table_rows(table) == 0) {
                note_say("No decisions.");
                return EXIT_STATUS_OK;
        }

        table_render(table, cli, 0, page);
        return output_page(cli, page->str);
}

static int read_time(const Cli *cli, OptionId id, uint64_t *ret_usec) {
        if (!cli->options[id])
                return 0;
        return when_parse(cli->options[id], (uint64_t) g_get_real_time(), ret_usec);
}

int verb_decisions(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        uint64_t since = 0, until = 0, limit = 0;
        g_autofree char *wrong = NULL, *session = NULL;
        const char *json = NULL;
        int r;

        (void) argc;
        (void) argv;

        if (option_number(cli, OPTION_LIMIT, 1, DECISION_QUERY_MAX, LIMIT_DEFAULT, &limit, &wrong) < 0)
                return failure_usage(cli, "%s", wrong);
        if (read_time(cli, OPTION_SINCE, &since) < 0 || read_time(cli, OPTION_UNTIL, &until) < 0)
                return failure_usage(
                                cli, "A time is an age such as 10m, 2h or 3d, or like 2026-01-31T12:00:00.");

        if (cli->options[OPTION_SESSION])
                session = session_word_to_id(cli->options[OPTION_SESSION]);
        const CallOption options[] = {
                { "since-usec", 't', .number = since },
                { "until-usec", 't', .number = until },
                { "plugin", 's', .text = cli->options[OPTION_PLUGIN] },
                { "tool", 's', .text = cli->options[OPTION_TOOL] },
                { "outcome", 's', .text = cli->options[OPTION_OUTCOME] },
                { "kind", 's', .text = cli->options[OPTION_KIND] },
                { "session", 's', .text = session },
                { "limit", 'u', .number = limit },
                {},
        };

        r = client_call_options(
                        cli, ".Decisions", "Query", CLIENT_WAIT_SHORT, NULL, options, &reply, &error);
        if (r >= 0)
                r = sd_bus_message_read(reply, "s", &json);
        if (r < 0)
                return failure_report(cli, r, &error, cli->options[OPTION_PLUGIN]);

        return cli_has(cli, OPTION_JSON) ? output_json(json) : print_records(cli, json);
}
