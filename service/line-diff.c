/* SPDX-License-Identifier: MIT */
/* The greedy algorithm of Myers ("An O(ND) Difference Algorithm and Its Variations"), bounded in what it may keep. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "service/line-diff.h"

#define CONTEXT 3

/* One line of the result: ' ', '-' or '+', and where it stands in the old and the new text. */
typedef struct Edit {
        char kind;
        size_t before, after;
} Edit;

typedef struct Texts {
        char **before, **after;
        size_t n_before, n_after;
        size_t head; /* equal lines at the beginning that take no part */
        size_t tail; /* and at the end */
} Texts;

static void add_edit(GArray *edits, char kind, size_t before, size_t after) {
        Edit edit = { kind, before, after };

        g_array_append_val(edits, edit);
}

static char **split(const char *text, size_t *ret_count) {
        char **lines = g_strsplit(text, "\n", -1);
        size_t count = g_strv_length(lines);

        /* What follows the last line's end is no line. */
        if (count > 0 && *lines[count - 1] == '\0') {
                g_clear_pointer(&lines[count - 1], g_free);
                count--;
        }
        *ret_count = count;
        return lines;
}

static void trim(Texts *texts) {
        size_t shorter = MIN(texts->n_before, texts->n_after);

        while (texts->head < shorter && strcmp(texts->before[texts->head], texts->after[texts->head]) == 0)
                texts->head++;
        while (texts->tail < shorter - texts->head &&
                        strcmp(texts->before[texts->n_before - texts->tail - 1],
                                        texts->after[texts->n_after - texts->tail - 1]) == 0)
                texts->tail++;
}

/* The furthest line of the old text on each diagonal after each number of edits */
typedef struct Trace {
        GPtrArray *rounds; /* of int64_t[2 * d + 3] */
        int64_t n, m;
} Trace;

static int64_t *round_at(const Trace *trace, int64_t d) {
        return (int64_t *) g_ptr_array_index(trace->rounds, (guint) d) + d + 1;
}

static bool goes_down(const int64_t *previous, int64_t d, int64_t k) {
        return k == -d || (k != d && previous[k - 1] < previous[k + 1]);
}

/* The number of edits that lead from one text to the other, or -1 when there are too many. */
static int64_t search(const Texts *texts, Trace *trace) {
        char **a = texts->before + texts->head, **b = texts->after + texts->head;

        for (int64_t d = 0; d <= LINE_DIFF_EDITS_MAX; d++) {
                int64_t *now = g_new0(int64_t, (gsize) (2 * d + 3));
                const int64_t *previous = d > 0 ? round_at(trace, d - 1) : NULL;

                g_ptr_array_add(trace->rounds, now);
                now += d + 1;
                for (int64_t k = -d; k <= d; k += 2) {
                        int64_t x = d == 0 ? 0 : goes_down(previous, d, k) ? previous[k + 1] : previous[k - 1] + 1;
                        int64_t y = x - k;

                        while (x < trace->n && y < trace->m && x >= 0 && y >= 0 && strcmp(a[x], b[y]) == 0)
                                x++, y++;
                        now[k] = x;
                        if (x >= trace->n && y >= trace->m)
                                return d;
                }
        }
        return -1;
}

/* Walks back from the end, so the edits come in reverse. */
static void walk_back(const Texts *texts, const Trace *trace, int64_t edits, GArray *ret) {
        int64_t x = trace->n, y = trace->m;

        for (int64_t d = edits; d >= 0; d--) {
                int64_t k = x - y, from_x = 0, from_y = 0;

                if (d > 0) {
                        const int64_t *previous = round_at(trace, d - 1);
                        int64_t from_k = goes_down(previous, d, k) ? k + 1 : k - 1;

                        from_x = previous[from_k];
                        from_y = from_x - from_k;
                }
                while (x > from_x && y > from_y && (d == 0 || (x > from_x && y > from_y))) {
                        x--, y--;
                        add_edit(ret, ' ', texts->head + (size_t) x, texts->head + (size_t) y);
                }
                if (d == 0)
                        break;
                if (x == from_x)
                        add_edit(ret, '+', texts->head + (size_t) x, texts->head + (size_t) --y);
                else
                        add_edit(ret, '-', texts->head + (size_t) --x, texts->head + (size_t) y);
        }
}

