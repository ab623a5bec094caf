/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/message-json.h"

#define NESTING_MAX 32u

typedef union Basic {
        uint8_t y;
        int b;
        int16_t n;
        uint16_t q;
        int32_t i;
        uint32_t u;
        int64_t x;
        uint64_t t;
        double d;
        const char *s;
        int h;
} Basic;

static int write_items(sd_bus_message *m, JWriter *writer, unsigned nesting);

static void write_double(JWriter *writer, double number) {
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        if (!isfinite(number)) {
                jwriter_null(writer);
                return;
        }
        (void) g_ascii_dtostr(text, sizeof text, number);
        jwriter_raw(writer, text, strlen(text));
}

static void write_basic_value(JWriter *writer, char type, const Basic *value) {
        switch (type) {
        case 'y':
                jwriter_uint(writer, value->y);
                break;
        case 'b':
                jwriter_boolean(writer, value->b);
                break;
        case 'n':
                jwriter_int(writer, value->n);
                break;
        case 'q':
                jwriter_uint(writer, value->q);
                break;
        case 'i':
                jwriter_int(writer, value->i);
                break;
        case 'u':
                jwriter_uint(writer, value->u);
                break;
        case 'x':
                jwriter_int(writer, value->x);
                break;
        case 't':
                jwriter_uint(writer, value->t);
                break;
        case 'd':
                write_double(writer, value->d);
                break;
        case 's':
        case 'o':
        case 'g':
                jwriter_string(writer, value->s);
                break;
        default:
                jwriter_null(writer);
                break; /* a descriptor has no meaning in text */
        }
}

static int write_basic(sd_bus_message *m, JWriter *writer, char type) {
        Basic value = {};
        int r = sd_bus_message_read_basic(m, type, &value);

        if (r < 0)
                return r;

        write_basic_value(writer, type, &value);
        return 0;
}

/* A dictionary whose keys are strings. */
static int write_dictionary(sd_bus_message *m, JWriter *writer, const char *contents, unsigned nesting) {
        g_autofree char *entry = g_strndup(contents + 1, strlen(contents) - 2);
        const char *key;
        int r;

        r = sd_bus_message_enter_container(m, 'a', contents);
        if (r < 0)
                return r;

        jwriter_begin_object(writer);
        while ((r = sd_bus_message_enter_container(m, 'e', entry)) > 0) {
                r = sd_bus_message_read(m, "s", &key);
                if (r < 0)
                        return r;
                jwriter_key(writer, key);
                r = write_items(m, writer, nesting + 1);
                if (r < 0)
                        return r;
                r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;

        jwriter_end_object(writer);
        return sd_bus_message_exit_container(m);
}

static int write_container(
                sd_bus_message *m, JWriter *writer, char type, const char *contents, unsigned nesting) {
        int r;

        if (type == 'a' && g_str_has_prefix(contents, "{s"))
                return write_dictionary(m, writer, contents, nesting);

        r = sd_bus_message_enter_container(m, type, contents);
        if (r < 0)
                return r;

        if (type != 'v')
                jwriter_begin_array(writer);
        r = write_items(m, writer, nesting + 1);
        if (r < 0)
                return r;
        if (type != 'v')
                jwriter_end_array(writer);
        return sd_bus_message_exit_container(m);
}

static int write_items(sd_bus_message *m, JWriter *writer, unsigned nesting) {
        const char *contents;
        char type;
        int r;

        if (nesting > NESTING_MAX)
                return -EBADMSG;

        while ((r = sd_bus_message_peek_type(m, &type, &contents)) > 0) {
                r = contents ? write_container(m, writer, type, contents, nesting)
                             : write_basic(m, writer, type);
                if (r < 0)
                        return r;
        }

        return r;
}

int message_write(sd_bus_message *m, JWriter *writer) {
        int r;

        jwriter_begin_array(writer);
        r = write_items(m, writer, 0);
        if (r < 0)
                return r;

        jwriter_end_array(writer);
        return 0;
}
