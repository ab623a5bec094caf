/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "schema/format-checks.h"

/* What a character may be part of. */
typedef enum UriPart {
        URI_USER,
        URI_HOST,
        URI_PATH,
        URI_QUERY,
        URI_FRAGMENT,
} UriPart;

static bool is_international(gunichar c, UriPart part) {
        if (c < 0xa0 || (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef) || (c >= 0xfff0 && c <= 0xffff))
                return false;
        if ((c >= 0xe000 && c <= 0xf8ff) || c >= 0xf0000)
                return part == URI_QUERY;
        return c < 0xe0000 || c >= 0xe1000;
}

static bool is_plain(char c, UriPart part) {
        if (g_ascii_isalnum(c) || (c && strchr("-._~!$&'()*+,;=", c)))
                return true;
        switch (part) {
        case URI_USER:
                return c == ':';
        case URI_HOST:
                return false;
        case URI_PATH:
                return c && strchr(":@/", c);
        default:
                return c && strchr(":@/?", c);
        }
}

static bool is_escape(const char *at, const char *end) {
        return end - at >= 3 && *at == '%' && g_ascii_isxdigit(at[1]) && g_ascii_isxdigit(at[2]);
}

static bool is_part(const char *at, const char *end, UriPart part, bool international) {
        while (at < end) {
                if (*at & 0x80) {
                        if (!international || !is_international(g_utf8_get_char(at), part))
                                return false;
                        at = g_utf8_next_char(at);
                } else if (is_escape(at, end))
                        at += 3;
                else if (is_plain(*at, part))
                        at++;
                else
                        return false;
        }
        return true;
}

/* Between brackets: IPv6 or "v1.…". */
static bool is_literal(const char *at, const char *end) {
        if (at < end && (*at | 0x20) == 'v') {
                const char *digits = ++at;

                while (at < end && g_ascii_isxdigit(*at))
                        at++;
                if (at == digits || at == end || *at++ != '.' || at == end)
                        return false;
                return !memchr(at, '%', (size_t) (end - at)) && is_part(at, end, URI_USER, false);
        }
        return format_ipv6(at, (size_t) (end - at));
}

static bool is_authority(const char *at, const char *end, bool international) {
        const char *user = memchr(at, '@', (size_t) (end - at)), *host;

        if (user) {
                if (!is_part(at, user, URI_USER, international))
                        return false;
                at = user + 1;
        }
        host = at;
        if (at < end && *at == '[') {
                at = memchr(at, ']', (size_t) (end - at));
                if (!at || !is_literal(host + 1, at))
                        return false;
                at++;
        } else {
                while (at < end && *at != ':')
                        at++;
                if (!is_part(host, at, URI_HOST, international))
                        return false;
        }
        if (at < end && *at++ != ':')
                return false;
        while (at < end && g_ascii_isdigit(*at))
                at++;
        return at == end;
}

/* The first of some characters, or the end. */
static const char *find(const char *at, const char *end, const char *stops) {
        while (at < end && !(*at && strchr(stops, *at)))
                at++;
        return at;
}

static bool is_uri(const char *text, size_t size, bool relative, bool international) {
        const char *at = text, *end = text + size, *stop = find(at, end, ":/?#");

        if (stop < end && *stop == ':') {
                if (stop == at || !g_ascii_isalpha(*at))
                        return false;
                for (; at < stop; at++)
                        if (!g_ascii_isalnum(*at) && !strchr("+-.", *at ?: 'x'))
                                return false;
                at++;
        } else if (!relative)
                return false;

        if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
                stop = find(at + 2, end, "/?#");
                if (!is_authority(at + 2, stop, international))
                        return false;
                at = stop;
        }
        stop = find(at, end, "?#");
        if (!is_part(at, stop, URI_PATH, international))
                return false;
        at = stop;
        if (at < end && *at == '?') {
                stop = find(at, end, "#");
                if (!is_part(at + 1, stop, URI_QUERY, international))
                        return false;
                at = stop;
        }
        return at == end || is_part(at + 1, end, URI_FRAGMENT, international);
}

bool format_uri(const char *text, size_t size) {
        return is_uri(text, size, false, false);
}

bool format_uri_reference(const char *text, size_t size) {
        return is_uri(text, size, true, false);
}

bool format_iri(const char *text, size_t size) {
        return is_uri(text, size, false, true);
}

bool format_iri_reference(const char *text, size_t size) {
        return is_uri(text, size, true, true);
}

/* "name", "name.part", with escapes; behind it, or NULL. */
static const char *skip_variable(const char *at, const char *end) {
        for (;;) {
                const char *begin = at;

                while (at < end && (g_ascii_isalnum(*at) || *at == '_' || is_escape(at, end)))
                        at += *at == '%' ? 3 : 1;
                if (at == begin)
                        return NULL;
                if (at == end || *at != '.')
                        return at;
                at++;
        }
}

/* Behind the '{' of an expression; behind its '}', or NULL. */
static const char *skip_expression(const char *at, const char *end) {
        if (at < end && *at && strchr("+#./;?&=,!@|", *at))
                at++;
        for (;;) {
                at = skip_variable(at, end);
                if (!at || at == end)
                        return NULL;
                if (*at == '*')
                        at++;
                else if (*at == ':') {
                        const char *digits = ++at;

                        while (at < end && g_ascii_isdigit(*at))
                                at++;
                        if (at == digits || at - digits > 4 || *digits == '0')
                                return NULL;
                }
                if (at == end || (*at != ',' && *at != '}'))
                        return NULL;
                if (*at++ == '}')
                        return at;
        }
}

bool format_uri_template(const char *text, size_t size) {
        const char *end = text + size;

        while (text && text < end) {
                unsigned char c = (unsigned char) *text;

                if (c == '{')
                        text = skip_expression(text + 1, end);
                else if (c == '%') {
                        if (!is_escape(text, end))
                                return false;
                        text += 3;
                } else if (c <= 0x20 || c == 0x7f || strchr("\"<>\\^`|}", c))
                        return false;
                else
                        text++;
        }
        return text;
}

bool format_json_pointer(const char *text, size_t size) {
        if (size > 0 && *text != '/')
                return false;
        for (size_t i = 0; i < size; i++)
                if (text[i] == '~' && (i + 1 == size || (text[i + 1] != '0' && text[i + 1] != '1')))
                        return false;
        return true;
}

bool format_relative_json_pointer(const char *text, size_t size) {
        size_t digits = 0;

        while (digits < size && g_ascii_isdigit(text[digits]))
                digits++;
        if (digits == 0 || (*text == '0' && digits > 1))
                return false;
        if (size == digits + 1 && text[digits] == '#')
                return true;
        return format_json_pointer(text + digits, size - digits);
}