static void replace_all(const Texts *texts, GArray *edits) {
        for (size_t i = texts->head; i < texts->n_before - texts->tail; i++)
                add_edit(edits, '-', i, texts->head);
        for (size_t i = texts->head; i < texts->n_after - texts->tail; i++)
                add_edit(edits, '+', texts->n_before - texts->tail, i);
}

static void compare(const Texts *texts, GArray *edits) {
        g_autoptr(GPtrArray) rounds = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GArray) reverse = g_array_new(FALSE, FALSE, sizeof(Edit));
        Trace trace = {
                .rounds = rounds,
                .n = (int64_t) (texts->n_before - texts->head - texts->tail),
                .m = (int64_t) (texts->n_after - texts->head - texts->tail),
        };
        int64_t found = -1;

        if (texts->n_before <= LINE_DIFF_LINES_MAX && texts->n_after <= LINE_DIFF_LINES_MAX)
                found = search(texts, &trace);
        if (found < 0) {
                replace_all(texts, edits);
                return;
        }
        walk_back(texts, &trace, found, reverse);
        for (size_t i = reverse->len; i > 0; i--)
                g_array_append_val(edits, g_array_index(reverse, Edit, i - 1));
}

static GArray *list_edits(const Texts *texts) {
        GArray *edits = g_array_new(FALSE, FALSE, sizeof(Edit));
        size_t shift_before = texts->n_before - texts->tail, shift_after = texts->n_after - texts->tail;

        for (size_t i = texts->head > CONTEXT ? texts->head - CONTEXT : 0; i < texts->head; i++)
                add_edit(edits, ' ', i, i);
        compare(texts, edits);
        for (size_t i = 0; i < MIN(texts->tail, (size_t) CONTEXT); i++)
                add_edit(edits, ' ', shift_before + i, shift_after + i);
        return edits;
}

/* The end of the hunk that begins at @first: it ends where more than two contexts of equal lines follow. */
static size_t find_hunk_end(const GArray *edits, size_t first) {
        size_t last_change = first, i;

        for (i = first; i < edits->len; i++) {
                if (g_array_index(edits, Edit, i).kind != ' ')
                        last_change = i;
                else if (i - last_change > 2 * CONTEXT)
                        break;
        }
        return MIN(last_change + CONTEXT + 1, edits->len);
}

static void write_hunk(GString *out, const Texts *texts, const GArray *edits, size_t first, size_t end) {
        const Edit *start = &g_array_index(edits, Edit, first);
        size_t n_before = 0, n_after = 0;

        for (size_t i = first; i < end; i++) {
                n_before += g_array_index(edits, Edit, i).kind != '+';
                n_after += g_array_index(edits, Edit, i).kind != '-';
        }
        g_string_append_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", n_before > 0 ? start->before + 1 : start->before, n_before,
                        n_after > 0 ? start->after + 1 : start->after, n_after);
        for (size_t i = first; i < end; i++) {
                const Edit *edit = &g_array_index(edits, Edit, i);

                g_string_append_c(out, edit->kind);
                g_string_append(out, edit->kind == '+' ? texts->after[edit->after] : texts->before[edit->before]);
                g_string_append_c(out, '\n');
        }
}

static char *write_edits(const Texts *texts, const GArray *edits) {
        GString *out = g_string_new(NULL);
        size_t i = 0;

        while (i < edits->len) {
                size_t change = i, first, end;

                while (change < edits->len && g_array_index(edits, Edit, change).kind == ' ')
                        change++;
                if (change >= edits->len)
                        break;
                first = change - i > CONTEXT ? change - CONTEXT : i;
                end = find_hunk_end(edits, change);
                write_hunk(out, texts, edits, first, end);
                i = end;
        }
        return g_string_free(out, FALSE);
}

char *line_diff(const char *before, const char *after) {
        g_autoptr(GArray) edits = NULL;
        Texts texts = {};
        char *diff;

        texts.before = split(before, &texts.n_before);
        texts.after = split(after, &texts.n_after);
        trim(&texts);
        edits = list_edits(&texts);
        diff = write_edits(&texts, edits);

        g_strfreev(texts.before);
        g_strfreev(texts.after);
        return diff;
}
