/* SPDX-License-Identifier: MIT */
#pragma once

/* What a person names to install from: a path of this machine, or something that has to be fetched. */

#include <stdbool.h>

#include "cli/cli.h"

/** source_resolve() - a path made absolute, anything with a scheme as it is; a new string */
char *source_resolve(const char *word);

/**
 * source_may_fetch() - whether the service may fetch @source
 *
 * Yes with --allow-network; else the person is asked, where there is one and there is something to fetch.
 */
bool source_may_fetch(const Cli *cli, const char *source);

/** source_ask() - the question for something that must be fetched, whatever it is called */
bool source_ask(const Cli *cli, const char *what);
