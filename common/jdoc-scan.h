/* SPDX-License-Identifier: MIT */
#pragma once

/* The words of JSON: strings, numbers, white space. Each scanner begins at @at, never reads at or behind
 * @end, and returns where the word ends. On a mistake it returns NULL and says what and where. */

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "common/jdoc-node.h"

typedef struct JScanError {
        const char *message; /* static text */
        const char *at;
} JScanError;

/** jscan_string_slow() - jscan_string() for any string */
const char *jscan_string_slow(const char *at, const char *end, bool *ret_escaped, JScanError *error);

/** jscan_string() - behind the closing quote of a string whose first byte after the quote is @at */
static inline const char *jscan_string(const char *at, const char *end, bool *ret_escaped, JScanError *error) {
#ifdef __SSE2__
        /* Most strings are short and plain: the first special byte is the quote. */
        if (G_LIKELY(end - at >= 16)) {
                const __m128i block = _mm_loadu_si128((const __m128i *) at);
                /* Signed: bytes from 0x80 on are below the space too. */
                unsigned mask = (unsigned) _mm_movemask_epi8(_mm_or_si128(_mm_cmplt_epi8(block, _mm_set1_epi8(0x20)),
                                _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                                _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')))));

                if (G_LIKELY(mask != 0)) {
                        const char *stop = at + __builtin_ctz(mask);

                        if (G_LIKELY(*stop == '"')) {
                                *ret_escaped = false;
                                return stop + 1;
                        }
                }
        }
#endif
        return jscan_string_slow(at, end, ret_escaped, error);
}

/** jscan_number_slow() - jscan_number() for any number */
const char *jscan_number_slow(const char *at, const char *end, Jnode *node, JScanError *error);

/** jscan_number() - behind a number; classifies it in word and tag of @node */
static inline const char *jscan_number(const char *at, const char *end, Jnode *node, JScanError *error) {
        const char *begin = at;
        uint32_t value = 0;

        /* A short whole number without a sign, with more text behind it. */
        if (end - at > 10 && *at != '0') {
                while (at - begin < 9 && (unsigned char) (*at - '0') <= 9)
                        value = value * 10 + (uint32_t) (*at++ - '0');
                if (G_LIKELY(at > begin && (*at == ',' || *at == '}' || *at == ']'))) {
                        node->tag |= JNODE_SMALL;
                        node->word = value;
                        return at;
                }
        }
        return jscan_number_slow(begin, end, node, error);
}

/** jscan_space_slow() - behind white space of which @at is the first byte */
const char *jscan_space_slow(const char *at, const char *end);

static inline const char *jscan_space(const char *at, const char *end) {
        return at < end && (unsigned char) *at <= ' ' ? jscan_space_slow(at, end) : at;
}

/** jscan_unescape() - writes the bytes that the inside of a scanned string stands for; returns their number
 *
 * @out has room for @size bytes: nothing decodes to more than its source. */
size_t jscan_unescape(const char *source, size_t size, char *out);

/** jscan_is_utf8() - whether it is UTF-8 without surrogates and overlong forms; NUL is fine */
bool jscan_is_utf8(const char *text, size_t size);
