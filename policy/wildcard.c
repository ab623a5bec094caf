/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "policy/wildcard.h"

bool wildcard_is_wild(const char *pattern) {
        return strpbrk(pattern, "*?") != NULL;
}

/* A star that fails is tried one byte later: no recursion, at worst pattern times text. */
bool wildcard_match(const char *pattern, const char *text) {
        const char *star = NULL, *star_text = NULL;

        while (*text != '\0') {
                if (*pattern == '*') {
                        star = ++pattern;
                        star_text = text;
                } else if (*pattern != '\0' &&
                                (*pattern == '?' || g_ascii_tolower(*pattern) == g_ascii_tolower(*text))) {
                        pattern++;
                        text++;
                } else if (star) {
                        pattern = star;
                        text = ++star_text;
                } else
                        return false;
        }
        while (*pattern == '*')
                pattern++;
        return *pattern == '\0';
}
