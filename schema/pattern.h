/* SPDX-License-Identifier: MIT */
#pragma once

/* A regular expression with the meaning that ECMAScript gives it (with the "u" flag), matched within a budget. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Pattern Pattern;

/**
 * pattern_compile() - compile an expression
 * @text:       UTF-8, may contain NUL
 * @ret_reason: why it was refused: a new string
 *
 * Return: 0; -E2BIG over SCHEMA_PATTERN_BYTES_MAX; -EINVAL.
 */
int pattern_compile(const char *text, size_t size, Pattern **ret, char **ret_reason);

Pattern *pattern_free(Pattern *pattern);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pattern, pattern_free)

/** pattern_memory() - how many bytes the compiled expression takes */
size_t pattern_memory(const Pattern *pattern);

/**
 * pattern_match() - whether the expression occurs in a text
 * @subject: valid UTF-8
 *
 * Return: 1 yes, 0 no, -EDQUOT when the budget ended first.
 */
int pattern_match(const Pattern *pattern, const char *subject, size_t size);

/**
 * regex_translate() - the expression in the language of PCRE2
 *
 * Return: 0 and a new string in @ret of @ret_size bytes; -EINVAL and a static text in @ret_reason when it is no
 * expression with the "u" flag.
 */
int regex_translate(const char *text, size_t size, char **ret, size_t *ret_size, const char **ret_reason);
