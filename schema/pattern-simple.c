/* SPDX-License-Identifier: MIT */

/* An expression without references and assertions is turned into positions: places in it that take one character each. A
 * set of positions fits in a word, so all ways to match are followed at once and nothing is ever tried again. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "schema/pattern-set.h"
#include "schema/pattern-simple.h"

#define POSITIONS_MAX 62u
#define DEPTH_MAX     16u
#define ATOMS_MAX     2000u /* read, groups once for every repetition */

struct PatternSimple {
        uint64_t takes[_KIND_MAX];      /* positions that a kind of character can take */
        uint64_t follow[POSITIONS_MAX]; /* positions that can come behind one */
        uint64_t first;                 /* positions where a match can begin */
        uint64_t last;                  /* positions where one can end */
        bool empty;                     /* it matches nothing at all */
        bool from_start, to_end;
        gunichar extras[EXTRAS_MAX];
        unsigned n_extras;

        /* A chain has no groups: what can come next is then a matter of shifting. */
        bool is_chain;
        uint64_t repeats; /* positions that may be taken again */
        uint64_t fill[6]; /* for readiness to run on over optional positions, in steps of 1, 2, 4 … */
        unsigned n_fill;
        uint64_t ready; /* at the beginning, with the bit behind the last position */
        uint64_t end;   /* that bit */
};

/* A part of an expression. */
typedef struct Part {
        uint64_t first, last;
        bool empty;
} Part;

typedef struct Builder {
        PatternSimple *pattern;
        PatternText text;
        unsigned n_positions, n_atoms, depth;
        uint64_t optional;
        bool alternatives; /* at the outermost level */
} Builder;

static bool read_number(PatternText *text, unsigned *ret) {
        const char *begin = text->at;
        unsigned value = 0;

        for (; text->at < text->end && g_ascii_isdigit(*text->at); text->at++)
                value = MIN(value * 10 + (unsigned) (*text->at - '0'), 1000u);
        *ret = value;
        return text->at > begin;
}

/* How often the item before occurs; @ret_max 0 means without limit. */
static bool read_repeat(PatternText *text, unsigned *ret_min, unsigned *ret_max) {
        char c = text->at < text->end ? *text->at : '\0';

        *ret_min = *ret_max = 1;
        if (c == '*' || c == '+' || c == '?') {
                text->at++;
                *ret_min = c == '+';
                *ret_max = c == '?';
        } else if (c == '{') {
                text->at++;
                if (!read_number(text, ret_min))
                        return false;
                *ret_max = *ret_min;
                if (text->at < text->end && *text->at == ',') {
                        text->at++;
                        if (!read_number(text, ret_max))
                                *ret_max = 0;
                        else if (*ret_max == 0)
                                return false;
                } else if (*ret_max == 0)
                        return false;
                if (text->at == text->end || *text->at++ != '}')
                        return false;
        } else
                return true;
        /* Lazy or not makes no difference to whether it matches. */
        if (text->at < text->end && *text->at == '?')
                text->at++;
        return true;
}

static bool read_alternatives(Builder *builder, Part *ret);

static bool add_position(Builder *builder, const Set *set, Part *ret) {
        uint64_t bit = UINT64_C(1) << builder->n_positions;

        if (builder->n_positions == POSITIONS_MAX)
                return false;
        builder->n_positions++;
        for (int i = 0; i < _KIND_MAX; i++)
                if (set->has[i])
                        builder->pattern->takes[i] |= bit;
        *ret = (Part) { bit, bit, false };
        return true;
}

static void connect(PatternSimple *pattern, uint64_t from, uint64_t to) {
        for (; from; from &= from - 1)
                pattern->follow[__builtin_ctzll(from)] |= to;
}

static Part join(PatternSimple *pattern, Part a, Part b) {
        connect(pattern, a.last, b.first);
        return (Part) { a.first | (a.empty ? b.first : 0), b.last | (b.empty ? a.last : 0), a.empty && b.empty };
}

