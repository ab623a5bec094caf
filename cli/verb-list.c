/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/verbs.h"
#include "common/cleanup.h"

int verb_list(Cli *cli, int argc, char **argv) {
        static const ListingColumn columns[] = {
                { "id", "ID" },
                { "path", NULL },
                { "name", "NAME" },
                { "version", "VERSION" },
                { "state", "STATE" },
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *workspace = NULL;
        int r;

        (void) argc;
        (void) argv;

        if (cli_has(cli, OPTION_WORKSPACE))
                workspace = g_canonicalize_filename(cli->options[OPTION_WORKSPACE], NULL);

        const CallOption options[] = { { "workspace", 's', .text = workspace }, {} };

        r = client_call_options(cli, ".Plugins", "List", CLIENT_WAIT_SHORT, NULL, options, &reply, &error);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        return listing_print(cli, reply, "sosss", columns,
                        "No bundles. Put one there with: codewhalectl install FOLDER");
}
