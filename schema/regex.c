/* SPDX-License-Identifier: MIT */

/* ECMAScript's regular expressions (with the "u" flag) in the language of PCRE2. What means the same in both is copied
 * character by character; everything else is spelled out; what PCRE2 knows beyond ECMAScript never gets through. */

#include <errno.h>
#include <string.h>

#include "schema/pattern.h"
#include "schema/regex-property.h"

/* White space and line ends of ECMAScript, and the rest. */
#define SPACES                                                                                                        \
        "\\x{09}-\\x{0d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"      \
        "\\x{feff}"
#define NOT_SPACES                                                                                                    \
        "\\x{00}-\\x{08}\\x{0e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"        \
        "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{d7ff}\\x{e000}-\\x{fefe}"             \
        "\\x{ff00}-\\x{10ffff}"

typedef struct Regex {
        const char *at;
        const char *end;
        GString *out;
        const char *reason;
        unsigned groups;       /* capturing ones, in the whole expression */
        bool remembers;        /* it may refer back to a group */
        unsigned depth;        /* of open parentheses */
        bool atom;             /* what came last may be repeated */
} Regex;

static bool fail(Regex *regex, const char *reason) {
        if (!regex->reason)
                regex->reason = reason;
        return false;
}

static bool next_is(const Regex *regex, const char *text) {
        size_t size = strlen(text);

        return (size_t) (regex->end - regex->at) >= size && memcmp(regex->at, text, size) == 0;
}

static bool take(Regex *regex, const char *text) {
        if (!next_is(regex, text))
                return false;
        regex->at += strlen(text);
        return true;
}

static void put_char(Regex *regex, gunichar c) {
        if (c < 0x80 && !g_ascii_isalnum((char) c) && c != '_')
                g_string_append_printf(regex->out, "\\x{%02x}", c);
        else
                g_string_append_unichar(regex->out, c);
}

static gunichar take_char(Regex *regex) {
        gunichar c = *regex->at ? g_utf8_get_char(regex->at) : 0;

        regex->at += c < 0x80 ? 1 : g_unichar_to_utf8(c, NULL);
        return c;
}

static bool take_hex(Regex *regex, int digits, gunichar *ret) {
        gunichar value = 0;

        if (regex->end - regex->at < digits)
                return false;
        for (int i = 0; i < digits; i++) {
                int digit = g_ascii_xdigit_value(regex->at[i]);

                if (digit < 0)
                        return false;
                value = value * 16 + (gunichar) digit;
        }
        regex->at += digits;
        *ret = value;
        return true;
}

/* Behind "\u". */
static bool take_unicode(Regex *regex, gunichar *ret) {
        gunichar c = 0, low;
        const char *begin;

        if (take(regex, "{")) {
                for (begin = regex->at; regex->at < regex->end && g_ascii_isxdigit(*regex->at) && c <= 0x10ffff;
                                regex->at++)
                        c = c * 16 + (gunichar) g_ascii_xdigit_value(*regex->at);
                if (regex->at == begin || c > 0x10ffff || !take(regex, "}"))
                        return fail(regex, "\\u{…} needs the number of a character");
        } else if (!take_hex(regex, 4, &c))
                return fail(regex, "\\u needs four hexadecimal digits");

        if (c >= 0xd800 && c <= 0xdbff && take(regex, "\\u")) {
                if (!take_hex(regex, 4, &low) || low < 0xdc00 || low > 0xdfff)
                        return fail(regex, "half of a surrogate pair");
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        }
        if (c >= 0xd800 && c <= 0xdfff)
                return fail(regex, "half of a surrogate pair");
        *ret = c;
        return true;
}

/* An escape that stands for one character; @regex is behind the backslash and @c the character behind that. */
static bool take_escaped_char(Regex *regex, char c, gunichar *ret) {
        static const char controls[] = "t\tn\nv\vf\fr\r";

        for (const char *control = controls; *control; control += 2)
                if (*control == c) {
                        *ret = (gunichar) control[1];
                        return true;
                }
        if (c == 'c') {
                if (regex->at == regex->end || !g_ascii_isalpha(*regex->at))
                        return fail(regex, "\\c needs a letter");
                *ret = (gunichar) (*regex->at++ & 0x1f);
                return true;
        }
        if (c == '0') {
                if (regex->at < regex->end && g_ascii_isdigit(*regex->at))
                        return fail(regex, "octal escapes are not allowed");
                *ret = 0;
                return true;
        }
        if (c == 'x')
                return take_hex(regex, 2, ret) || fail(regex, "\\x needs two hexadecimal digits");
        if (c == 'u')
                return take_unicode(regex, ret);
        if (g_ascii_isalnum(c) || (c & 0x80) || c == '_')
                return fail(regex, "unknown escape");
        *ret = (gunichar) (unsigned char) c;
        return true;
}

