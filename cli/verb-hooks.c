/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/verbs.h"
#include "common/cleanup.h"

int verb_hooks(Cli *cli, int argc, char **argv) {
        static const ListingColumn columns[] = {
                { "event", "EVENT" },
                { "plugin", "PLUGIN" },
                { "label", "LABEL" },
                { "handle", "HANDLE" },
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *session = NULL;
        int r;

        (void) argc;
        (void) argv;

        r = client_open_session(cli, &session, &error);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        const CallOption options[] = { { "session", 'o', .text = session }, {} };

        r = client_call_options(cli, ".Hooks", "List", CLIENT_WAIT_SHORT, NULL, options, &reply, &error);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        return listing_print(cli, reply, "ssst", columns, "No listeners.");
}
