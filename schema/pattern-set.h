/* SPDX-License-Identifier: MIT */
#pragma once

/* Sets of characters, as far as the simple engine tells characters apart. */

#include <stdbool.h>
#include <stddef.h>

/* Characters beyond ASCII are told apart only as far as classes without ranges there can tell: line ends, other white
 * space, the rest. They stand behind the 128 of ASCII. */
enum {
        KIND_OTHER = 128,
        KIND_SPACE,
        KIND_LINE_END,
        _KIND_MAX,
};

typedef struct Set {
        bool has[_KIND_MAX];
} Set;

/* What is left of an expression. */
typedef struct PatternText {
        const char *at, *end;
} PatternText;

/** set_read() - reads one character, escape or class; false when it is not simple */
bool set_read(PatternText *text, Set *set);
