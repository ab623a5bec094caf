/* SPDX-License-Identifier: MIT */
#include "cli/review.h"
#include "cli/verbs.h"

int verb_review(Cli *cli, int argc, char **argv) {
        (void) argc;

        return review_print(cli, argv[1]);
}