static bool read_group(Builder *builder, Part *ret) {
        PatternText *text = &builder->text;

        builder->pattern->is_chain = false;
        text->at++;
        if (text->end - text->at >= 2 && text->at[0] == '?') {
                if (text->at[1] != ':')
                        return false;
                text->at += 2;
        }
        if (++builder->depth > DEPTH_MAX || !read_alternatives(builder, ret))
                return false;
        builder->depth--;
        return text->at < text->end && *text->at++ == ')';
}

static bool read_atom(Builder *builder, Part *ret) {
        Set set = {};

        if (++builder->n_atoms > ATOMS_MAX)
                return false;
        if (*builder->text.at == '(')
                return read_group(builder, ret);
        return set_read(&builder->text, &set) && add_position(builder, &set, ret);
}

/* An atom as often as it says: read anew for every time, so that each has positions of its own. */
static bool read_term(Builder *builder, Part *ret) {
        const char *begin = builder->text.at, *end;
        Part sum = { .empty = true }, part;
        unsigned min, max, n;

        if (!read_atom(builder, &part) || !read_repeat(&builder->text, &min, &max))
                return false;
        end = builder->text.at;
        n = MAX(max, MAX(min, 1u));
        for (unsigned i = 0; i < n; i++) {
                if (i > 0) {
                        builder->text.at = begin;
                        if (!read_atom(builder, &part))
                                return false;
                }
                if (max == 0 && i + 1 == n) {
                        connect(builder->pattern, part.last, part.first);
                        builder->pattern->repeats |= part.last;
                }
                if (i >= min) {
                        part.empty = true;
                        builder->optional |= part.first;
                }
                sum = join(builder->pattern, sum, part);
        }
        builder->text.at = end;
        *ret = sum;
        return true;
}

static bool at_end(const Builder *builder) {
        const PatternText *text = &builder->text;

        return text->at == text->end || (builder->depth == 0 && text->end - text->at == 1 && *text->at == '$');
}

static bool read_sequence(Builder *builder, Part *ret) {
        Part sum = { .empty = true }, part;

        while (!at_end(builder) && *builder->text.at != '|' && *builder->text.at != ')') {
                if (!read_term(builder, &part))
                        return false;
                sum = join(builder->pattern, sum, part);
        }
        *ret = sum;
        return true;
}

static bool read_alternatives(Builder *builder, Part *ret) {
        Part part;

        if (!read_sequence(builder, ret))
                return false;
        while (!at_end(builder) && *builder->text.at == '|') {
                builder->pattern->is_chain = false;
                if (builder->depth == 0)
                        builder->alternatives = true;
                builder->text.at++;
                if (!read_sequence(builder, &part))
                        return false;
                *ret = (Part) { ret->first | part.first, ret->last | part.last, ret->empty || part.empty };
        }
        return true;
}

/* A position that is ready and optional makes the next one ready too. */
static inline uint64_t spread(const PatternSimple *pattern, uint64_t ready) {
        for (unsigned i = 0; i < pattern->n_fill; i++)
                ready |= pattern->fill[i] & (ready << (1u << i));
        return ready;
}

static void prepare_chain(PatternSimple *pattern, uint64_t optional, unsigned n_positions) {
        uint64_t fill = optional << 1;

        for (unsigned i = 0; i < G_N_ELEMENTS(pattern->fill) && fill; i++) {
                pattern->fill[pattern->n_fill++] = fill;
                fill &= fill << (1u << i);
        }
        pattern->end = UINT64_C(1) << n_positions;
        pattern->ready = spread(pattern, 1);
}

