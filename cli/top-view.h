/* SPDX-License-Identifier: MIT */
#pragma once

/* A sample as a page of text. */

#include "cli/top-sample.h"

/**
 * top_view_render() - append the page, made safe to show
 * @columns: how wide the screen is; what a narrow one has no room for is left out. 0: as wide as it gets
 * @rows:    how high the screen is: the last one says which keys there are, and what has no room is counted. 0: no screen, all of it
 */
void top_view_render(const Cli *cli, const TopSample *sample, TopOrder order, unsigned columns, unsigned rows,
                GString *out);

/** top_view_bytes() - a number of bytes in at most six characters, such as 17.5M; a new string */
char *top_view_bytes(uint64_t bytes);

/** top_view_age() - a span of time in at most six characters, such as 4m12s or 3d02h; a new string */
char *top_view_age(uint64_t usec);
