/* SPDX-License-Identifier: MIT */
#pragma once

/* A second, smaller engine for the expressions that people mostly write in schemas: characters, classes, groups,
 * alternatives and repetitions, perhaps tied to the ends of the text. It follows all possibilities at once, one step a
 * character, and so is never slow. */

#include <stddef.h>

typedef struct PatternSimple PatternSimple;

/** pattern_simple_compile() - -ENOTSUP when the expression is not simple; it must be one that regex_translate() accepts */
int pattern_simple_compile(const char *text, size_t size, PatternSimple **ret);

/** pattern_simple_memory() - bytes of any compiled expression */
size_t pattern_simple_memory(void);

PatternSimple *pattern_simple_free(PatternSimple *pattern);

/** pattern_simple_match() - 1 when it occurs in the text, 0 when not */
int pattern_simple_match(const PatternSimple *pattern, const char *subject, size_t size);
