/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "schema/format-checks.h"

#define LABEL_BYTES_MAX      63u
#define HOSTNAME_BYTES_MAX   253u
#define LOCAL_PART_BYTES_MAX 64u

static bool is_plain_label(const char *text, size_t size) {
        if (size == 0 || size > LABEL_BYTES_MAX || text[0] == '-' || text[size - 1] == '-')
                return false;
        for (size_t i = 0; i < size; i++)
                if (!g_ascii_isalnum(text[i]) && text[i] != '-')
                        return false;
        return true;
}

/* Two hyphens in the third and fourth place are kept for encodings, of which there is one. */
static bool is_label(const char *text, size_t size) {
        if (!is_plain_label(text, size))
                return false;
        if (size > 4 && text[2] == '-' && text[3] == '-')
                return g_ascii_strncasecmp(text, "xn", 2) == 0 && format_alabel(text, size);
        return true;
}

static bool is_hostname(const char *text, size_t size, bool (*check_label)(const char *label, size_t size)) {
        const char *end = text + size;

        if (size == 0 || size > HOSTNAME_BYTES_MAX)
                return false;
        for (;;) {
                const char *dot = memchr(text, '.', (size_t) (end - text));

                if (!check_label(text, (size_t) ((dot ? dot : end) - text)))
                        return false;
                if (!dot)
                        return true;
                text = dot + 1;
        }
}

bool format_hostname(const char *text, size_t size) {
        return is_hostname(text, size, is_label);
}

bool format_old_hostname(const char *text, size_t size) {
        return is_hostname(text, size, is_plain_label);
}

bool format_ipv4(const char *text, size_t size) {
        const char *end = text + size;

        for (int part = 0; part < 4; part++) {
                const char *begin = text;
                int value = 0;

                while (text < end && g_ascii_isdigit(*text) && text - begin < 3)
                        value = value * 10 + (*text++ - '0');
                if (text == begin || value > 255 || (*begin == '0' && text - begin > 1))
                        return false;
                if (part < 3 && (text == end || *text++ != '.'))
                        return false;
        }
        return text == end;
}

bool format_ipv6(const char *text, size_t size) {
        const char *end = text + size;
        bool gap = false;
        int groups = 0;

        if (size >= 2 && text[0] == ':' && text[1] == ':') {
                gap = true;
                text += 2;
        }
        while (text < end) {
                const char *begin = text;

                while (text < end && g_ascii_isxdigit(*text) && text - begin < 4)
                        text++;
                if (text < end && *text == '.') {
                        groups += 2;
                        return format_ipv4(begin, (size_t) (end - begin)) && (gap ? groups < 8 : groups == 8);
                }
                if (text == begin)
                        return false;
                groups++;
                if (text == end)
                        break;
                if (*text++ != ':' || text == end)
                        return false;
                if (*text == ':') {
                        if (gap)
                                return false;
                        gap = true;
                        text++;
                }
        }
        return gap ? groups < 8 : groups == 8;
}

/* One unquoted character before the '@'. */
static bool is_atom(char c, bool international) {
        return (c & 0x80) ? international : g_ascii_isalnum(c) || (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

static const char *skip_atoms(const char *text, const char *end, bool international) {
        const char *begin = text;

        for (;;) {
                const char *atom = text;

                while (text < end && is_atom(*text, international))
                        text++;
                if (text == atom)
                        return begin;
                if (text == end || *text != '.')
                        return text;
                text++;
        }
}

/* Behind the closing quote, or where it began when it is none. */
static const char *skip_quoted(const char *text, const char *end, bool international) {
        const char *begin = text;

        for (text++; text < end && *text != '"'; text++) {
                if (*text == '\\' && ++text == end)
                        return begin;
                if ((*text & 0x80) ? !international : *text < 0x20 || *text == 0x7f)
                        return begin;
        }
        return text < end ? text + 1 : begin;
}

/* Labels in which any character beyond ASCII is taken. */
static bool is_loose_domain(const char *text, size_t size) {
        const char *end = text + size;

        if (size == 0)
                return false;
        for (const char *label = text; text <= end; text++) {
                if (text < end && *text != '.') {
                        if (!(*text & 0x80) && !g_ascii_isalnum(*text) && *text != '-')
                                return false;
                        continue;
                }
                if (text == label || *label == '-' || text[-1] == '-')
                        return false;
                label = text + 1;
        }
        return true;
}

static bool is_domain(const char *text, size_t size, bool international) {
        if (size > 2 && text[0] == '[' && text[size - 1] == ']') {
                if (size > 7 && g_ascii_strncasecmp(text + 1, "IPv6:", 5) == 0)
                        return format_ipv6(text + 6, size - 7);
                return format_ipv4(text + 1, size - 2);
        }
        return international ? is_loose_domain(text, size) : format_hostname(text, size);
}

static bool is_email(const char *text, size_t size, bool international) {
        const char *end = text + size, *at;

        if (size == 0)
                return false;
        at = *text == '"' ? skip_quoted(text, end, international) : skip_atoms(text, end, international);
        if (at == text || at == end || *at != '@' || (size_t) (at - text) > LOCAL_PART_BYTES_MAX)
                return false;
        return is_domain(at + 1, (size_t) (end - at - 1), international);
}

bool format_email(const char *text, size_t size) {
        return is_email(text, size, false);
}

bool format_idn_email(const char *text, size_t size) {
        return is_email(text, size, true);
}

bool format_uuid(const char *text, size_t size) {
        if (size != 36)
                return false;
        for (size_t i = 0; i < size; i++) {
                bool dash = i == 8 || i == 13 || i == 18 || i == 23;

                if (dash ? text[i] != '-' : !g_ascii_isxdigit(text[i]))
                        return false;
        }
        return true;
}
