/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "schema/pattern-set.h"

unsigned set_kind(gunichar c) {
        if (c == 0x2028 || c == 0x2029)
                return KIND_LINE_END;
        if (c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000 ||
                        c == 0xfeff)
                return KIND_SPACE;
        return KIND_OTHER;
}

/* The kind of a named character; 0 when it is none. */
static int extra_kind(const PatternText *text, gunichar c) {
        for (unsigned i = 0; i < text->n_extras; i++)
                if (text->extras[i] == c)
                        return (int) (KIND_EXTRA + i);
        return 0;
}

bool set_find_extras(PatternText *text) {
        for (const char *at = text->at; at < text->end; at = g_utf8_next_char(at)) {
                gunichar c;

                if (!(*at & 0x80))
                        continue;
                c = g_utf8_get_char(at);
                if (extra_kind(text, c))
                        continue;
                if (text->n_extras == EXTRAS_MAX || set_kind(c) != KIND_OTHER)
                        return false;
                text->extras[text->n_extras++] = c;
        }
        return true;
}

/* Takes a character beyond ASCII. */
static int take_extra(PatternText *text) {
        int kind = extra_kind(text, g_utf8_get_char(text->at));

        text->at = g_utf8_next_char(text->at);
        return kind;
}

static void set_range(Set *set, int from, int to) {
        for (int i = from; i <= to; i++)
                set->has[i] = true;
}

static void set_invert(Set *set) {
        for (int i = 0; i < _KIND_MAX; i++)
                set->has[i] = !set->has[i];
}

static void set_add(Set *set, const Set *other) {
        for (int i = 0; i < _KIND_MAX; i++)
                set->has[i] |= other->has[i];
}

/* \d \w \s and their opposites. */
static bool set_add_named(Set *set, char name) {
        Set named = {};

        switch (g_ascii_tolower(name)) {
        case 'w':
                set_range(&named, 'A', 'Z');
                set_range(&named, 'a', 'z');
                set_range(&named, '0', '9');
                named.has['_'] = true;
                break;
        case 'd':
                set_range(&named, '0', '9');
                break;
        case 's':
                set_range(&named, '\t', '\r');
                named.has[' '] = named.has[KIND_SPACE] = named.has[KIND_LINE_END] = true;
                break;
        default:
                return false;
        }
        if (g_ascii_isupper(name))
                set_invert(&named);
        set_add(set, &named);
        return true;
}

/* The character that an escape stands for; -1 for those left to the other engine. */
static int escaped_char(char c) {
        switch (c) {
        case 't':
                return '\t';
        case 'n':
                return '\n';
        case 'r':
                return '\r';
        default:
                return (c & 0x80) || g_ascii_isalnum(c) || c < 0x20 ? -1 : c;
        }
}

/* One member of a class: the character, -1 when it was a set, -2 for what is not simple. */
static int class_atom(PatternText *text, Set *set) {
        char c = *text->at;

        if (c & 0x80)
                return take_extra(text);
        text->at++;
        if (c != '\\')
                return c;
        if (text->at == text->end)
                return -2;
        c = *text->at++;
        if (set_add_named(set, c))
                return -1;
        return escaped_char(c) >= 0 ? escaped_char(c) : -2;
}

static bool read_class(PatternText *text, Set *set) {
        bool negated = text->at < text->end && *text->at == '^';

        text->at += negated;
        while (text->at < text->end && *text->at != ']') {
                int from = class_atom(text, set), to = from;

                if (from == -2)
                        return false;
                if (text->end - text->at > 1 && text->at[0] == '-' && text->at[1] != ']') {
                        if (from < 0 || from >= KIND_OTHER)
                                return false;
                        text->at++;
                        to = class_atom(text, set);
                        if (to < 0 || to >= KIND_OTHER)
                                return false;
                }
                if (from >= 0)
                        set_range(set, from, to);
        }
        if (text->at == text->end)
                return false;
        text->at++;
        if (negated)
                set_invert(set);
        return true;
}

bool set_read(PatternText *text, Set *set) {
        char c = *text->at;

        if (c & 0x80) {
                set->has[take_extra(text)] = true;
                return true;
        }
        text->at++;
        switch (c) {
        case '[':
                return read_class(text, set);
        case '.':
                set->has['\n'] = set->has['\r'] = set->has[KIND_LINE_END] = true;
                set_invert(set);
                return true;
        case '\\':
                if (text->at == text->end)
                        return false;
                c = *text->at++;
                if (set_add_named(set, c))
                        return true;
                if (escaped_char(c) < 0)
                        return false;
                set->has[escaped_char(c)] = true;
                return true;
        default:
                if (strchr("^$()|*+?{}]", c))
                        return false;
                set->has[(int) c] = true;
                return true;
        }
}
