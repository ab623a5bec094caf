/* SPDX-License-Identifier: MIT */
#pragma once

/* How rules, mistakes in them and the explanation of a call are shown to a person. */

#include "cli/cli.h"

/** policy_view_show() - what is in force, strictest source first; returns an ExitStatus */
int policy_view_show(const Cli *cli, const char *json);

/**
 * policy_view_check() - the mistakes in a file, one a line as compilers print them; or the report, with --json
 *
 * Return: EXIT_STATUS_USAGE when the file is not valid.
 */
int policy_view_check(const Cli *cli, const char *path, const char *json);

/** policy_view_explain() - the way of a call through the nine layers; returns an ExitStatus */
int policy_view_explain(const Cli *cli, const char *json);
