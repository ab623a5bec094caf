/* SPDX-License-Identifier: MIT */
#pragma once

/* The command line, taken apart: options that may stand anywhere, and the words between them.
 *
 * getopt_long() is not used because it prints errors of its own and can't tell that an option belongs to
 * another verb. */

#include <glib.h>

#include "cli/cli.h"

typedef struct Option {
        OptionId id;
        char letter;          /* 0: none */
        const char *name;     /* without the dashes */
        const char *argument; /* what its value is called; NULL when it takes none */
        const char *verbs;    /* the verbs that it belongs to, separated by spaces; NULL: all */
        const char *help;
} Option;

/** options_table() - all options in the order of OptionId; *@ret_n of them */
const Option *options_table(size_t *ret_n);

/** option_is_for() - whether an option may be given with a verb; @verb NULL: whether it is for all verbs */
bool option_is_for(const Option *option, const char *verb);

/**
 * options_parse() - take the command line apart
 * @argv:      as for main()
 * @values:    _OPTION_MAX entries, NULL before; filled with borrowed values. The last one of a repeated
 * option counts
 * @ret_words: the words that are no options, borrowed and ended by NULL; free the array alone with g_free()
 * @ret_n:     their number
 * @ret_error: one sentence that names the mistake, a new string
 *
 * After "--", and after the command's name of a verb that passes text on (verb_is_literal()), everything is
 * a word. The first word is the verb; it decides which options are known.
 *
 * Return: 0; -EINVAL when *@ret_error says what is wrong.
 */
int options_parse(
                int argc, char **argv, const char **values, char ***ret_words, int *ret_n, char **ret_error);

/**
 * options_apply() - check and use the values of the options that are for all verbs: --timeout, --color,
 * --json
 * @terminal: whether standard output is one
 */
int options_apply(Cli *cli, bool terminal, char **ret_error);

/** option_number() - the value of an option as a number from @min to @max; @fallback when it was not given
 */
int option_number(const Cli *cli, OptionId id, guint64 min, guint64 max, guint64 fallback, guint64 *ret,
                char **ret_error);
