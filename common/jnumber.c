/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "common/jnumber.h"

/* 2^1024 - 2^970: from here on a double rounds to infinity. 309 digits. */
static const char overflow_digits[] = "179769313486231580793728971405303415079934132710037826936173778980444"
                                      "9682927647509466490179775872"
                                      "070963302864166928879109465555478519404026306574886715058206819089020"
                                      "0070838367627385484581771153"
                                      "176447573027006985557136695962284291481986083493647529271907416844436"
                                      "5510704342711559699508093042"
                                      "880177904174497792";

static int64_t parse_exponent(const char *at, const char *end) {
        bool negative = false;
        int64_t value = 0;

        if (at < end && (*at == '+' || *at == '-'))
                negative = *at++ == '-';
        for (; at < end; at++)
                value = MIN(value * 10 + (*at - '0'), 2 * JNUMBER_EXPONENT_MAX);

        return negative ? -value : value;
}

static size_t count_digits(const char *at, const char *end) {
        const char *p = at;

        while (p < end && *p >= '0' && *p <= '9')
                p++;
        return (size_t) (p - at);
}

void jnumber_parse(const char *text, size_t size, JNumber *ret) {
        const char *end = text + size, *whole, *fraction, *exponent;
        bool negative = *text == '-';
        size_t n_whole, n_fraction = 0, zeros = 0;

        whole = text + negative;
        n_whole = count_digits(whole, end);
        exponent = fraction = whole + n_whole;
        if (fraction < end && *fraction == '.') {
                fraction++;
                n_fraction = count_digits(fraction, end);
                exponent = fraction + n_fraction;
        }

        while (n_fraction > 0 && fraction[n_fraction - 1] == '0')
                n_fraction--;
        *ret = (JNumber){ .negative = negative, .point = (int64_t) n_whole };
        if (exponent < end)
                ret->point += parse_exponent(exponent + 1, end);

        /* Leading zeros go: the grammar allows one before the point and any number after it. */
        if (n_whole == 1 && *whole == '0') {
                while (zeros < n_fraction && fraction[zeros] == '0')
                        zeros++;
                ret->digits = fraction + zeros;
                ret->count = n_fraction - zeros;
                ret->point -= 1 + (int64_t) zeros;
        } else {
                if (n_fraction == 0)
                        while (n_whole > 0 && whole[n_whole - 1] == '0')
                                n_whole--;
                ret->digits = whole;
                ret->count = n_whole + n_fraction;
        }

        if (ret->count == 0)
                *ret = (JNumber){};
}

bool jnumber_is_finite(const JNumber *number) {
        static const JNumber overflow = {
                .digits = overflow_digits, .count = sizeof(overflow_digits) - 1, .point = 309
        };
        JNumber magnitude = *number;

        if (number->count == 0)
                return true;
        if (number->point < -JNUMBER_EXPONENT_MAX)
                return false;

        magnitude.negative = false;
        return jnumber_compare(&magnitude, &overflow) < 0;
}

static int compare_digits(const JNumber *a, const JNumber *b) {
        const char *p = a->digits, *q = b->digits;
        size_t common = MIN(a->count, b->count);

        for (size_t i = 0; i < common; i++) {
                if (*p != *q)
                        return *p < *q ? -1 : 1;
                if (i + 1 < common) {
                        p = jnumber_next(p);
                        q = jnumber_next(q);
                }
        }
        return a->count < b->count ? -1 : a->count > b->count;
}

int jnumber_compare(const JNumber *a, const JNumber *b) {
        int order;

        if (a->count == 0 || b->count == 0) {
                if (a->count == b->count)
                        return 0;
                return a->count == 0 ? (b->negative ? 1 : -1) : (a->negative ? -1 : 1);
        }
        if (a->negative != b->negative)
                return a->negative ? -1 : 1;

        order = a->point != b->point ? (a->point < b->point ? -1 : 1) : compare_digits(a, b);
        return a->negative ? -order : order;
}

int jnumber_uint64(const JNumber *number, uint64_t *ret) {
        const char *digit = number->digits;
        uint64_t value = 0;

        if (!jnumber_is_integer(number))
                return -EINVAL;
        if (number->count > 0 && number->point > 20)
                return -ERANGE;

        for (int64_t i = 0; number->count > 0 && i < number->point; i++) {
                unsigned add = 0;

                if (i < (int64_t) number->count) {
                        add = (unsigned) (*digit - '0');
                        if (i + 1 < (int64_t) number->count)
                                digit = jnumber_next(digit);
                }
                if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, add, &value))
                        return -ERANGE;
        }

        *ret = value;
        return 0;
}
