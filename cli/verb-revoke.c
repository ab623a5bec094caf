/* SPDX-License-Identifier: MIT */
#include "cli/plugin-change.h"
#include "cli/verbs.h"

int verb_revoke(Cli *cli, int argc, char **argv) {
        (void) argc;

        return plugin_change(cli, "Revoke", argv[1],
                        "Took the trust in {} back. It runs no more until it is reviewed and trusted "
                        "again.");
}
