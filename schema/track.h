/* SPDX-License-Identifier: MIT */
#pragma once

/* Which members or elements of one container have been looked at by a schema that held: what "unevaluatedProperties" and
 * "unevaluatedItems" need to know. Kept only below such a keyword. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRACK_WORDS_INLINE 4u

typedef struct Track {
        uint64_t *bits; /* one a member, in document order */
        size_t n_words;
        bool all;
        uint64_t words[TRACK_WORDS_INLINE];
} Track;

/** track_init() - begin with nothing looked at; end it with track_done() */
void track_init(Track *track, size_t n);
void track_done(Track *track);

/** track_merge() - what is in @other is in @track too */
void track_merge(Track *track, const Track *other);

static inline void track_add(Track *track, size_t index) {
        track->bits[index / 64] |= UINT64_C(1) << index % 64;
}

static inline bool track_has(const Track *track, size_t index) {
        return track->all || (track->bits[index / 64] >> index % 64 & 1);
}
