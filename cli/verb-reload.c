/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "common/cleanup.h"

int verb_reload(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        (void) argc;
        (void) argv;

        r = client_call(cli, "", "Reload", CLIENT_WAIT_PERSON, NULL, &error, NULL);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        if (cli_has(cli, OPTION_JSON))
                return output_json("{}");
        note_say("Read the configuration and all bundles again.");
        return EXIT_STATUS_OK;
}
