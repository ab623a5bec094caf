/* SPDX-License-Identifier: MIT */
#pragma once

/* Patterns for names in rules: "*" stands for any text, "?" for one byte; ASCII case is ignored. */

#include <stdbool.h>

bool wildcard_is_wild(const char *pattern);
bool wildcard_match(const char *pattern, const char *text);
