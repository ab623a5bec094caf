/* SPDX-License-Identifier: MIT */
#pragma once

/* Finds what somebody meant who mistyped a word. */

#include <stddef.h>

#define NEAREST_WORD_BYTES_MAX 64u

/**
 * nearest_distance() - how many slips lie between two words: a wrong, missing or extra byte or two that
 * changed places
 *
 * Words longer than NEAREST_WORD_BYTES_MAX are not compared. Return: the number; SIZE_MAX for a word that is
 * too long.
 */
size_t nearest_distance(const char *a, const char *b);

/**
 * nearest_word() - the candidate that is most like @word
 * @candidates: words, ended by NULL
 *
 * A candidate that begins with @word (two bytes or more) counts as near; otherwise at most a third of the
 * letters may be wrong. Of two that are equally near the first one wins. Return: one of the candidates,
 * borrowed; NULL when none is near enough.
 */
const char *nearest_word(const char *word, const char *const *candidates);
