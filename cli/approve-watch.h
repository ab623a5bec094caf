/* SPDX-License-Identifier: MIT */
#pragma once

/* An approver in a terminal: shows card after card and takes one key for each. */

#include "cli/cli.h"

/** approve_watch() - stay until q, Ctrl-C or the end of the bus; returns an ExitStatus */
int approve_watch(Cli *cli);
