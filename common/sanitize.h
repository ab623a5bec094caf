/* SPDX-License-Identifier: MIT */
#pragma once

/* Makes text that a stranger wrote safe to show: valid UTF-8, nothing that moves a cursor, hides, reorders or pretends to
 * be a line of ours. What was dangerous stays visible as an escape such as \x1b or \u{202e}. */

#include <stdbool.h>
#include <stddef.h>

typedef enum SanitizeFlags {
        SANITIZE_ESCAPED = 1 << 0, /* something was escaped or replaced */
        SANITIZE_CUT     = 1 << 1, /* the text was longer than asked for */
} SanitizeFlags;

/**
 * sanitize_line() - one line of display text
 * @text:      bytes that end in NUL; need not be UTF-8
 * @bytes_max: of the result, without its NUL; a longer text is cut on a character and ends in an ellipsis
 * @ret_flags: NULL, or what was done
 *
 * C0 and C1 controls (newline and tab included), bidirectional controls, zero-width and other default-ignorable
 * characters, line and paragraph separators, unassigned and private-use characters are written as escapes.
 *
 * Return: a new string.
 */
char *sanitize_line(const char *text, size_t bytes_max, SanitizeFlags *ret_flags);

/** sanitize_block() - the same, but newlines and tabs stay */
char *sanitize_block(const char *text, size_t bytes_max, SanitizeFlags *ret_flags);

/** sanitize_block_n() - sanitize_block() for @size bytes that may contain NUL */
char *sanitize_block_n(const char *text, size_t size, size_t bytes_max, SanitizeFlags *ret_flags);

/**
 * sanitize_strip() - a multi-line text without terminal escape sequences and control characters
 *
 * For the text of commands and hooks (contract 4.2, 5.8): whole escape sequences are removed, newline and tab stay, other
 * control characters vanish, invalid UTF-8 becomes U+FFFD. No limit is applied. Return: a new string.
 */
char *sanitize_strip(const char *text, size_t size);
