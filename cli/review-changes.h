/* SPDX-License-Identifier: MIT */
#pragma once

/* What changed since the last review, as a part of the review's page: one line a file, and below it the lines of a text. */

#include <glib.h>

#include "cli/cli.h"
#include "common/jdoc.h"

/** review_changes_append() - append the member "changes" of a review document */
void review_changes_append(const Cli *cli, GString *page, Jval changes);
