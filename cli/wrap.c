/* SPDX-License-Identifier: MIT */
#include "cli/wrap.h"

#include "cli/output.h"
#include "common/sanitize.h"

#define ROW_COLUMNS_MIN 8u
#define TAB_COLUMNS     8u

static unsigned character_width(gunichar c) {
        if (g_unichar_iszerowidth(c))
                return 0;
        return g_unichar_iswide_cjk(c) ? 2 : 1;
}

typedef struct Wrap {
        GString *out;
        const char *more;
        unsigned room, used; /* columns of a row behind its prefix; 0: no end */
        size_t word; /* where in @out the last word of the row begins; 0: at its beginning */
        unsigned before_word; /* columns of the row that stand before that */
} Wrap;

/* A word that does not fit goes to the next row, unless much of the row would stay empty. */
static void next_row(Wrap *wrap, gunichar c) {
        bool whole_word = c != ' ' && wrap->word > 0 && wrap->before_word * 2 >= wrap->room;
        g_autofree char *word = whole_word ? g_strdup(wrap->out->str + wrap->word) : NULL;

        if (word)
                (void) g_string_truncate(wrap->out, wrap->word);
        g_string_append_printf(wrap->out, "\n%s%s", wrap->more, word ?: "");
        wrap->used = word ? wrap->used - wrap->before_word : 0;
        wrap->word = 0;
}

static void put(Wrap *wrap, gunichar c) {
        unsigned width = character_width(c);

        if (wrap->room > 0 && wrap->used + width > wrap->room)
                next_row(wrap, c);
        g_string_append_unichar(wrap->out, c);
        wrap->used += width;
        if (c == ' ') {
                wrap->word = wrap->out->len;
                wrap->before_word = wrap->used;
        }
}

static void put_line(Wrap *wrap, const char *line) {
        wrap->used = 0;
        wrap->word = 0;
        for (const char *at = line; *at; at = g_utf8_next_char(at)) {
                if (*at == '\t')
                        for (unsigned n = TAB_COLUMNS - wrap->used % TAB_COLUMNS; n > 0; n--)
                                put(wrap, ' ');
                else
                        put(wrap, g_utf8_get_char(at));
        }
        g_string_append_c(wrap->out, '\n');
}

void wrap_append(GString *out, const char *first, const char *more, const char *text, size_t size, unsigned columns) {
        g_autofree char *block = sanitize_block_n(text, size, OUTPUT_TEXT_BYTES_MAX, NULL);
        g_auto(GStrv) lines = g_strsplit(block, "\n", -1);
        unsigned prefix = (unsigned) MAX(text_width(first), text_width(more)) + 1; /* "│" may take two */
        Wrap wrap = { .out = out, .more = more };

        if (columns > 0)
                wrap.room = columns > prefix + ROW_COLUMNS_MIN ? columns - prefix : ROW_COLUMNS_MIN;
        for (char **line = lines; *line; line++) {
                if (!**line && !line[1] && line != lines)
                        break; /* what stands behind the last line end */
                g_string_append(out, line == lines ? first : more);
                put_line(&wrap, *line);
        }
}

char *wrap_cut(const char *line, unsigned columns) {
        unsigned used = 0;

        if (columns == 0)
                return g_strdup(line);
        for (const char *at = line; *at; at = g_utf8_next_char(at)) {
                used += character_width(g_utf8_get_char(at));
                if (used + 3 > columns) /* the ellipsis, and the last column that some terminals wrap at */
                        return g_strdup_printf("%.*s…", (int) (at - line), line);
        }
        return g_strdup(line);
}
