/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "schema/pattern-simple.h"

/* Characters beyond ASCII are told apart only as far as classes without ranges there can tell: line ends, other white
 * space, the rest. They stand behind the 128 of ASCII. */
enum {
        KIND_OTHER = 128,
        KIND_SPACE,
        KIND_LINE_END,
        _KIND_MAX,
};

#define POSITIONS_MAX 62

/* One bit is one position: a class that takes one character. */
struct PatternSimple {
        uint64_t takes[_KIND_MAX]; /* positions that a kind of character can take */
        uint64_t first;            /* positions where a match can begin */
        uint64_t repeats;          /* positions that may be taken again */
        uint64_t fill[6];          /* for readiness to run on over optional positions, in steps of 1, 2, 4 … */
        unsigned n_fill;
        uint64_t end; /* the bit behind the last position */
        bool from_start, to_end;
};

typedef struct Chain {
        PatternSimple *pattern;
        const char *at, *end;
        unsigned n; /* positions so far */
        uint64_t optional;
} Chain;

typedef struct Set {
        bool has[_KIND_MAX];
} Set;

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
static int class_atom(Chain *chain, Set *set) {
        char c = *chain->at++;

        if (c & 0x80)
                return -2;
        if (c != '\\')
                return c;
        if (chain->at == chain->end)
                return -2;
        c = *chain->at++;
        if (set_add_named(set, c))
                return -1;
        return escaped_char(c) >= 0 ? escaped_char(c) : -2;
}

static bool read_class(Chain *chain, Set *set) {
        bool negated = chain->at < chain->end && *chain->at == '^';

        chain->at += negated;
        while (chain->at < chain->end && *chain->at != ']') {
                int from = class_atom(chain, set), to = from;

                if (from == -2)
                        return false;
                if (chain->end - chain->at > 1 && chain->at[0] == '-' && chain->at[1] != ']') {
                        if (from < 0)
                                return false;
                        chain->at++;
                        to = class_atom(chain, set);
                        if (to < 0)
                                return false;
                }
                if (from >= 0)
                        set_range(set, from, to);
        }
        if (chain->at == chain->end)
                return false;
        chain->at++;
        if (negated)
                set_invert(set);
        return true;
}

static bool read_item(Chain *chain, Set *set) {
        char c = *chain->at++;

        switch (c) {
        case '[':
                return read_class(chain, set);
        case '.':
                set->has['\n'] = set->has['\r'] = set->has[KIND_LINE_END] = true;
                set_invert(set);
                return true;
        case '\\':
                if (chain->at == chain->end)
                        return false;
                c = *chain->at++;
                if (set_add_named(set, c))
                        return true;
                if (escaped_char(c) < 0)
                        return false;
                set->has[escaped_char(c)] = true;
                return true;
        default:
                if ((c & 0x80) || strchr("^$()|*+?{}]", c))
                        return false;
                set->has[(int) c] = true;
                return true;
        }
}

static bool read_number(Chain *chain, unsigned *ret) {
        const char *begin = chain->at;
        unsigned value = 0;

        for (; chain->at < chain->end && g_ascii_isdigit(*chain->at); chain->at++)
                value = MIN(value * 10 + (unsigned) (*chain->at - '0'), 1000u);
        *ret = value;
        return chain->at > begin;
}

/* How often the item before occurs; @ret_max 0 means without limit. */
static bool read_repeat(Chain *chain, unsigned *ret_min, unsigned *ret_max) {
        char c = chain->at < chain->end ? *chain->at : '\0';

        *ret_min = *ret_max = 1;
        if (c == '*' || c == '+' || c == '?') {
                chain->at++;
                *ret_min = c == '+';
                *ret_max = c == '?';
        } else if (c == '{') {
                chain->at++;
                if (!read_number(chain, ret_min))
                        return false;
                *ret_max = *ret_min;
                if (chain->at < chain->end && *chain->at == ',') {
                        chain->at++;
                        if (!read_number(chain, ret_max))
                                *ret_max = 0;
                        else if (*ret_max == 0)
                                return false;
                } else if (*ret_max == 0)
                        return false;
                if (chain->at == chain->end || *chain->at++ != '}')
                        return false;
        } else
                return true;
        /* Lazy or not makes no difference to whether it matches. */
        if (chain->at < chain->end && *chain->at == '?')
                chain->at++;
        return true;
}

