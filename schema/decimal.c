/* SPDX-License-Identifier: MIT */

/* A number is a whole number of some digits times a power of ten. Whether one divides another is then a question about
 * whole numbers, and only remainders are ever computed: their size is that of the divisor, however long the value is. */

#include <assert.h>
#include <string.h>

#include "schema/decimal.h"

static int64_t exponent(const JNumber *number) {
        return number->point - (int64_t) number->count;
}

/* For divisors of at most 18 digits. */
static bool divides_short(uint64_t divisor, const JNumber *value, int64_t zeros) {
        uint64_t rest = 0, power = 10 % divisor;
        const char *digit = value->digits;

        for (size_t i = 0; i < value->count; i++) {
                rest = (uint64_t) (((__uint128_t) rest * 10 + (unsigned) (*digit - '0')) % divisor);
                if (i + 1 < value->count)
                        digit = jnumber_next(digit);
        }
        for (; zeros > 0 && rest > 0; zeros >>= 1) {
                if (zeros & 1)
                        rest = (uint64_t) ((__uint128_t) rest * power % divisor);
                power = (uint64_t) ((__uint128_t) power * power % divisor);
        }
        return rest == 0;
}

/* A whole number, least part first, with room for ten times the longest divisor. */
#define PARTS ((DECIMAL_DIVISOR_DIGITS_MAX + 2) / 9 + 2)

typedef struct Whole {
        uint32_t part[PARTS];
} Whole;

static void whole_multiply_add(Whole *whole, uint32_t factor, uint32_t add) {
        uint64_t carry = add;

        for (size_t i = 0; i < PARTS; i++) {
                carry += (uint64_t) whole->part[i] * factor;
                whole->part[i] = (uint32_t) carry;
                carry >>= 32;
        }
        assert(carry == 0);
}

static int whole_compare(const Whole *a, const Whole *b) {
        for (size_t i = PARTS; i > 0; i--)
                if (a->part[i - 1] != b->part[i - 1])
                        return a->part[i - 1] < b->part[i - 1] ? -1 : 1;
        return 0;
}

static void whole_subtract(Whole *a, const Whole *b) {
        int64_t borrow = 0;

        for (size_t i = 0; i < PARTS; i++) {
                borrow += (int64_t) a->part[i] - b->part[i];
                a->part[i] = (uint32_t) borrow;
                borrow >>= 32;
        }
}

static void whole_reduce(Whole *rest, const Whole *divisor) {
        while (whole_compare(rest, divisor) >= 0)
                whole_subtract(rest, divisor);
}

static bool whole_is_zero(const Whole *whole) {
        static const Whole zero = {};

        return whole_compare(whole, &zero) == 0;
}

/* @a times @b, modulo @divisor, both below it. */
static Whole whole_multiply(const Whole *a, const Whole *b, const Whole *divisor) {
        Whole product = {};

        for (size_t i = PARTS * 32; i > 0; i--) {
                whole_multiply_add(&product, 2, 0);
                whole_reduce(&product, divisor);
                if (b->part[(i - 1) / 32] >> (i - 1) % 32 & 1) {
                        Whole sum = *a;

                        /* Both are below the divisor, for whose tenfold there is room. */
                        for (size_t j = 0, carry = 0; j < PARTS; j++) {
                                carry += (size_t) sum.part[j] + product.part[j];
                                sum.part[j] = (uint32_t) carry;
                                carry >>= 32;
                        }
                        product = sum;
                        whole_reduce(&product, divisor);
                }
        }
        return product;
}

static void whole_read(Whole *whole, const JNumber *number, const Whole *divisor) {
        const char *digit = number->digits;

        for (size_t i = 0; i < number->count; i++) {
                whole_multiply_add(whole, 10, (uint32_t) (*digit - '0'));
                if (divisor)
                        whole_reduce(whole, divisor);
                if (i + 1 < number->count)
                        digit = jnumber_next(digit);
        }
}

static bool divides_long(const JNumber *divisor_number, const JNumber *value, int64_t zeros) {
        Whole divisor = {}, rest = {}, power = { .part = { 10 } };

        whole_read(&divisor, divisor_number, NULL);
        whole_read(&rest, value, &divisor);
        for (; zeros > 0 && !whole_is_zero(&rest); zeros >>= 1) {
                if (zeros & 1)
                        rest = whole_multiply(&rest, &power, &divisor);
                if (zeros > 1)
                        power = whole_multiply(&power, &power, &divisor);
        }
        return whole_is_zero(&rest);
}

bool decimal_divides(const JNumber *divisor, const JNumber *value) {
        int64_t zeros = exponent(value) - exponent(divisor);
        uint64_t small = 0;
        const char *digit = divisor->digits;

        if (value->count == 0)
                return true;
        /* The value's last digit is not 0, so it is no multiple of ten. */
        if (zeros < 0)
                return false;
        if (divisor->count > 18)
                return divides_long(divisor, value, zeros);

        for (size_t i = 0; i < divisor->count; i++) {
                small = small * 10 + (unsigned) (*digit - '0');
                if (i + 1 < divisor->count)
                        digit = jnumber_next(digit);
        }
        return divides_short(small, value, zeros);
}
