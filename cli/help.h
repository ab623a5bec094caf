/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/verbs.h"

/** help_print() - --help: all verbs, the options for all of them, the exit statuses; returns an ExitStatus
 */
int help_print(const Cli *cli);

/** help_print_verb() - VERB --help */
int help_print_verb(const Cli *cli, const Verb *verb);
