/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

int verb_status(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;
        int r;

        (void) argc;
        (void) argv;

        r = client_call_text(cli, "", "Describe", CLIENT_WAIT_SHORT, &json, &error, NULL);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        return view_print(cli, json);
}
