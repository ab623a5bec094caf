/* SPDX-License-Identifier: MIT */
#pragma once

/* The a{sv} options of a method, read into a struct by a table. An option that is not in the table, twice there, of
 * another type or too long is refused by its name, so that a misspelt one is noticed and never ignored. */

#include <stddef.h>
#include <systemd/sd-bus.h>

typedef struct Option {
        const char *name;
        char type;        /* 's', 'o': const char *; 'u': uint32_t; 't': uint64_t; 'b': int;
                             'a': char ** (as), a new array that the caller frees, also after a failure */
        size_t offset;    /* of the field in the target */
        size_t bytes_max; /* of a text; 0: OPTION_TEXT_BYTES_MAX */
} Option;

#define OPTION(word, kind, structure, field) \
        { .name = (word), .type = (kind), .offset = offsetof(structure, field) }

/**
 * options_read() - read the options that stand next in a message
 * @table:  at most 32 rows; NULL with @n 0 for a method that knows no option yet
 * @target: the struct; the fields of options that are not given stay as they are. Texts belong to the message
 *
 * The field of an 'a' must be NULL before. Values of unknown options are never looked into, however deep they are. On failure @target may be half filled.
 * Return: 0; ERROR_INVALID_OPTION with the option's name; ERROR_INVALID_ARGUMENTS when the message is malformed.
 */
int options_read(sd_bus_message *m, const Option *table, size_t n, void *target, sd_bus_error *reterr);

/** options_read_none() - the same for a method that knows no option yet */
int options_read_none(sd_bus_message *m, sd_bus_error *reterr);
