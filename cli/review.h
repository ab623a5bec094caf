/* SPDX-License-Identifier: MIT */
#pragma once

/* The review of a bundle as a page for a person, and the command that trusts exactly what it shows. */

#include "cli/cli.h"
#include "common/jdoc.h"

/**
 * review_print() - get the review and print it
 * @plugin: id or name as it was typed, which is how the printed command names it too
 *
 * Return: an ExitStatus.
 */
int review_print(Cli *cli, const char *plugin);

/** review_page() - the page for a review document; a new string */
char *review_page(const Cli *cli, Jval review, const char *plugin);

/** review_preview_page() - the same for what is not installed yet; it ends in the command that installs exactly that */
char *review_preview_page(const Cli *cli, Jval review, const char *source);
