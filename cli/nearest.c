/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdint.h>
#include <string.h>

#include "cli/nearest.h"

static size_t min3(size_t a, size_t b, size_t c) {
        return MIN(MIN(a, b), c);
}

size_t nearest_distance(const char *a, const char *b) {
        size_t rows[3][NEAREST_WORD_BYTES_MAX + 1];
        size_t a_size = strlen(a), b_size = strlen(b);
        size_t *before = rows[0], *last = rows[1], *now = rows[2];

        if (a_size > NEAREST_WORD_BYTES_MAX || b_size > NEAREST_WORD_BYTES_MAX)
                return SIZE_MAX;

        for (size_t j = 0; j <= b_size; j++)
                before[j] = last[j] = j;

        for (size_t i = 1; i <= a_size; i++) {
                size_t *oldest = before;

                now[0] = i;
                for (size_t j = 1; j <= b_size; j++) {
                        now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                now[j] = MIN(now[j], before[j - 2] + 1);
                }
                before = last;
                last = now;
                now = oldest;
        }

        return last[b_size];
}

const char *nearest_word(const char *word, const char *const *candidates) {
        size_t size = strlen(word), best = SIZE_MAX;
        const char *found = NULL;

        for (const char *const *candidate = candidates; *candidate; candidate++) {
                size_t distance = nearest_distance(word, *candidate);

                if (size >= 2 && g_str_has_prefix(*candidate, word))
                        distance = MIN(distance, 1);
                if (distance < best && distance <= MAX(MIN(size, strlen(*candidate)) / 3, 1) &&
                                distance < size) {
                        best = distance;
                        found = *candidate;
                }
        }

        return found;
}
