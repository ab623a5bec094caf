/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "common/cleanup.h"

static int grants_revoke(Cli *cli, const char *id) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        r = client_call(cli, ".Grants", "Revoke", CLIENT_WAIT_SHORT, NULL, &error, "s", id);
        if (r < 0)
                return failure_report(cli, r, &error, id);

        if (cli_has(cli, OPTION_JSON))
                return output_json("{}");
        note_say("Revoked. The next such call asks again.");
        return EXIT_STATUS_OK;
}

int verb_grants(Cli *cli, int argc, char **argv) {
        static const ListingColumn columns[] = {
                { "id", "ID" },
                { "session", "SESSION" },
                { "plugin", "PLUGIN" },
                { "tool", "TOOL" },
                { "scope", "SCOPE" },
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        if (argc == 3 && strcmp(argv[1], "revoke") == 0)
                return grants_revoke(cli, argv[2]);
        if (argc > 1)
                return failure_usage(cli, "grants takes nothing, or: revoke ID.");

        r = client_call(cli, ".Grants", "List", CLIENT_WAIT_SHORT, &reply, &error, NULL);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        return listing_print(
                        cli, reply, "sssss", columns, "No grants: every call that needs approval asks.");
}
