/* SPDX-License-Identifier: MIT */
#include "policy/provenance.h"

#include <glib.h>
#include <string.h>

#define WORD_CHARS_MAX 32

bool provenance_is_valid(const char *word) {
        size_t size = strlen(word);

        return size > 0 && size <= WORD_CHARS_MAX && strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-") == size;
}

bool provenance_has_standing(const char *word) {
        static const char *const standing[] = { "user", "runtime", "sub-agent", NULL };

        return !word || g_strv_contains(standing, word);
}
