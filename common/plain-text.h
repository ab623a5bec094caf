/* SPDX-License-Identifier: MIT */
#pragma once

/* Most text that passes through is printable ASCII, about which there is nothing to decide. This tells so, eight bytes at a time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PLAIN_TEXT_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Whether a byte of @word is zero */
static inline bool plain_text_has_zero(uint64_t word) {
        return (word - PLAIN_TEXT_EACH(1)) & ~word & PLAIN_TEXT_EACH(0x80);
}

static inline bool plain_text_is_plain_word(uint64_t word) {
        bool low = (word - PLAIN_TEXT_EACH(0x20)) & ~word & PLAIN_TEXT_EACH(0x80);

        return !low && !(word & PLAIN_TEXT_EACH(0x80)) && !plain_text_has_zero(word ^ PLAIN_TEXT_EACH(0x7f));
}

static inline bool plain_text_has_special(uint64_t word) {
        return plain_text_has_zero(word ^ PLAIN_TEXT_EACH('"')) || plain_text_has_zero(word ^ PLAIN_TEXT_EACH('\\'));
}

static inline uint64_t plain_text_load(const char *text) {
        uint64_t word;

        memcpy(&word, text, sizeof word);
        return word;
}

/* Fewer than eight bytes, filled up with blanks, which are plain. Reads none that is not there. */
static inline uint64_t plain_text_load_short(const char *text, size_t size) {
        uint64_t word = PLAIN_TEXT_EACH(' ');

        for (size_t at = 0; at < size; at++)
                word = word << 8 | (unsigned char) text[at];
        return word;
}

typedef bool (*PlainTextTest)(uint64_t word);

/* The last word of a text that has one overlaps the one before: to ask twice about a byte is quicker than to count. */
static inline bool plain_text_each(const char *text, size_t size, PlainTextTest test) {
        if (size < sizeof(uint64_t))
                return test(plain_text_load_short(text, size));

        for (size_t at = 0; at + sizeof(uint64_t) < size; at += sizeof(uint64_t))
                if (!test(plain_text_load(text + at)))
                        return false;
        return test(plain_text_load(text + size - sizeof(uint64_t)));
}

static inline bool plain_text_is_json_word(uint64_t word) {
        return plain_text_is_plain_word(word) && !plain_text_has_special(word);
}

/** plain_text_is() - whether all of it is printable ASCII */
static inline bool plain_text_is(const char *text, size_t size) {
        return plain_text_each(text, size, plain_text_is_plain_word);
}

/** plain_text_is_json() - whether it stands in a JSON string as it is: printable ASCII without quotation mark and backslash */
static inline bool plain_text_is_json(const char *text, size_t size) {
        return plain_text_each(text, size, plain_text_is_json_word);
}
