/* SPDX-License-Identifier: MIT */
#pragma once

/* Foreign text in rows that fit. A terminal breaks a long line by itself and begins the next row at its left edge, where
 * only lines of ours stand: a plugin could write one of them there. */

#include <glib.h>

/**
 * wrap_append() - append text, each row behind @first or @more
 * @text:    @size bytes, made safe here
 * @columns: of the terminal; 0: lines are left whole
 *
 * Rows end behind a blank where that leaves no more than half of them empty; nothing is left out. Tabs become blanks. A character that may take two columns is counted as two.
 */
void wrap_append(GString *out, const char *first, const char *more, const char *text, size_t size, unsigned columns);

/** wrap_cut() - the beginning of a safe line that fits one row, with an ellipsis when that is not all; a new string */
char *wrap_cut(const char *line, unsigned columns);
