/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "schema/format-checks.h"

/* Two digits, at most @max; -1 when they are not there. */
static int two_digits(const char *at, int max) {
        int value;

        if (!g_ascii_isdigit(at[0]) || !g_ascii_isdigit(at[1]))
                return -1;
        value = (at[0] - '0') * 10 + (at[1] - '0');
        return value <= max ? value : -1;
}

bool format_date(const char *text, size_t size) {
        static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
        int century, year, month, day;
        bool leap;

        if (size != 10 || text[4] != '-' || text[7] != '-')
                return false;
        century = two_digits(text, 99);
        year = two_digits(text + 2, 99);
        month = two_digits(text + 5, 12);
        day = two_digits(text + 8, 31);
        if (century < 0 || year < 0 || month < 1 || day < 1)
                return false;

        leap = year == 0 ? century % 4 == 0 : year % 4 == 0;
        return day <= days[month - 1] + (month == 2 && leap);
}

/* "Z" or "+01:30"; the minutes that it is ahead of UTC. */
static bool read_offset(const char *text, size_t size, int *ret) {
        int hours, minutes;

        *ret = 0;
        if (size == 1)
                return *text == 'Z' || *text == 'z';
        if (size != 6 || (*text != '+' && *text != '-') || text[3] != ':')
                return false;
        hours = two_digits(text + 1, 23);
        minutes = two_digits(text + 4, 59);
        *ret = (hours * 60 + minutes) * (*text == '-' ? -1 : 1);
        return hours >= 0 && minutes >= 0;
}

bool format_time(const char *text, size_t size) {
        int hour, minute, second, offset, utc;
        size_t at = 8;

        if (size < 9 || text[2] != ':' || text[5] != ':')
                return false;
        hour = two_digits(text, 23);
        minute = two_digits(text + 3, 59);
        second = two_digits(text + 6, 60);
        if (hour < 0 || minute < 0 || second < 0)
                return false;

        if (text[at] == '.') {
                for (at++; at < size && g_ascii_isdigit(text[at]); at++)
                        ;
                if (at == 9)
                        return false;
        }
        if (at == size || !read_offset(text + at, size - at, &offset))
                return false;
        if (second < 60)
                return true;

        /* A leap second is the last one of a day in UTC. */
        utc = (hour * 60 + minute - offset + 2 * 1440) % 1440;
        return utc == 1439;
}

bool format_date_time(const char *text, size_t size) {
        return size > 11 && format_date(text, 10) && (text[10] == 'T' || text[10] == 't') &&
                        format_time(text + 11, size - 11);
}

/* Numbers with the units of @units, which must follow each other without a gap. */
static bool read_units(const char **at, const char *end, const char *units) {
        const char *unit = NULL;

        while (*at < end && **at != 'T') {
                const char *digits = *at, *found;

                while (*at < end && g_ascii_isdigit(**at))
                        (*at)++;
                if (*at == digits || *at == end)
                        return false;
                found = **at ? strchr(units, **at) : NULL;
                if (!found || (unit && found != unit + 1))
                        return false;
                unit = found;
                (*at)++;
        }
        return unit;
}

bool format_duration(const char *text, size_t size) {
        const char *at = text + 1, *end = text + size;
        bool date = false;

        if (size < 2 || *text != 'P')
                return false;
        if (text[size - 1] == 'W')
                return read_units(&at, end, "W");
        if (*at != 'T') {
                if (!read_units(&at, end, "YMD"))
                        return false;
                date = true;
        }
        if (at == end)
                return date;
        at++;
        return read_units(&at, end, "HMS") && at == end;
}
