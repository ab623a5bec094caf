/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/failure.h"
#include "cli/output.h"
#include "cli/view.h"
#include "common/limits.h"
#include "common/sanitize.h"

#define LABEL_COLUMNS_MAX 24
#define INDENT            2u
#define INLINE_BYTES_MAX  72u

char *view_label(const char *key) {
        g_autofree char *label = sanitize_line(key, 128, NULL);

        (void) g_strdelimit(label, "_", ' ');
        if (g_ascii_islower(label[0]))
                label[0] = g_ascii_toupper(label[0]);
        return g_steal_pointer(&label);
}

char *view_scalar(Jval value) {
        const char *text;
        size_t size = 0;
        bool flag;

        switch (jval_type(value)) {
        case J_STRING:
                text = jval_string(value, &size);
                {
                        /* sanitize_line() ends at a NUL, so that block by block what follows one is shown
                         * too. */
                        g_autofree char *block = sanitize_block_n(text, size, OUTPUT_TEXT_BYTES_MAX, NULL);

                        return sanitize_line(block, OUTPUT_TEXT_BYTES_MAX, NULL);
                }
        case J_BOOLEAN:
                return g_strdup(jval_boolean(value, &flag) == 0 && flag ? "yes" : "no");
        case J_NUMBER:
                text = jval_number_text(value, &size);
                return g_strndup(text, size);
        case J_NULL:
        case J_ABSENT:
                return g_strdup("-");
        default:
                text = jval_source(value, &size);
                {
                        g_autofree char *source = g_strndup(text, size);

                        return sanitize_line(source, OUTPUT_TEXT_BYTES_MAX, NULL);
                }
        }
}

static bool is_scalar(Jval value) {
        return !jval_is(value, J_OBJECT) && !jval_is(value, J_ARRAY);
}

static bool is_block(Jval value) {
        const char *text = jval_text(value);

        return text && strchr(text, '\n');
}

/* An array of short scalars as one line; NULL when it needs more. */
static char *inline_array(Jval array) {
        g_autoptr(GString) line = g_string_new(NULL);
        JIter iter = jval_iterate(array);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *text = NULL;

                if (!is_scalar(item) || is_block(item))
                        return NULL;
                text = view_scalar(item);
                g_string_append_printf(line, "%s%s", line->len > 0 ? ", " : "", *text ? text : "\"\"");
                if (line->len > INLINE_BYTES_MAX)
                        return NULL;
        }

        return g_string_free(g_steal_pointer(&line), FALSE);
}

/* Whether it goes below its label in place of behind it. */
static bool needs_lines(Jval value) {
        g_autofree char *line = jval_is(value, J_ARRAY) ? inline_array(value) : NULL;

        return is_block(value) || (!is_scalar(value) && jval_length(value) > 0 && !line);
}

/* A text of several lines, each indented so that none can pretend to be a line of ours. */
static void append_block(GString *out, Jval value, unsigned indent) {
        size_t size;
        const char *text = jval_string(value, &size);
        g_autofree char *block = sanitize_block_n(text, size, OUTPUT_TEXT_BYTES_MAX, NULL);
        g_auto(GStrv) lines = g_strsplit(block, "\n", -1);

        for (char **line = lines; *line; line++)
                if (**line || line[1])
                        g_string_append_printf(out, "%*s│ %s\n", (int) indent, "", *line);
}

static void append_scalar_line(const Cli *cli, GString *out, Jval value) {
        g_autofree char *text = view_scalar(value);

        style_append(cli, out, jval_is(value, J_STRING) ? style_for_word(text) : STYLE_PLAIN,
                        *text ? text : "-");
        g_string_append_c(out, '\n');
}

/* What stands below a label. */
static void append_below(const Cli *cli, GString *out, Jval value, unsigned indent) {
        g_string_append_c(out, '\n');
        if (is_block(value))
                append_block(out, value, indent + INDENT);
        else
                view_append(cli, out, value, indent + INDENT, NULL);
}

/* What stands behind a label. */
static void append_behind(const Cli *cli, GString *out, Jval value) {
        g_autofree char *line = NULL;

        if (is_scalar(value))
                append_scalar_line(cli, out, value);
        else if (jval_length(value) == 0)
                g_string_append(out, "none\n");
        else {
                line = inline_array(value);
                g_string_append_printf(out, "%s\n", line);
        }
}

