/* SPDX-License-Identifier: MIT */
#include "cli/failure.h"
#include "cli/help.h"
#include "cli/nearest.h"
#include "cli/verbs.h"

int verb_help(Cli *cli, int argc, char **argv) {
        const Verb *verb = argc > 1 ? verb_find(argv[1]) : NULL;

        if (argc == 1)
                return help_print(cli);
        if (!verb)
                return verb_refuse_unknown(cli, argv[1]);
        return help_print_verb(cli, verb);
}