static bool put_property(Regex *regex, char kind) {
        const char *end, *name;
        g_autofree char *text = NULL;

        if (!take(regex, "{"))
                return fail(regex, "\\p needs the name of a property in braces");
        end = memchr(regex->at, '}', (size_t) (regex->end - regex->at));
        if (!end)
                return fail(regex, "\\p needs the name of a property in braces");
        text = g_strndup(regex->at, (size_t) (end - regex->at));
        regex->at = end + 1;

        name = regex_property(text);
        if (!name)
                return fail(regex, "unknown property");
        g_string_append_printf(regex->out, "\\%c{%s}", kind, name);
        return true;
}

/* \d, \w, \s, \p and their opposites; false (without a reason) when @c is none of them. */
static bool put_set(Regex *regex, char c, bool in_class) {
        switch (c) {
        case 'd':
        case 'D':
        case 'w':
        case 'W':
                g_string_append_printf(regex->out, "\\%c", c);
                return true;
        case 's':
                g_string_append(regex->out, in_class ? SPACES : "[" SPACES "]");
                return true;
        case 'S':
                g_string_append(regex->out, in_class ? NOT_SPACES : "[^" SPACES "]");
                return true;
        case 'p':
        case 'P':
                return put_property(regex, c);
        default:
                return false;
        }
}

/* One member of a class: a character, or a set. */
static bool take_class_atom(Regex *regex, bool *ret_set, gunichar *ret) {
        char c;

        *ret_set = false;
        if (!take(regex, "\\")) {
                *ret = take_char(regex);
                return true;
        }
        if (regex->at == regex->end)
                return fail(regex, "a backslash at the end");
        c = *regex->at++;
        if (c == 'b') {
                *ret = '\b';
                return true;
        }
        *ret_set = put_set(regex, c, true);
        return *ret_set || (!regex->reason && take_escaped_char(regex, c, ret));
}

static bool put_class(Regex *regex) {
        bool negated = take(regex, "^"), set;
        gunichar from, to;

        if (take(regex, "]")) {
                g_string_append(regex->out, negated ? "[\\x{00}-\\x{10ffff}]" : "(?!)");
                return true;
        }
        g_string_append(regex->out, negated ? "[^" : "[");
        while (!take(regex, "]")) {
                if (regex->at == regex->end)
                        return fail(regex, "a class that does not end");
                if (!take_class_atom(regex, &set, &from))
                        return false;
                if (set)
                        continue;
                put_char(regex, from);
                if (!next_is(regex, "-") || regex->end - regex->at < 2 || regex->at[1] == ']')
                        continue;

                /* A range, unless a set follows: then the hyphen is itself. */
                if (regex->at[1] == '\\' && regex->end - regex->at > 2 && strchr("dDwWsSpP", regex->at[2]))
                        continue;
                regex->at++;
                if (!take_class_atom(regex, &set, &to))
                        return false;
                if (to < from)
                        return fail(regex, "a range that runs backwards");
                g_string_append_c(regex->out, '-');
                put_char(regex, to);
        }
        g_string_append_c(regex->out, ']');
        return true;
}

static bool put_back_reference(Regex *regex, char first) {
        unsigned number = (unsigned) (first - '0');

        while (regex->at < regex->end && g_ascii_isdigit(*regex->at) && number < 1000)
                number = number * 10 + (unsigned) (*regex->at++ - '0');
        if (number > regex->groups)
                return fail(regex, "a reference to a group that does not exist");
        g_string_append_printf(regex->out, "\\g{%u}", number);
        return true;
}

static bool put_name(Regex *regex, const char *before) {
        g_string_append(regex->out, before);
        if (regex->at == regex->end || g_ascii_isdigit(*regex->at))
                return fail(regex, "a group needs a name");
        while (regex->at < regex->end && (g_ascii_isalnum(*regex->at) || *regex->at == '_'))
                g_string_append_c(regex->out, *regex->at++);
        if (!take(regex, ">"))
                return fail(regex, "the name of a group may hold letters, digits and '_'");
        g_string_append_c(regex->out, '>');
        return true;
}

static bool put_escape(Regex *regex) {
        gunichar character;
        char c;

        if (regex->at == regex->end)
                return fail(regex, "a backslash at the end");
        c = *regex->at++;
        regex->atom = true;
        if (c == 'b' || c == 'B') {
                regex->atom = false;
                g_string_append_printf(regex->out, "\\%c", c);
                return true;
        }
        if (c >= '1' && c <= '9')
                return put_back_reference(regex, c);
        if (c == 'k')
                return take(regex, "<") ? put_name(regex, "\\k<") : fail(regex, "\\k needs the name of a group");
        if (put_set(regex, c, false))
                return true;
        if (regex->reason || !take_escaped_char(regex, c, &character))
                return false;
        put_char(regex, character);
        return true;
}

