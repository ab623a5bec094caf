/* SPDX-License-Identifier: MIT */
#pragma once

/* The words of JSON: strings, numbers, white space. Each scanner begins at @at, never reads at or behind
 * @end, and returns where the word ends. On a mistake it returns NULL and says what and where. */

#include "common/jdoc-node.h"

typedef struct JScanError {
        const char *message; /* static text */
        const char *at;
} JScanError;

/** jscan_string() - behind the closing quote of a string whose first byte after the quote is @at */
const char *jscan_string(const char *at, const char *end, bool *ret_escaped, JScanError *error);

/** jscan_number() - behind a number; classifies it in word and tag of @node */
const char *jscan_number(const char *at, const char *end, Jnode *node, JScanError *error);

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
