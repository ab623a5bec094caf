/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <glib.h>
#include <stdint.h>
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "dbus/options.h"

static int malformed(sd_bus_error *reterr) {
        return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The options are malformed.");
}

static const char *type_words(char type) {
        switch (type) {
        case 's':
                return "a string (s)";
        case 'o':
                return "an object path (o)";
        case 'a':
                return "a list of strings (as)";
        case 'u':
                return "a number (u)";
        case 't':
                return "a number (t)";
        default:
                return "a boolean (b)";
        }
}

static int find_option(const Option *table, size_t n, const char *name, size_t *ret, sd_bus_error *reterr) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(table[i].name, name) == 0) {
                        *ret = i;
                        return 0;
                }

        return errors_set(reterr, ERROR_INVALID_OPTION, "There is no option '%.128s' here.", name);
}

/* An empty list is not the same as none: it comes out as an array of nothing. */
static int read_list(sd_bus_message *m, char ***field, sd_bus_error *reterr) {
        if (sd_bus_message_read_strv(m, field) < 0)
                return malformed(reterr);
        if (!*field)
                *field = g_new0(char *, 1);
        return 0;
}

static int read_value(sd_bus_message *m, const Option *option, void *target, sd_bus_error *reterr) {
        void *field = (char *) target + option->offset;
        size_t bytes_max = option->bytes_max > 0 ? option->bytes_max : OPTION_TEXT_BYTES_MAX;

        if (option->type == 'a')
                return read_list(m, field, reterr);
        if (sd_bus_message_read_basic(m, option->type, field) <= 0)
                return malformed(reterr);
        if ((option->type == 's' || option->type == 'o') && strlen(*(const char **) field) > bytes_max)
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option '%s' is longer than %zu bytes.", option->name,
                                bytes_max);

        return 0;
}

static int read_variant(sd_bus_message *m, const Option *option, void *target, sd_bus_error *reterr) {
        const char type[] = { option->type, option->type == 'a' ? 's' : '\0', '\0' };
        const char *contents = NULL;
        char container = 0;
        int r;

        if (sd_bus_message_peek_type(m, &container, &contents) <= 0 || container != 'v' || !contents)
                return malformed(reterr);
        if (strcmp(contents, type) != 0)
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option '%s' must be %s.", option->name,
                                type_words(option->type));
        if (sd_bus_message_enter_container(m, 'v', type) <= 0)
                return malformed(reterr);

        r = read_value(m, option, target, reterr);
        if (r < 0)
                return r;

        return sd_bus_message_exit_container(m) < 0 ? malformed(reterr) : 0;
}

/* 1: read one, 0: there is no more. */
static int read_entry(
                sd_bus_message *m, const Option *table, size_t n, uint32_t *seen, void *target, sd_bus_error *reterr) {
        const char *name = NULL;
        size_t index = 0;
        int r;

        r = sd_bus_message_enter_container(m, 'e', "sv");
        if (r == 0)
                return 0;
        if (r < 0 || sd_bus_message_read_basic(m, 's', &name) <= 0)
                return malformed(reterr);

        r = find_option(table, n, name, &index, reterr);
        if (r < 0)
                return r;
        if (*seen & (1u << index))
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option '%s' is given twice.", table[index].name);
        *seen |= 1u << index;

        r = read_variant(m, &table[index], target, reterr);
        if (r < 0)
                return r;

        return sd_bus_message_exit_container(m) < 0 ? malformed(reterr) : 1;
}

int options_read(sd_bus_message *m, const Option *table, size_t n, void *target, sd_bus_error *reterr) {
        uint32_t seen = 0;
        int r;

        assert(n <= BUS_OPTIONS_MAX);

        if (sd_bus_message_enter_container(m, 'a', "{sv}") < 0)
                return malformed(reterr);

        /* Unknown and repeated names end the walk, so it can't be longer than the table. */
        do
                r = read_entry(m, table, n, &seen, target, reterr);
        while (r > 0);
        if (r < 0)
                return r;

        return sd_bus_message_exit_container(m) < 0 ? malformed(reterr) : 0;
}

int options_read_none(sd_bus_message *m, sd_bus_error *reterr) {
        return options_read(m, NULL, 0, NULL, reterr);
}
