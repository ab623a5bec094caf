/* SPDX-License-Identifier: MIT */
#pragma once

/* Values as values, for code that compares many of them. */

#include "common/jdoc.h"

/** jval_compare_numbers() - below, equal to or above 0, by exact value; both must be numbers */
int jval_compare_numbers(Jval a, Jval b);

/** jval_hash() - equal for values that jval_equal() calls equal; not keyed, so an attacker can make many
 * collide */
uint64_t jval_hash(Jval value);
