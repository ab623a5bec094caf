/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/verbs.h"
#include "common/cleanup.h"

int verb_approvers(Cli *cli, int argc, char **argv) {
        static const ListingColumn columns[] = {
                { "name", "NAME" },
                { "program", "PROGRAM" },
                { "unit", "UNIT" },
                { "label", "CALLS ITSELF" },
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        (void) argc;
        (void) argv;

        r = client_call(cli, ".Approvals", "ListApprovers", CLIENT_WAIT_SHORT, &reply, &error, NULL);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        return listing_print(cli, reply, "ssss", columns, "Nobody is there to answer. In a terminal: codewhalectl approve --watch");
}
