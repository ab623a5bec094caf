/* SPDX-License-Identifier: MIT */
#pragma once

/* The payload that lets the launcher execute the runtime: exactly these bytes, in one frame */
#define LAUNCHER_GO_PAYLOAD "{\"jsonrpc\":\"2.0\",\"method\":\"launcher/go\",\"params\":{}}"

/* Its one option when it is no launcher but a lifeline (sandbox/lifeline.h): it reads until its standard input ends */
#define LIFELINE_OPTION "--lifeline"

/* The launcher's exit statuses. They stay clear of those of the host (0, 64, 65, 70, 78: contract 3.15), of
 * shells and of systemd (200 to 245), because the host runs in the same process later. */
enum {
        LAUNCHER_EXIT_USAGE = 180,   /* unusable command line */
        LAUNCHER_EXIT_FRAME = 181,   /* what it was sent is not the one frame launcher/go */
        LAUNCHER_EXIT_SETUP = 182,   /* capabilities, limits or filter could not be set */
        LAUNCHER_EXIT_CHANNEL = 183, /* the report could not be sent, or the service went away */
        LAUNCHER_EXIT_REFUSED = 184, /* a required check failed; the report was sent */
        LAUNCHER_EXIT_EXEC = 185,    /* the runtime could not be executed */
};
