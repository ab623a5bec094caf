/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "cli/output.h"
#include "cli/table.h"
#include "common/sanitize.h"

#define CELL_BYTES_MAX 1024u
#define GAP            2u

struct Table {
        const char *const *headings;
        size_t n;
        GPtrArray *rows; /* of GStrv */
};

Table *table_new(const char *const *headings) {
        Table *table = g_new0(Table, 1);

        table->headings = headings;
        while (headings[table->n])
                table->n++;
        table->rows = g_ptr_array_new_with_free_func((GDestroyNotify) g_strfreev);
        return table;
}

Table *table_free(Table *table) {
        if (!table)
                return NULL;

        g_ptr_array_unref(table->rows);
        g_free(table);
        return NULL;
}

void table_add(Table *table, const char *const *cells) {
        char **row = g_new0(char *, table->n + 1);

        for (size_t i = 0; i < table->n; i++)
                row[i] = cells[i] && *cells[i] ? sanitize_line(cells[i], CELL_BYTES_MAX, NULL)
                                               : g_strdup("-");
        g_ptr_array_add(table->rows, row);
}

size_t table_rows(const Table *table) {
        return table->rows->len;
}

static size_t column_width(const Table *table, size_t column) {
        size_t width = text_width(table->headings[column]);

        for (guint i = 0; i < table->rows->len; i++) {
                char **row = table->rows->pdata[i];

                width = MAX(width, text_width(row[column]));
        }

        return width;
}

/* The cell as it fits into @room columns; a new string. */
static char *cell_fit(const char *cell, size_t room) {
        const char *end = cell;
        size_t width = 0;

        if (text_width(cell) <= room)
                return g_strdup(cell);

        while (*end) {
                gunichar c = g_utf8_get_char(end);
                size_t wide = g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;

                if (width + wide + 1 > room)
                        break;
                width += wide;
                end = g_utf8_next_char(end);
        }

        return g_strdup_printf("%.*s…", (int) (end - cell), cell);
}

static void render_row(const Table *table, const Cli *cli, const char *const *cells, const size_t *widths,
                unsigned columns, bool heading, GString *out) {
        size_t used = 0;

        for (size_t i = 0; i < table->n; i++) {
                bool last = i + 1 == table->n;
                g_autofree char *cell = NULL;
                Style style = heading ? STYLE_BOLD : style_for_word(cells[i]);

                cell = last && columns > used + 8 ? cell_fit(cells[i], columns - used) : g_strdup(cells[i]);
                style_append(cli, out, style, cell);
                if (!last)
                        g_string_append_printf(out, "%*s", (int) (widths[i] - text_width(cell) + GAP), "");
                used += widths[i] + GAP;
        }
        g_string_append_c(out, '\n');
}

void table_render(const Table *table, const Cli *cli, unsigned columns, GString *out) {
        g_autofree size_t *widths = g_new0(size_t, table->n);

        for (size_t i = 0; i < table->n; i++)
                widths[i] = column_width(table, i);

        render_row(table, cli, table->headings, widths, columns, true, out);
        for (guint i = 0; i < table->rows->len; i++)
                render_row(table, cli, (const char *const *) table->rows->pdata[i], widths, columns, false,
                                out);
}
