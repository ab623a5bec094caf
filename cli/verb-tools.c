/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

static int print_tool(const Cli *cli, const char *json) {
        static const char *const below[] = { "input_schema", NULL };
        g_autoptr(GString) page = g_string_new(NULL);
        g_autofree char *schema = NULL;
        g_autoptr(Jdoc) doc = NULL;

        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;

        view_append(cli, page, jdoc_root(doc), 0, below);
        schema = view_json(jval_member(jdoc_root(doc), "input_schema"));
        view_heading(cli, page, "Arguments (JSON Schema)");
        g_string_append_printf(page, "%s\n", schema);
        return output_page(cli, page->str);
}

int verb_tools(Cli *cli, int argc, char **argv) {
        static const ListingColumn columns[] = {
                { "name", "NAME" },
                { "plugin", "PLUGIN" },
                { "description", "DESCRIPTION" },
        };
        const char *words[] = { argc > 1 ? argv[1] : NULL, NULL };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *session = NULL;
        const char *json = NULL;
        int r;

        r = client_open_session(cli, &session, &error);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        const CallOption options[] = { { "session", 'o', .text = session }, {} };

        r = client_call_options(cli, ".Tools", argc > 1 ? "Describe" : "List", CLIENT_WAIT_SHORT, words,
                        options, &reply, &error);
        if (r >= 0 && argc > 1)
                r = sd_bus_message_read(reply, "s", &json);
        if (r < 0)
                return failure_report(cli, r, &error, argc > 1 ? argv[1] : NULL);

        return json ? print_tool(cli, json)
                    : listing_print(cli, reply, "sss", columns,
                                      "No tools. They come with plugins that are active: codewhalectl list");
}
