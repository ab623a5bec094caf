/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "cli/when.h"

#define USEC_PER_SEC UINT64_C(1000000)

static uint64_t unit_seconds(const char *unit) {
        static const struct {
                const char *unit;
                uint64_t seconds;
        } units[] = { { "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 }, { "d", 86400 } };

        for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
                if (strcmp(unit, units[i].unit) == 0)
                        return units[i].seconds;

        return 0;
}

/* Zero is a length too. */
static int parse_length(const char *text, uint64_t *ret_seconds) {
        uint64_t number, seconds;
        char *unit = NULL;

        if (!g_ascii_isdigit(*text))
                return -EINVAL;

        number = g_ascii_strtoull(text, &unit, 10);
        seconds = unit_seconds(unit);
        if (seconds == 0 || number > UINT64_MAX / USEC_PER_SEC / seconds)
                return -EINVAL;

        *ret_seconds = number * seconds;
        return 0;
}

static int parse_age(const char *text, uint64_t now_usec, uint64_t *ret_usec) {
        uint64_t seconds, usec;
        int r = parse_length(text, &seconds);

        if (r < 0)
                return r;

        usec = seconds * USEC_PER_SEC;
        *ret_usec = usec < now_usec ? now_usec - usec : 1;
        return 0;
}

int when_parse_span(const char *text, uint64_t *ret_seconds) {
        uint64_t seconds;

        if (parse_length(text, &seconds) < 0 || seconds == 0)
                return -EINVAL;

        *ret_seconds = seconds;
        return 0;
}

int when_parse(const char *text, uint64_t now_usec, uint64_t *ret_usec) {
        g_autoptr(GTimeZone) zone = g_time_zone_new_local();
        g_autoptr(GDateTime) time = NULL;
        gint64 seconds;

        if (parse_age(text, now_usec, ret_usec) >= 0)
                return 0;

        time = g_date_time_new_from_iso8601(text, zone);
        if (!time)
                return -EINVAL;

        seconds = g_date_time_to_unix(time);
        if (seconds <= 0)
                return -EINVAL;
        *ret_usec = (uint64_t) seconds * USEC_PER_SEC + (uint64_t) g_date_time_get_microsecond(time);
        return 0;
}

char *when_format(uint64_t usec) {
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_local((gint64) (usec / USEC_PER_SEC));

        return time ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S") : g_strdup("-");
}
