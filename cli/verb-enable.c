/* SPDX-License-Identifier: MIT */
#include "cli/bundle-job.h"
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/review.h"
#include "cli/verbs.h"
#include "common/cleanup.h"
#include "common/errors.h"

static int print_enabled(Cli *cli, const char *plugin) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;

        if (!cli_has(cli, OPTION_JSON)) {
                note_say("Enabled %s. What it brought: codewhalectl tools, codewhalectl commands", plugin);
                return EXIT_STATUS_OK;
        }
        if (client_call_text(cli, ".Plugins", "Describe", CLIENT_WAIT_SHORT, &json, &error, "s", plugin) < 0)
                return output_json("{}");
        return output_json(json);
}

/* Enabling what nobody trusted shows the review and enables nothing (contract 2.1, 2.10). */
int verb_enable(Cli *cli, int argc, char **argv) {
        const char *const words[] = { argv[1], NULL };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        (void) argc;

        r = bundle_job_change(cli, "Enable", words, &error);
        if (r >= 0)
                return print_enabled(cli, argv[1]);

        if (!cli_has(cli, OPTION_JSON) &&
                        (sd_bus_error_has_name(&error, ERROR_NOT_TRUSTED) ||
                                        sd_bus_error_has_name(&error, ERROR_CONTENT_CHANGED) ||
                                        sd_bus_error_has_name(&error, ERROR_CAPABILITIES_CHANGED)))
                (void) review_print(cli, argv[1]);
        return failure_report(cli, r, &error, argv[1]);
}
