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

/* @word filled up with blanks, which are plain */
static inline uint64_t plain_text_load(const char *text, size_t size) {
        uint64_t word = PLAIN_TEXT_EACH(' ');

        memcpy(&word, text, size < sizeof word ? size : sizeof word);
        return word;
}

/** plain_text_is() - whether all of it is printable ASCII */
static inline bool plain_text_is(const char *text, size_t size) {
        for (size_t at = 0; at < size; at += sizeof(uint64_t))
                if (!plain_text_is_plain_word(plain_text_load(text + at, size - at)))
                        return false;

        return true;
}

/** plain_text_is_json() - whether it stands in a JSON string as it is: printable ASCII without quotation mark and backslash */
static inline bool plain_text_is_json(const char *text, size_t size) {
        for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
                uint64_t word = plain_text_load(text + at, size - at);

                if (!plain_text_is_plain_word(word) || plain_text_has_special(word))
                        return false;
        }
        return true;
}
