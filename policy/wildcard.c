/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "policy/wildcard.h"

bool wildcard_is_wild(const char *pattern) {
        return strpbrk(pattern, "*?") != NULL;
}

/* The usual fate of a pattern is to differ at its first letters or at its last one. */
static bool ends_differ(const char *pattern, const char *text) {
        size_t pattern_size = strlen(pattern), text_size = strlen(text);
        char last = pattern_size > 0 ? pattern[pattern_size - 1] : '*';

        return last != '*' && last != '?' &&
               (text_size == 0 || g_ascii_tolower(last) != g_ascii_tolower(text[text_size - 1]));
}

/* A star that fails is tried one byte later: no recursion, at worst pattern times text. */
bool wildcard_match(const char *pattern, const char *text) {
        const char *star = NULL, *star_text = NULL;

        if (*pattern == '*' && ends_differ(pattern, text))
                return false;

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