static bool put_group(Regex *regex) {
        static const char *const plain[] = { "?:", "?=", "?!", "?<=", "?<!" };

        regex->depth++;
        regex->atom = false;
        g_string_append_c(regex->out, '(');
        if (!next_is(regex, "?")) {
                /* What a group took is kept only for those who ask: it costs memory for every repetition. */
                if (!regex->remembers)
                        g_string_append(regex->out, "?:");
                return true;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(plain); i++)
                if (take(regex, plain[i])) {
                        g_string_append(regex->out, plain[i]);
                        return true;
                }
        return take(regex, "?<") ? put_name(regex, "?<") : fail(regex, "unknown kind of group");
}

/* "{2}", "{2,}" or "{2,3}"; false without a reason when it is none. */
static bool take_repeat(Regex *regex, unsigned *ret_min, unsigned *ret_max) {
        const char *at = regex->at + 1;
        guint64 min = 0, max;
        const char *digits = at;

        for (; at < regex->end && g_ascii_isdigit(*at); at++)
                min = MIN(min * 10 + (guint64) (*at - '0'), G_MAXUINT32);
        if (at == digits)
                return false;
        max = min;
        if (at < regex->end && *at == ',') {
                digits = ++at;
                for (max = 0; at < regex->end && g_ascii_isdigit(*at); at++)
                        max = MIN(max * 10 + (guint64) (*at - '0'), G_MAXUINT32);
                if (at == digits)
                        max = G_MAXUINT32;
        }
        if (at == regex->end || *at != '}')
                return false;
        regex->at = at + 1;
        *ret_min = (unsigned) min;
        *ret_max = (unsigned) max;
        return true;
}

static bool put_quantifier(Regex *regex) {
        unsigned min, max;

        if (*regex->at == '{') {
                if (!take_repeat(regex, &min, &max)) {
                        /* Not a repetition: stands for itself. */
                        put_char(regex, take_char(regex));
                        regex->atom = true;
                        return true;
                }
                if (max < min)
                        return fail(regex, "a repetition that runs backwards");
                if (max == G_MAXUINT32)
                        g_string_append_printf(regex->out, "{%u,}", min);
                else
                        g_string_append_printf(regex->out, "{%u,%u}", min, max);
        } else
                g_string_append_c(regex->out, *regex->at++);

        if (!regex->atom)
                return fail(regex, "nothing to repeat");
        regex->atom = false;
        if (take(regex, "?"))
                g_string_append_c(regex->out, '?');
        return true;
}

static bool put_next(Regex *regex) {
        char c = *regex->at;

        switch (c) {
        case '\\':
                regex->at++;
                return put_escape(regex);
        case '[':
                regex->at++;
                regex->atom = true;
                return put_class(regex);
        case '(':
                regex->at++;
                return put_group(regex);
        case ')':
                regex->at++;
                if (regex->depth-- == 0)
                        return fail(regex, "a ')' without its '('");
                regex->atom = true;
                g_string_append_c(regex->out, c);
                return true;
        case '*':
        case '+':
        case '?':
        case '{':
                return put_quantifier(regex);
        case '|':
        case '^':
        case '$':
                regex->at++;
                regex->atom = false;
                g_string_append_c(regex->out, c);
                return true;
        case '.':
                regex->at++;
                regex->atom = true;
                g_string_append(regex->out, "[^\\x{0a}\\x{0d}\\x{2028}\\x{2029}]");
                return true;
        default:
                regex->atom = true;
                put_char(regex, take_char(regex));
                return true;
        }
}

/* Whether there may be a back reference. */
static bool refers_back(const char *at, const char *end) {
        for (; at + 1 < end; at++)
                if (*at == '\\') {
                        at++;
                        if ((*at >= '1' && *at <= '9') || *at == 'k')
                                return true;
                }
        return false;
}

static unsigned count_groups(const char *at, const char *end) {
        unsigned groups = 0;
        bool in_class = false;

        for (; at < end; at++) {
                if (*at == '\\')
                        at++;
                else if (*at == '[')
                        in_class = true;
                else if (*at == ']')
                        in_class = false;
                else if (*at == '(' && !in_class &&
                                (end - at < 2 || at[1] != '?' ||
                                                (end - at > 3 && at[2] == '<' && at[3] != '=' && at[3] != '!')))
                        groups++;
        }
        return groups;
}

int regex_translate(const char *text, size_t size, char **ret, size_t *ret_size, const char **ret_reason) {
        g_autoptr(GString) out = g_string_sized_new(2 * size);
        Regex regex = { .at = text, .end = text + size, .out = out, .groups = count_groups(text, text + size),
                .remembers = refers_back(text, text + size) };
        bool ok = true;

        while (ok && regex.at < regex.end)
                ok = put_next(&regex);
        if (ok && regex.depth > 0)
                ok = fail(&regex, "a '(' without its ')'");
        if (!ok) {
                *ret_reason = regex.reason;
                return -EINVAL;
        }

        *ret_size = out->len;
        *ret = g_string_free(g_steal_pointer(&out), FALSE);
        return 0;
}
