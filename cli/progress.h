/* SPDX-License-Identifier: MIT */
#pragma once

/* While a call waits: says on a terminal that a person is being asked, and how that ended. */

#include <glib.h>

#include "cli/cli.h"

typedef struct Progress Progress;

/**
 * progress_new() - watch for cards about a call of @name
 *
 * Return: NULL when standard error is no terminal or the cards can't be watched: then there is nothing to
 * show.
 */
Progress *progress_new(Cli *cli, const char *name);
Progress *progress_free(Progress *progress);
