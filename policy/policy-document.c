/* SPDX-License-Identifier: MIT */
#include <stdarg.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "policy/policy-document.h"

static void mistake_free(void *data) {
        PolicyMistake *mistake = data;

        g_free(mistake->text);
        g_free(mistake);
}

void policy_document_done(PolicyDocument *document) {
        g_clear_pointer(&document->mistakes, g_ptr_array_unref);
}

size_t policy_document_line(const PolicyDocument *document, Jval where, size_t *ret_column) {
        const char *source, *whole;
        size_t size;

        if (ret_column)
                *ret_column = 0;
        source = jval_source(where, &size);
        if (!source || !document->lines)
                return 0;

        whole = jval_source(jdoc_root(where.doc), &size);
        return toml_lines_find(document->lines, (size_t) (source - whole), ret_column);
}

char *policy_document_place(const PolicyDocument *document, Jval where) {
        size_t line = policy_document_line(document, where, NULL);

        if (!document->file)
                return NULL;
        return line > 0 ? g_strdup_printf("%s:%zu", document->file, line) : g_strdup(document->file);
}

static void add(PolicyDocument *document, size_t line, size_t column, bool warning, const char *text) {
        PolicyMistake *mistake;

        if (!document->mistakes)
                document->mistakes = g_ptr_array_new_with_free_func(mistake_free);
        if (document->mistakes->len >= POLICY_MISTAKES_MAX) {
                document->dropped++;
                return;
        }

        mistake = g_new0(PolicyMistake, 1);
        *mistake = (PolicyMistake){
                .line = line,
                .column = column,
                .warning = warning,
                .text = sanitize_line(text, POLICY_MISTAKE_BYTES_MAX, NULL),
        };
        g_ptr_array_add(document->mistakes, mistake);
}

static void add_at(PolicyDocument *document, Jval where, bool warning, const char *text) {
        size_t column, line = policy_document_line(document, where, &column);

        add(document, line, column, warning, text);
}

static int fail(PolicyDocument *document, int error) {
        if (document->error == 0)
                document->error = error;
        return error;
}

#define FORMAT(text, format)                          \
        do {                                          \
                va_list arguments;                    \
                va_start(arguments, format);          \
                text = g_strdup_vprintf(format, arguments); \
                va_end(arguments);                    \
        } while (0)

int policy_document_refuse(PolicyDocument *document, Jval where, const char *format, ...) {
        g_autofree char *text = NULL;

        FORMAT(text, format);
        add_at(document, where, false, text);
        return fail(document, -EINVAL);
}

int policy_document_limit(PolicyDocument *document, Jval where, const char *format, ...) {
        g_autofree char *text = NULL;

        FORMAT(text, format);
        add_at(document, where, false, text);
        return fail(document, -ENOBUFS);
}

void policy_document_warn(PolicyDocument *document, Jval where, const char *format, ...) {
        g_autofree char *text = NULL;

        FORMAT(text, format);
        add_at(document, where, true, text);
}

int policy_document_add(PolicyDocument *document, size_t line, size_t column, const char *text) {
        add(document, line, column, false, text);
        return fail(document, -EINVAL);
}

static int compare_lines(const void *a, const void *b) {
        const PolicyMistake *x = *(const PolicyMistake *const *) a, *y = *(const PolicyMistake *const *) b;

        if (x->line != y->line)
                return (x->line > y->line) - (x->line < y->line);
        return (x->column > y->column) - (x->column < y->column);
}

void policy_document_sort(PolicyDocument *document) {
        if (document->mistakes)
                g_ptr_array_sort(document->mistakes, compare_lines);
}

char *policy_document_words(const PolicyDocument *document) {
        const PolicyMistake *first = NULL;
        size_t others = document->dropped;
        g_autofree char *place = NULL, *more = NULL;

        for (guint i = 0; document->mistakes && i < document->mistakes->len; i++) {
                const PolicyMistake *mistake = document->mistakes->pdata[i];

                if (mistake->warning)
                        continue;
                if (!first)
                        first = mistake;
                else
                        others++;
        }
        if (!first)
                return NULL;

        if (first->column > 0)
                place = g_strdup_printf(":%zu:%zu", first->line, first->column);
        else
                place = first->line > 0 ? g_strdup_printf(":%zu", first->line) : g_strdup("");
        more = others > 0 ? g_strdup_printf(" (%zu more)", others) : g_strdup("");
        if (!document->file)
                return g_strdup_printf("%s%s", first->text, more);
        return g_strdup_printf("%s%s: %s%s", document->file, place, first->text, more);
}
