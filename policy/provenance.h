/* SPDX-License-Identifier: MIT */
#pragma once

/* Where the wish for a call came from, as its caller tells (contract 5.5.2). Saying "user" gains nothing that saying nothing
 * would not; whoever knows better and says so has the posture narrowed for that call. */

#include <stdbool.h>

/**
 * provenance_is_valid() - a word of 1 to 32 lower-case letters, digits and dashes
 *
 * Known are user, runtime and sub-agent; every other word, such as web, file or tool-output, has no standing.
 */
bool provenance_is_valid(const char *word);

/** provenance_has_standing() - whether Auto-Review and Full Access count for it; NULL is the user */
bool provenance_has_standing(const char *word);
