/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * line_diff() - the difference of two texts by lines, as a unified diff without file names
 *
 * Three lines of context. Equal texts give "". Texts with more than LINE_DIFF_LINES_MAX lines, or that differ in more than
 * LINE_DIFF_EDITS_MAX of them, are shown as all old lines and all new lines of the part that differs.
 * Return: a new string.
 */
char *line_diff(const char *before, const char *after);

#define LINE_DIFF_LINES_MAX 8000
#define LINE_DIFF_EDITS_MAX 500
