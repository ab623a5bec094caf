/* SPDX-License-Identifier: MIT */
#include "cli/top-view.h"

#include <inttypes.h>
#include <string.h>

#include "cli/output.h"
#include "cli/table.h"
#include "cli/when.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

#define MEDIUM_COLUMNS  80u
#define NARROW_COLUMNS  60u
#define COLUMNS_MAX     10u
#define LINE_BYTES_MAX  2048u

char *top_view_bytes(uint64_t bytes) {
        static const char units[] = "BKMGTPE";
        double value = (double) bytes;
        size_t unit = 0;

        while (value >= 999.5 && unit + 2 < sizeof(units)) {
                value /= 1024;
                unit++;
        }
        return unit == 0 ? g_strdup_printf("%" PRIu64 "B", bytes)
                         : g_strdup_printf(value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

char *top_view_age(uint64_t usec) {
        uint64_t seconds = usec / G_USEC_PER_SEC, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

        if (minutes == 0)
                return g_strdup_printf("%" PRIu64 "s", seconds);
        if (hours == 0)
                return g_strdup_printf("%" PRIu64 "m%02us", minutes, (unsigned) (seconds % 60));
        if (days == 0)
                return g_strdup_printf("%" PRIu64 "h%02um", hours, (unsigned) (minutes % 60));
        if (days < 100)
                return g_strdup_printf("%" PRIu64 "d%02uh", days, (unsigned) (hours % 24));
        return g_strdup_printf("%" PRIu64 "d", days);
}

/* One column: its heading, from which width on it is shown, and its cell; NULL shows a dash. */
typedef struct Column {
        const char *heading;
        unsigned columns;
        char *(*cell)(const TopPlugin *plugin, uint64_t now);
} Column;

static char *cell_name(const TopPlugin *plugin, uint64_t now) {
        (void) now;
        return g_strdup(plugin->name);
}

static char *cell_host(const TopPlugin *plugin, uint64_t now) {
        (void) now;
        return g_strdup(strcmp(plugin->state, "active") == 0 ? plugin->host_state : plugin->state);
}

static char *cell_memory(const TopPlugin *plugin, uint64_t now) {
        (void) now;
        return plugin->memory > 0 ? top_view_bytes(plugin->memory) : NULL;
}

/* What is configured and in force, or in brackets where it is not; takes @configured. */
static char *limit_text(uint64_t effective, char *configured) {
        g_autofree char *text = configured;

        return effective == UINT64_MAX ? g_strdup_printf("(%s)", text) : g_steal_pointer(&text);
}

static char *cell_memory_max(const TopPlugin *plugin, uint64_t now) {
        (void) now;
        if (plugin->memory_max == 0)
                return NULL;
        return limit_text(plugin->memory_max, top_view_bytes(plugin->memory_configured));
}

static char *cell_cpu(const TopPlugin *plugin, uint64_t now) {
        (void) now;
        return plugin->cpu_percent < 0 ? NULL : g_strdup_printf("%.1f", plugin->cpu_percent);
}

static char *cell_tasks(const TopPlugin *plugin, uint64_t now) {
        (void) now;
        g_autofree char *limit = limit_text(plugin->tasks_max, g_strdup_printf("%" PRIu64, plugin->tasks_configured));

        if (plugin->tasks_max == 0)
                return NULL;
        /* Where the manager has no such controller nobody counts either. */
        return plugin->tasks > 0 ? g_strdup_printf("%" PRIu64 "/%s", plugin->tasks, limit) : g_strdup_printf("-/%s", limit);
}

static char *cell_calls(const TopPlugin *plugin, uint64_t now) {
        (void) now;
        return g_strdup_printf("%" PRIu64, plugin->calls);
}

static char *cell_failures(const TopPlugin *plugin, uint64_t now) {
        (void) now;
        return g_strdup_printf("%" PRIu64, plugin->failures);
}

static char *cell_pending(const TopPlugin *plugin, uint64_t now) {
        (void) now;
        return g_strdup_printf("%" PRIu64, plugin->pending);
}

static char *cell_age(const TopPlugin *plugin, uint64_t now) {
        return plugin->since_usec == 0 || plugin->since_usec > now ? NULL
                                                                   : top_view_age(now - plugin->since_usec);
}

static const Column columns_table[] = {
        { "PLUGIN", 0, cell_name },
        { "HOST", 0, cell_host },
        { "MEM", 0, cell_memory },
        { "LIMIT", MEDIUM_COLUMNS, cell_memory_max },
        { "CPU%", 0, cell_cpu },
        { "TASKS", NARROW_COLUMNS, cell_tasks },
        { "CALLS", 0, cell_calls },
        { "FAILED", NARROW_COLUMNS, cell_failures },
        { "NOW", NARROW_COLUMNS, cell_pending },
        { "UP", MEDIUM_COLUMNS, cell_age },
};

G_STATIC_ASSERT(G_N_ELEMENTS(columns_table) <= COLUMNS_MAX);

static void render_plugins(const Cli *cli, const TopSample *sample, unsigned width, GString *out) {
        const char *headings[COLUMNS_MAX + 1] = { NULL };
        const Column *shown[COLUMNS_MAX];
        g_autoptr(Table) table = NULL;
        size_t n = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(columns_table); i++)
                if (width == 0 || width >= columns_table[i].columns) {
                        shown[n] = &columns_table[i];
                        headings[n++] = columns_table[i].heading;
                }

        table = table_new(headings);
        for (size_t i = 0; i < sample->plugins->len; i++) {
                g_auto(GStrv) cells = g_new0(char *, COLUMNS_MAX + 1);

                for (size_t j = 0; j < n; j++)
                        cells[j] = shown[j]->cell(g_ptr_array_index(sample->plugins, i), sample->time_usec)
                                                   ?: g_strdup("-");
                table_add(table, (const char *const *) cells);
        }
        table_render(table, cli, width, out);
}

/* Plain columns of a line that may be too long; @text is made safe here. */
static void render_line(const Cli *cli, Style style, const char *text, unsigned width, GString *out) {
        g_autofree char *safe = sanitize_line(text, LINE_BYTES_MAX, NULL);

        if (width > 0 && text_width(safe) > width) {
                char *end = g_utf8_offset_to_pointer(safe, MIN((glong) width, g_utf8_strlen(safe, -1)));

                *end = '\0';
                while (text_width(safe) > width && end > safe) {
                        end = g_utf8_prev_char(end);
                        *end = '\0';
                }
        }
        style_append(cli, out, style, safe);
        g_string_append_c(out, '\n');
}

static void render_head(const Cli *cli, const TopSample *sample, TopOrder order, unsigned width, GString *out) {
        uint64_t memory = 0, calls = 0, pending = 0;
        g_autofree char *time = when_format(sample->time_usec), *first = NULL, *second = NULL, *bytes = NULL;
        bool well = g_strcmp0(sample->health, "ok") == 0;

        for (size_t i = 0; i < sample->plugins->len; i++) {
                const TopPlugin *plugin = g_ptr_array_index(sample->plugins, i);

                memory += plugin->memory;
                calls += plugin->calls;
                pending += plugin->pending;
        }
        bytes = top_view_bytes(memory);
        first = g_strdup_printf("codewhale-extensions %s  %s  by %s", sample->version ? sample->version : "?", time,
                        top_order_to_string(order));
        second = g_strdup_printf("%u plugins, %u active, %u hosts, %s, %" PRIu64 " calls, %" PRIu64
                                 " now, %u cards open",
                        sample->plugins->len, sample->active, sample->hosts, bytes, calls, pending,
                        sample->approvals);
        render_line(cli, STYLE_BOLD, first, width, out);
        render_line(cli, STYLE_PLAIN, second, width, out);
        if (!well)
                render_line(cli, STYLE_BAD, sample->health ? sample->health : "no health", width, out);
        g_string_append_c(out, '\n');
}

/* What the brackets mean, where there are any. */
static void render_not_enforced(const Cli *cli, const TopSample *sample, unsigned width, GString *out) {
        for (size_t i = 0; i < sample->plugins->len; i++) {
                const TopPlugin *plugin = g_ptr_array_index(sample->plugins, i);
                g_autofree char *line = NULL;

                if (!plugin->not_enforced)
                        continue;
                line = g_strdup_printf("(limit): configured, not enforced: %s", plugin->not_enforced);
                render_line(cli, STYLE_DIM, line, width, out);
                return;
        }
}

static void render_failures(const Cli *cli, const TopSample *sample, unsigned width, GString *out) {
        for (size_t i = 0; i < sample->plugins->len; i++) {
                const TopPlugin *plugin = g_ptr_array_index(sample->plugins, i);
                g_autofree char *line = NULL;

                if (!plugin->failure || !*plugin->failure)
                        continue;
                line = g_strdup_printf("%s: %s", plugin->name, plugin->failure);
                render_line(cli, STYLE_WARNING, line, width, out);
        }
}

static void render_cards(const Cli *cli, const TopSample *sample, unsigned width, GString *out) {
        for (size_t i = 0; i < sample->cards->len; i++) {
                const TopCard *card = g_ptr_array_index(sample->cards, i);
                g_autofree char *line = g_strdup_printf(
                                "card %" PRIu64 ": %s", card->id, card->title ? card->title : "");

                render_line(cli, STYLE_WARNING, line, width, out);
        }
}

/* Cuts what stands behind @begin to @rows lines, of which the last says how much that was. */
static void cut_rows(const Cli *cli, size_t begin, unsigned columns, unsigned rows, GString *out) {
        g_autofree char *more = NULL;
        size_t end = begin;
        unsigned n = 0;

        for (size_t at = begin; at < out->len; at++)
                if (out->str[at] == '\n' && ++n == rows - 1)
                        end = at + 1;
        if (n <= rows)
                return;

        g_string_truncate(out, (gsize) end);
        more = g_strdup_printf("... %u more lines have no room", n - (rows - 1));
        render_line(cli, STYLE_DIM, more, columns, out);
}

static void render_page(const Cli *cli, const TopSample *sample, TopOrder order, unsigned columns, GString *out) {
        render_head(cli, sample, order, columns, out);
        /* What waits for a person comes first: below a long table nobody would see it. */
        render_cards(cli, sample, columns, out);
        if (sample->plugins->len > 0)
                render_plugins(cli, sample, columns, out);
        else
                render_line(cli, STYLE_DIM, "No bundles are known; codewhalectl install FOLDER brings one.", columns,
                                out);
        render_not_enforced(cli, sample, columns, out);
        render_failures(cli, sample, columns, out);
}

void top_view_render(const Cli *cli, const TopSample *sample, TopOrder order, unsigned columns, unsigned rows,
                GString *out) {
        size_t begin = out->len;

        render_page(cli, sample, order, columns, out);
        if (rows == 0)
                return;
        if (rows > 1)
                cut_rows(cli, begin, columns, rows - 1, out);
        render_line(cli, STYLE_DIM, "m memory  c cpu  l calls  n name  space now  q quit", columns, out);
}
