/* SPDX-License-Identifier: MIT */
#include "cli/plugin-change.h"
#include "cli/verbs.h"

int verb_uninstall(Cli *cli, int argc, char **argv) {
        (void) argc;

        return plugin_change(cli, "Uninstall", argv[1], "Uninstalled {}. What it stored is kept.");
}
