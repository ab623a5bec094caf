/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/jdoc-scan.h"
#include "common/jnumber.h"

static const char *scan_fail(JScanError *error, const char *message, const char *at) {
        *error = (JScanError){ message, at };
        return NULL;
}

#ifndef __SSE2__
#define BYTES(b) (UINT64_C(0x0101010101010101) * (b))

/* Whether one of eight bytes is a control, a quote, a backslash or not ASCII. May say yes too often, never
 * no. */
static inline bool word_has_special(uint64_t word) {
        uint64_t quote = word ^ BYTES('"'), backslash = word ^ BYTES('\\');

        return ((word - BYTES(0x20)) | (quote - BYTES(1)) | (backslash - BYTES(1)) | word) & BYTES(0x80);
}
#endif

/* The bytes of a string that stand for themselves: to the first control, quote, backslash or byte beyond
 * ASCII. */
static inline const char *skip_plain(const char *at, const char *end) {
#ifdef __SSE2__
        const __m128i space = _mm_set1_epi8(0x20), quote = _mm_set1_epi8('"'),
                      backslash = _mm_set1_epi8('\\');

        while (end - at >= 16) {
                __m128i block = _mm_loadu_si128((const __m128i *) at);
                /* Signed: bytes from 0x80 on are below the space too. */
                __m128i special = _mm_or_si128(_mm_cmplt_epi8(block, space),
                                _mm_or_si128(_mm_cmpeq_epi8(block, quote),
                                                _mm_cmpeq_epi8(block, backslash)));
                int mask = _mm_movemask_epi8(special);

                if (mask)
                        return at + __builtin_ctz((unsigned) mask);
                at += 16;
        }
#else
        while (end - at >= 8) {
                uint64_t word;

                memcpy(&word, at, 8);
                if (word_has_special(word))
                        break;
                at += 8;
        }
#endif
        while (at < end && (signed char) *at >= 0x20 && *at != '"' && *at != '\\')
                at++;
        return at;
}

static inline bool is_continuation(char c) {
        return ((unsigned char) c & 0xc0) == 0x80;
}

/* The length of the character beyond ASCII at @at; 0 when it is none. */
static inline size_t utf8_length(const char *at, const char *end) {
        unsigned char c = (unsigned char) *at;
        size_t left = (size_t) (end - at);
        unsigned char second = left > 1 ? (unsigned char) at[1] : 0;

        if (c < 0xc2 || c > 0xf4 || (second & 0xc0) != 0x80)
                return 0;
        if (c < 0xe0)
                return 2;
        if (left < 3 || !is_continuation(at[2]))
                return 0;
        if (c < 0xf0)
                return (c == 0xe0 && second < 0xa0) || (c == 0xed && second >= 0xa0) ? 0 : 3;
        if (left < 4 || !is_continuation(at[3]))
                return 0;
        return (c == 0xf0 && second < 0x90) || (c == 0xf4 && second >= 0x90) ? 0 : 4;
}

bool jscan_is_utf8(const char *text, size_t size) {
        const char *end = text + size;
        size_t length;

        while (text < end) {
                if (!(*text & 0x80)) {
                        text++;
                        continue;
                }
                length = utf8_length(text, end);
                if (length == 0)
                        return false;
                text += length;
        }
        return true;
}

