/* SPDX-License-Identifier: MIT */
#pragma once

#include "common/jnumber.h"

/* Longer divisors are refused when a schema is compiled, so that dividing stays cheap. */
#define DECIMAL_DIVISOR_DIGITS_MAX 400u

/** decimal_divides() - whether @value is a whole multiple of @divisor, exactly; @divisor is above 0 */
bool decimal_divides(const JNumber *divisor, const JNumber *value);
