/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/session-word.h"
#include "cli/verbs.h"
#include "common/cleanup.h"

int verb_sessions(Cli *cli, int argc, char **argv) {
        static const ListingColumn columns[] = {
                { "path", "SESSION", session_word_to_id },
                { "label", "LABEL" },
                { "workspace", "WORKSPACE" },
                { "mode", "MODE" },
                { "posture", "POSTURE" },
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        (void) argc;
        (void) argv;

        r = client_call(cli, ".Sessions", "List", CLIENT_WAIT_SHORT, &reply, &error, NULL);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        return listing_print(cli, reply, "ossss", columns, "No sessions are open.");
}