static int hex_value(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of four hexadecimal digits; -1 when they are not there. */
static int hex4(const char *at, const char *end) {
        int value = 0;

        if (end - at < 4)
                return -1;
        for (int i = 0; i < 4; i++) {
                int digit = hex_value(at[i]);

                if (digit < 0)
                        return -1;
                value = value * 16 + digit;
        }
        return value;
}

static inline bool is_high(int unit) {
        return unit >= 0xd800 && unit <= 0xdbff;
}

static inline bool is_low(int unit) {
        return unit >= 0xdc00 && unit <= 0xdfff;
}

static inline bool is_escape(char c) {
        switch (c) {
        case '"':
        case '\\':
        case '/':
        case 'b':
        case 'f':
        case 'n':
        case 'r':
        case 't':
                return true;
        default:
                return false;
        }
}

/* @at is the backslash. */
static const char *scan_escape(const char *at, const char *end, JScanError *error) {
        int unit;

        if (end - at < 2)
                return scan_fail(error, "the string does not end", at);
        if (at[1] != 'u')
                return is_escape(at[1]) ? at + 2 : scan_fail(error, "unknown escape", at);

        unit = hex4(at + 2, end);
        if (unit < 0)
                return scan_fail(error, "four hexadecimal digits are expected after \\u", at);
        if (is_low(unit))
                return scan_fail(error, "a surrogate without its first half", at);
        if (!is_high(unit))
                return at + 6;

        if (end - at < 12 || at[6] != '\\' || at[7] != 'u' || !is_low(hex4(at + 8, end)))
                return scan_fail(error, "a surrogate without its second half", at);
        return at + 12;
}

const char *jscan_string_slow(const char *at, const char *end, bool *ret_escaped, JScanError *error) {
        const char *begin = at;
        bool escaped = false;

        for (;;) {
                at = skip_plain(at, end);
                if (at == end)
                        return scan_fail(error, "the string does not end", begin - 1);
                if (*at == '"')
                        break;

                if (*at == '\\') {
                        escaped = true;
                        at = scan_escape(at, end, error);
                        if (!at)
                                return NULL;
                } else if (*at & 0x80)
                        do {
                                size_t length = utf8_length(at, end);

                                if (length == 0)
                                        return scan_fail(error, "the bytes are not UTF-8", at);
                                at += length;
                        } while (at < end && (*at & 0x80));
                else
                        return scan_fail(error, "a control character in a string must be escaped", at);
        }

        *ret_escaped = escaped;
        return at + 1;
}

static inline bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

static inline const char *skip_digits(const char *at, const char *end) {
        while (end - at >= 8) {
                uint64_t word;

                memcpy(&word, at, 8);
                /* All high halves are 3, and stay so when 6 is added: eight times 0 to 9. */
                if (((word & UINT64_C(0xf0f0f0f0f0f0f0f0)) |
                                    (((word + UINT64_C(0x0606060606060606)) &
                                                     UINT64_C(0xf0f0f0f0f0f0f0f0)) >>
                                                    4)) != UINT64_C(0x3333333333333333))
                        break;
                at += 8;
        }
        while (at < end && is_digit(*at))
                at++;
        return at;
}

/* What follows the whole part of a number that is no plain integer. */
static const char *scan_real(const char *begin, const char *at, const char *end, JScanError *error) {
        const char *exponent = NULL, *from;
        JNumber number;

        if (at < end && *at == '.') {
                from = ++at;
                at = skip_digits(at, end);
                if (at == from)
                        return scan_fail(error, "a digit is expected after the point", at);
        }
        if (at < end && (*at | 0x20) == 'e') {
                exponent = at++;
                if (at < end && (*at == '+' || *at == '-'))
                        at++;
                from = at;
                at = skip_digits(at, end);
                if (at == from)
                        return scan_fail(error, "a digit is expected in the exponent", at);
        }

        /* Too short to leave the range of a double? */
        if (!exponent ? at - begin <= 300 : at - exponent <= 3 && at - begin <= 200)
                return at;
        jnumber_parse(begin, (size_t) (at - begin), &number);
        return jnumber_is_finite(&number) ? at : scan_fail(error, "the number is out of range", begin);
}

const char *jscan_number_slow(const char *at, const char *end, Jnode *node, JScanError *error) {
        const char *begin = at, *whole;
        uint32_t value = 0;

        if (*at == '-')
                at++;
        if (at == end || !is_digit(*at))
                return scan_fail(error, at == begin ? "a value is expected" : "a digit is expected", at);

        whole = at;
        while (at < end && is_digit(*at)) {
                value = value * 10 + (uint32_t) (*at - '0');
                at++;
        }
        if (*whole == '0' && at - whole > 1)
                return scan_fail(error, "a number must not begin with a spare zero", whole);

        if ((at < end && (*at == '.' || (*at | 0x20) == 'e')) || at - whole > 300) {
                node->tag |= JNODE_REAL;
                return scan_real(begin, at, end, error);
        }
        if (at - whole <= 9) {
                node->tag |= JNODE_SMALL;
                node->word = whole == begin ? value : -value;
        }
        return at;
}

const char *jscan_space_slow(const char *at, const char *end) {
#ifdef __SSE2__
        while (end - at >= 16) {
                __m128i block = _mm_loadu_si128((const __m128i *) at);
                __m128i space = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8(' ')),
                                                             _mm_cmpeq_epi8(block, _mm_set1_epi8('\n'))),
                                _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('\r')),
                                                _mm_cmpeq_epi8(block, _mm_set1_epi8('\t'))));
                unsigned mask = (unsigned) _mm_movemask_epi8(space) ^ 0xffffu;

                if (mask)
                        return at + __builtin_ctz(mask);
                at += 16;
        }
#endif
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
                at++;
        return at;
}

static size_t put_utf8(unsigned c, char *out) {
        if (c < 0x80) {
                out[0] = (char) c;
                return 1;
        }
        if (c < 0x800) {
                out[0] = (char) (0xc0 | c >> 6);
                out[1] = (char) (0x80 | (c & 63));
                return 2;
        }
        if (c < 0x10000) {
                out[0] = (char) (0xe0 | c >> 12);
                out[1] = (char) (0x80 | (c >> 6 & 63));
                out[2] = (char) (0x80 | (c & 63));
                return 3;
        }
        out[0] = (char) (0xf0 | c >> 18);
        out[1] = (char) (0x80 | (c >> 12 & 63));
        out[2] = (char) (0x80 | (c >> 6 & 63));
        out[3] = (char) (0x80 | (c & 63));
        return 4;
}

size_t jscan_unescape(const char *source, size_t size, char *out) {
        static const char meaning[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
        const char *at = source, *end = source + size;
        char *to = out;

        while (at < end) {
                const char *escape = memchr(at, '\\', (size_t) (end - at));
                size_t plain = (size_t) ((escape ? escape : end) - at);
                unsigned c;

                memcpy(to, at, plain);
                to += plain;
                if (!escape)
                        break;

                at = escape + 2;
                if (escape[1] != 'u') {
                        for (const char *m = meaning; *m; m += 2)
                                if (*m == escape[1])
                                        *to++ = m[1];
                        continue;
                }
                c = (unsigned) hex4(at, end);
                at += 4;
                if (is_high((int) c)) {
                        c = 0x10000 + ((c - 0xd800) << 10) + ((unsigned) hex4(at + 2, end) - 0xdc00);
                        at += 6;
                }
                to += put_utf8(c, to);
        }
        return (size_t) (to - out);
}
