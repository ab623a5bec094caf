/* SPDX-License-Identifier: MIT */
/* codewhalectl: the service's D-Bus interface for people and scripts. It can do nothing that the bus can't.
 */

#include <locale.h>
#include <signal.h>
#include <stdio.h>

#include "cli/failure.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "common/cleanup.h"
#include "common/errors.h"

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Cli, cli_done)

static int run(Cli *cli, int argc, char **argv) {
        const Verb *verb = argc > 0 ? verb_find(argv[0]) : NULL;

        if (cli_has(cli, OPTION_VERSION))
                return output_text("codewhalectl " PROJECT_VERSION);
        if (cli_has(cli, OPTION_HELP))
                return verb       ? help_print_verb(cli, verb)
                       : argc > 0 ? verb_refuse_unknown(cli, argv[0])
                                  : help_print(cli);
        if (argc == 0)
                return failure_usage(cli, "What shall it do? codewhalectl --help lists the verbs; "
                                          "codewhalectl status is a good first one.");

        return verb_run(cli, argc, argv);
}

int main(int argc, char **argv) {
        g_autofree char **words = NULL;
        g_autofree char *wrong = NULL;
        g_auto(Cli) cli = {};
        int n = 0;

        (void) setlocale(LC_ALL, "");
        (void) signal(SIGPIPE, SIG_IGN);
        (void) errors_register();

        if (options_parse(argc, argv, cli.options, &words, &n, &wrong) < 0 ||
                        options_apply(&cli, isatty(STDOUT_FILENO), &wrong) < 0)
                return failure_usage(&cli, "%s", wrong);

        return run(&cli, n, words);
}
