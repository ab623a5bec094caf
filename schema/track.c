/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "schema/track.h"

void track_init(Track *track, size_t n) {
        size_t words = (n + 63) / 64;

        *track = (Track) { .n_words = words };
        track->bits = words <= TRACK_WORDS_INLINE ? track->words : g_new0(uint64_t, words);
}

void track_done(Track *track) {
        if (track->bits != track->words)
                g_free(track->bits);
        track->bits = NULL;
}

void track_merge(Track *track, const Track *other) {
        track->all |= other->all;
        for (size_t i = 0; i < track->n_words; i++)
                track->bits[i] |= other->bits[i];
}
