/* SPDX-License-Identifier: MIT */
#include "cli/plugin-change.h"
#include "cli/verbs.h"

int verb_disable(Cli *cli, int argc, char **argv) {
        (void) argc;

        return plugin_change(
                        cli, "Disable", argv[1], "Disabled {}. It stays trusted; what it stored is kept.");
}
