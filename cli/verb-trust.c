/* SPDX-License-Identifier: MIT */
#include "cli/bundle-job.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/polkit-agent.h"
#include "cli/review.h"
#include "cli/verbs.h"
#include "common/cleanup.h"

/* Without the token this only shows the review (contract 2.3): what is trusted is what somebody could read.
 */
int verb_trust(Cli *cli, int argc, char **argv) {
        const char *const words[] = { argv[1], argc < 3 ? NULL : argv[2], NULL };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        PolkitAgent agent = {};
        int r;

        if (argc < 3)
                return review_print(cli, argv[1]);

        polkit_agent_open(&agent);
        r = bundle_job_change(cli, "Trust", words, &error);
        polkit_agent_close(&agent);
        if (r < 0)
                return failure_report(cli, r, &error, argv[1]);

        if (cli_has(cli, OPTION_JSON))
                return output_json("{}");
        note_say("Trusted. It is still disabled; to let it run: codewhalectl enable %s", argv[1]);
        return EXIT_STATUS_OK;
}