static bool add_position(Chain *chain, const Set *set, bool optional, bool repeats) {
        uint64_t bit = UINT64_C(1) << chain->n;

        if (chain->n == POSITIONS_MAX)
                return false;
        chain->n++;
        for (int i = 0; i < _KIND_MAX; i++)
                if (set->has[i])
                        chain->pattern->takes[i] |= bit;
        if (optional)
                chain->optional |= bit;
        if (repeats)
                chain->pattern->repeats |= bit;
        return true;
}

static bool add_item(Chain *chain, const Set *set, unsigned min, unsigned max) {
        unsigned n = MAX(max, MAX(min, 1u));

        for (unsigned i = 0; i < n; i++)
                if (!add_position(chain, set, i >= min, max == 0 && i + 1 == n))
                        return false;
        return true;
}

static bool read_chain(Chain *chain) {
        PatternSimple *pattern = chain->pattern;

        if (chain->at < chain->end && *chain->at == '^') {
                pattern->from_start = true;
                chain->at++;
        }
        while (chain->at < chain->end) {
                unsigned min, max;
                Set set = {};

                if (*chain->at == '$' && chain->end - chain->at == 1) {
                        pattern->to_end = true;
                        chain->at++;
                        break;
                }
                if (!read_item(chain, &set) || !read_repeat(chain, &min, &max) || !add_item(chain, &set, min, max))
                        return false;
        }
        return true;
}

/* A position that is ready and optional makes the next one ready too. */
static inline uint64_t spread(const PatternSimple *pattern, uint64_t ready) {
        for (unsigned i = 0; i < pattern->n_fill; i++)
                ready |= pattern->fill[i] & (ready << (1u << i));
        return ready;
}

static void prepare(Chain *chain) {
        PatternSimple *pattern = chain->pattern;
        uint64_t fill = chain->optional << 1;

        for (unsigned i = 0; i < G_N_ELEMENTS(pattern->fill) && fill; i++) {
                pattern->fill[pattern->n_fill++] = fill;
                fill &= fill << (1u << i);
        }
        pattern->end = UINT64_C(1) << chain->n;
        pattern->first = spread(pattern, 1);
}

int pattern_simple_compile(const char *text, size_t size, PatternSimple **ret) {
        g_autofree PatternSimple *pattern = g_new0(PatternSimple, 1);
        Chain chain = { .pattern = pattern, .at = text, .end = text + size };

        if (memchr(text, '\0', size) || !read_chain(&chain))
                return -ENOTSUP;
        prepare(&chain);
        *ret = g_steal_pointer(&pattern);
        return 0;
}

PatternSimple *pattern_simple_free(PatternSimple *pattern) {
        g_free(pattern);
        return NULL;
}

static int char_kind(gunichar c) {
        if (c == 0x2028 || c == 0x2029)
                return KIND_LINE_END;
        if (c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000 ||
                        c == 0xfeff)
                return KIND_SPACE;
        return KIND_OTHER;
}

/* One character of the text, as a kind. */
static inline unsigned take_kind(const char **at) {
        unsigned kind = (unsigned char) **at;

        if (G_LIKELY(kind < 0x80)) {
                (*at)++;
                return kind;
        }
        kind = (unsigned) char_kind(g_utf8_get_char(*at));
        *at = g_utf8_next_char(*at);
        return kind;
}

static int match_from_start(const PatternSimple *pattern, const char *at, const char *end) {
        uint64_t ready = pattern->first, taken;

        while (at < end && (pattern->to_end || !(ready & pattern->end))) {
                taken = ready & pattern->takes[take_kind(&at)];
                if (taken == 0)
                        return 0;
                ready = spread(pattern, taken << 1 | (taken & pattern->repeats));
        }
        return (ready & pattern->end) != 0;
}

static int match_anywhere(const PatternSimple *pattern, const char *at, const char *end) {
        uint64_t ready = pattern->first, taken;

        while (at < end && (pattern->to_end || !(ready & pattern->end))) {
                taken = ready & pattern->takes[take_kind(&at)];
                ready = spread(pattern, taken << 1 | (taken & pattern->repeats)) | pattern->first;
        }
        return (ready & pattern->end) != 0;
}

int pattern_simple_match(const PatternSimple *pattern, const char *subject, size_t size) {
        return pattern->from_start ? match_from_start(pattern, subject, subject + size)
                                   : match_anywhere(pattern, subject, subject + size);
}