static bool is_skipped(const char *key, const char *const *skip) {
        return skip && key && g_strv_contains(skip, key);
}

static int label_columns(Jval object, const char *const *skip) {
        JIter iter = jval_iterate(object);
        size_t columns = 0;
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *label = NULL;

                if (is_skipped(jval_text(key), skip) || needs_lines(item))
                        continue;
                label = view_label(jval_string(key, NULL));
                columns = MAX(columns, text_width(label));
        }

        return (int) MIN(columns, LABEL_COLUMNS_MAX);
}

static void append_member(const Cli *cli, GString *out, Jval key, Jval item, unsigned indent, int columns) {
        g_autofree char *label = view_label(jval_string(key, NULL));
        int width = (int) text_width(label);

        g_string_append_printf(out, "%*s%s%s:%s", (int) indent, "", style_on(cli, STYLE_DIM), label,
                        style_on(cli, STYLE_PLAIN));
        if (needs_lines(item))
                append_below(cli, out, item, indent);
        else {
                g_string_append_printf(out, "%*s", MAX(columns - width, 0) + 1, "");
                append_behind(cli, out, item);
        }
}

static void append_element(const Cli *cli, GString *out, Jval item, unsigned indent) {
        size_t at;

        if (is_block(item)) {
                append_block(out, item, indent);
                return;
        }
        if (is_scalar(item)) {
                g_string_append_printf(out, "%*s", (int) indent, "");
                append_scalar_line(cli, out, item);
                return;
        }

        /* The dash goes where the first line has its indentation. */
        at = out->len;
        view_append(cli, out, item, indent + INDENT, NULL);
        if (out->len > at + indent)
                out->str[at + indent] = '-';
}

void view_append(const Cli *cli, GString *out, Jval value, unsigned indent, const char *const *skip) {
        JIter iter = jval_iterate(value);
        int columns = jval_is(value, J_OBJECT) ? label_columns(value, skip) : 0;
        Jval key, item;

        if (is_scalar(value)) {
                append_element(cli, out, value, indent);
                return;
        }

        while (jiter_next(&iter, &key, &item)) {
                if (jval_is(key, J_ABSENT))
                        append_element(cli, out, item, indent);
                else if (!is_skipped(jval_text(key), skip))
                        append_member(cli, out, key, item, indent, columns);
        }
}

void view_heading(const Cli *cli, GString *out, const char *text) {
        if (out->len > 0)
                g_string_append_c(out, '\n');
        style_append(cli, out, STYLE_BOLD, text);
        g_string_append_c(out, '\n');
}

static void append_json(GString *out, Jval value, unsigned indent) {
        bool object = jval_is(value, J_OBJECT);
        JIter iter = jval_iterate(value);
        bool first = true;
        Jval key, item;
        size_t size;

        if (is_scalar(value) || jval_length(value) == 0) {
                const char *source = jval_source(value, &size);

                g_string_append_len(out, source ? source : "null", source ? (gssize) size : 4);
                return;
        }

        g_string_append(out, object ? "{\n" : "[\n");
        while (jiter_next(&iter, &key, &item)) {
                g_string_append_printf(out, "%s%*s", first ? "" : ",\n", (int) (indent + INDENT), "");
                if (object) {
                        const char *source = jval_source(key, &size);

                        g_string_append_len(out, source, (gssize) size);
                        g_string_append(out, ": ");
                }
                append_json(out, item, indent + INDENT);
                first = false;
        }
        g_string_append_printf(out, "\n%*s%c", (int) indent, "", object ? '}' : ']');
}

char *view_json(Jval value) {
        g_autoptr(GString) out = g_string_new(NULL);

        append_json(out, value, 0);
        return output_json_escape(out->str);
}

Jdoc *view_parse(const char *json) {
        JdocError where = {};
        Jdoc *doc = NULL;

        if (jdoc_parse(json, strlen(json), NULL, &doc, &where) >= 0)
                return doc;

        (void) failure_say("The service answered JSON that cannot be read: %s at byte %zu.", where.message,
                        where.byte);
        return NULL;
}

int view_print(const Cli *cli, const char *json) {
        g_autoptr(GString) page = g_string_new(NULL);
        g_autoptr(Jdoc) doc = NULL;

        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;

        view_append(cli, page, jdoc_root(doc), 0, NULL);
        return output_page(cli, page->str);
}
