/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "common/sha256-block.h"

static const uint32_t round_constants[64] __attribute__((aligned(16))) = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t word, unsigned by) {
        return word >> by | word << (32 - by);
}

static void expand(uint32_t schedule[64], const uint8_t *data) {
        for (unsigned i = 0; i < 16; i++) {
                uint32_t word;

                memcpy(&word, data + i * sizeof word, sizeof word);
                schedule[i] = GUINT32_FROM_BE(word);
        }
        for (unsigned i = 16; i < 64; i++) {
                uint32_t a = schedule[i - 15], b = schedule[i - 2];

                schedule[i] = schedule[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + schedule[i - 7] +
                                (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
        }
}

/* One round; the caller turns the names instead of moving the words. */
static inline void one_round(
                uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g, uint32_t *h,
                uint32_t word) {
        uint32_t first = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + word;

        *d += first;
        *h = first + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
}

void sha256_blocks_plain(uint32_t state[8], const uint8_t *data, size_t count) {
        for (; count > 0; count--, data += SHA256_BLOCK_BYTES) {
                uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
                uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
                uint32_t w[64];

                expand(w, data);
                for (unsigned i = 0; i < 64; i++)
                        w[i] += round_constants[i];
                for (unsigned i = 0; i < 64; i += 8) {
                        one_round(a, b, c, &d, e, f, g, &h, w[i]);
                        one_round(h, a, b, &c, d, e, f, &g, w[i + 1]);
                        one_round(g, h, a, &b, c, d, e, &f, w[i + 2]);
                        one_round(f, g, h, &a, b, c, d, &e, w[i + 3]);
                        one_round(e, f, g, &h, a, b, c, &d, w[i + 4]);
                        one_round(d, e, f, &g, h, a, b, &c, w[i + 5]);
                        one_round(c, d, e, &f, g, h, a, &b, w[i + 6]);
                        one_round(b, c, d, &e, f, g, h, &a, w[i + 7]);
                }
                state[0] += a, state[1] += b, state[2] += c, state[3] += d;
                state[4] += e, state[5] += f, state[6] += g, state[7] += h;
        }
}

#if defined(__x86_64__)
#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

/* Four rounds with the four schedule words in @words. The instruction keeps the state as ABEF and CDGH. */
WITH_SHA static inline void four_rounds(__m128i *abef, __m128i *cdgh, __m128i words, unsigned round) {
        __m128i sum = _mm_add_epi32(words, _mm_load_si128((const __m128i *) (round_constants + round)));

        *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
        *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

/* The next four schedule words after w[0..3], which hold sixteen */
WITH_SHA static inline __m128i next_words(const __m128i w[4]) {
        __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(w[3], w[2], 4));

        return _mm_sha256msg2_epu32(sum, w[3]);
}

WITH_SHA static void one_block(__m128i *abef, __m128i *cdgh, const uint8_t *data) {
        const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bll, 0x0405060700010203ll);
        __m128i before_abef = *abef, before_cdgh = *cdgh, w[4];

        for (unsigned i = 0; i < 4; i++) {
                w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *) (data + 16 * i)), swap);
                four_rounds(abef, cdgh, w[i], 4 * i);
        }
#pragma GCC unroll 12
        for (unsigned round = 16; round < 64; round += 4) {
                __m128i next = next_words(w);

                w[0] = w[1];
                w[1] = w[2];
                w[2] = w[3];
                w[3] = next;
                four_rounds(abef, cdgh, next, round);
        }
        *abef = _mm_add_epi32(*abef, before_abef);
        *cdgh = _mm_add_epi32(*cdgh, before_cdgh);
}

WITH_SHA static void sha256_blocks_x86(uint32_t state[8], const uint8_t *data, size_t count) {
        __m128i dcba = _mm_loadu_si128((const __m128i *) state), hgfe = _mm_loadu_si128((const __m128i *) (state + 4));
        __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
        __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
        __m128i feba, dchg;

        for (; count > 0; count--, data += SHA256_BLOCK_BYTES)
                one_block(&abef, &cdgh, data);

        feba = _mm_shuffle_epi32(abef, 0x1b);
        dchg = _mm_shuffle_epi32(cdgh, 0xb1);
        _mm_storeu_si128((__m128i *) state, _mm_blend_epi16(feba, dchg, 0xf0));
        _mm_storeu_si128((__m128i *) (state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Asked by hand: not every compiler that we build with knows this feature by name. */
static bool has_sha(void) {
        unsigned a, b, c, d;

        if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0)
                return false;
        return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0;
}
#endif

Sha256Blocks sha256_blocks_choose(void) {
#if defined(__x86_64__)
        static int known = -1;

        if (known < 0)
                known = has_sha();
        if (known)
                return sha256_blocks_x86;
#endif
        return sha256_blocks_plain;
}