static bool read_all(Builder *builder) {
        PatternSimple *pattern = builder->pattern;
        PatternText *text = &builder->text;
        Part whole;

        if (text->at < text->end && *text->at == '^') {
                pattern->from_start = true;
                text->at++;
        }
        if (!read_alternatives(builder, &whole) || !at_end(builder))
                return false;
        pattern->to_end = text->at < text->end;
        /* There an anchor belongs to one alternative only. */
        if (builder->alternatives && (pattern->from_start || pattern->to_end))
                return false;

        pattern->first = whole.first;
        pattern->last = whole.last;
        pattern->empty = whole.empty;
        return true;
}

int pattern_simple_compile(const char *text, size_t size, PatternSimple **ret) {
        g_autofree PatternSimple *pattern = g_new0(PatternSimple, 1);
        Builder builder = { .pattern = pattern, .text = { .at = text, .end = text + size } };

        pattern->is_chain = true;
        if (memchr(text, '\0', size) || !set_find_extras(&builder.text) || !read_all(&builder))
                return -ENOTSUP;
        memcpy(pattern->extras, builder.text.extras, sizeof(pattern->extras));
        pattern->n_extras = builder.text.n_extras;
        prepare_chain(pattern, builder.optional, builder.n_positions);
        *ret = g_steal_pointer(&pattern);
        return 0;
}

size_t pattern_simple_memory(void) {
        return sizeof(PatternSimple);
}

PatternSimple *pattern_simple_free(PatternSimple *pattern) {
        g_free(pattern);
        return NULL;
}

/* One character of the text, as a kind. */
static inline unsigned take_kind(const PatternSimple *pattern, const char **at) {
        unsigned kind = (unsigned char) **at;
        gunichar c;

        if (G_LIKELY(kind < 0x80)) {
                (*at)++;
                return kind;
        }
        c = g_utf8_get_char(*at);
        *at = g_utf8_next_char(*at);
        for (unsigned i = 0; i < pattern->n_extras; i++)
                if (pattern->extras[i] == c)
                        return KIND_EXTRA + i;
        return set_kind(c);
}

static int chain_from_start(const PatternSimple *pattern, const char *at, const char *end) {
        uint64_t ready = pattern->ready, taken;

        while (at < end && (pattern->to_end || !(ready & pattern->end))) {
                taken = ready & pattern->takes[take_kind(pattern, &at)];
                if (taken == 0)
                        return 0;
                ready = spread(pattern, taken << 1 | (taken & pattern->repeats));
        }
        return (ready & pattern->end) != 0;
}

static int chain_anywhere(const PatternSimple *pattern, const char *at, const char *end) {
        uint64_t ready = pattern->ready, taken;

        while (at < end && (pattern->to_end || !(ready & pattern->end))) {
                taken = ready & pattern->takes[take_kind(pattern, &at)];
                ready = spread(pattern, taken << 1 | (taken & pattern->repeats)) | pattern->ready;
        }
        return (ready & pattern->end) != 0;
}

static int match_any(const PatternSimple *pattern, const char *at, const char *end) {
        uint64_t again = pattern->from_start ? 0 : pattern->first, ready = pattern->first, taken = 0;
        bool empty = pattern->empty;

        while (at < end) {
                if (!pattern->to_end && (empty || (taken & pattern->last)))
                        return 1;
                taken = ready & pattern->takes[take_kind(pattern, &at)];
                if (taken == 0 && pattern->from_start)
                        return 0;
                /* Behind the start an empty match is one only where it may begin anywhere. */
                empty = pattern->empty && !pattern->from_start;
                ready = again;
                for (uint64_t rest = taken; rest; rest &= rest - 1)
                        ready |= pattern->follow[__builtin_ctzll(rest)];
        }
        return empty || (taken & pattern->last);
}

int pattern_simple_match(const PatternSimple *pattern, const char *subject, size_t size) {
        const char *end = subject + size;

        if (!pattern->is_chain)
                return match_any(pattern, subject, end);
        return pattern->from_start ? chain_from_start(pattern, subject, end) : chain_anywhere(pattern, subject, end);
}
