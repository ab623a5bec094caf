/* SPDX-License-Identifier: MIT */
#pragma once

/* The exact value of a JSON number, taken from its text without converting it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ±0.d1 d2 … dn × 10^point, d1 and dn not 0; zero has no digits and no sign. The digits stay where they are
 * in the text; a '.' may stand between them. */
typedef struct JNumber {
        const char *digits;
        size_t count;
        int64_t point;
        bool negative;
} JNumber;

/* Exponents beyond this are refused by the reader: no program keeps them apart from 0 or infinity. */
#define JNUMBER_EXPONENT_MAX INT64_C(999999999)

/** jnumber_parse() - take apart a text that matches the grammar of JSON; exponents are clamped at twice the
 * maximum */
void jnumber_parse(const char *text, size_t size, JNumber *ret);

/** jnumber_is_finite() - whether it rounds to a finite double and its exponent is in range */
bool jnumber_is_finite(const JNumber *number);

/** jnumber_is_integer() - whether it is whole, however it was written */
static inline bool jnumber_is_integer(const JNumber *number) {
        return number->count == 0 || number->point >= (int64_t) number->count;
}

/** jnumber_compare() - below, equal to or above 0, by exact value */
int jnumber_compare(const JNumber *a, const JNumber *b);

/** jnumber_uint64() - the magnitude of a whole number: 0, -EINVAL when not whole, -ERANGE when too large */
int jnumber_uint64(const JNumber *number, uint64_t *ret);

/** jnumber_next() - steps from one digit to the next */
static inline const char *jnumber_next(const char *digit) {
        return digit[1] == '.' ? digit + 2 : digit + 1;
}
