/* SPDX-License-Identifier: MIT */
#pragma once

/* Sets of characters, as far as the simple engine tells characters apart. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Characters beyond ASCII are told apart only as far as classes without ranges there can tell: line ends, other white
 * space, the rest. They stand behind the 128 of ASCII. */
enum {
        KIND_OTHER = 128,
        KIND_SPACE,
        KIND_LINE_END,
        KIND_EXTRA, /* and following: the characters beyond ASCII that the expression itself names */
        _KIND_MAX = KIND_EXTRA + 8,
};

#define EXTRAS_MAX (_KIND_MAX - KIND_EXTRA)

typedef struct Set {
        bool has[_KIND_MAX];
} Set;

/* What is left of an expression. */
typedef struct PatternText {
        const char *at, *end;
        gunichar extras[EXTRAS_MAX];
        unsigned n_extras;
} PatternText;

/** set_kind() - the kind of a character beyond ASCII, apart from extras */
unsigned set_kind(gunichar c);

/** set_find_extras() - notes the characters beyond ASCII in an expression; false when they are too many or white space */
bool set_find_extras(PatternText *text);

/** set_read() - reads one character, escape or class; false when it is not simple */
bool set_read(PatternText *text, Set *set);
