/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "common/limits.h"
#include "service/manifest-reader.h"
#include "service/text-rule.h"

void manifest_reader_problem(ManifestReader *reader, const char *where, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        reader->failed = true;
        if (where && *where != '\0')
                diagnostics_add(reader->diagnostics, reader->code, reader->file, "%s %s", where, text);
        else
                diagnostics_add(reader->diagnostics, reader->code, reader->file, "%s", text);
}

bool manifest_reader_parse(ManifestReader *reader, const char *text, size_t size, Jdoc **ret_doc) {
        static const JdocLimits limits = {
                .bytes_max = MANIFEST_BYTES_MAX,
                .depth_max = 16,
                .nodes_max = 65536,
        };
        JdocError error = {};

        if (jdoc_parse(text, size, &limits, ret_doc, &error) >= 0)
                return true;

        manifest_reader_problem(
                        reader, NULL, "line %zu, column %zu: %s", error.line, error.column, error.message);
        return false;
}

static bool is_known(const char *key, const char *const *keys) {
        for (; *keys; keys++)
                if (g_strcmp0(key, *keys) == 0)
                        return true;
        return false;
}

bool manifest_reader_object(ManifestReader *reader, const char *where, Jval value, const char *const *keys) {
        JIter iter = jval_iterate(value);
        Jval key, item;

        if (!jval_is(value, J_OBJECT)) {
                manifest_reader_problem(reader, where, "must be an object");
                return false;
        }
        while (jiter_next(&iter, &key, &item)) {
                const char *name = jval_text(key);

                if (!is_known(name, keys))
                        manifest_reader_problem(reader, where, "has a key that is not known here: \"%s\"",
                                        name ? name : "(with NUL)");
        }
        return true;
}

char *manifest_reader_text(ManifestReader *reader, const char *where, Jval value, size_t chars_max) {
        size_t size = 0;
        const char *text = jval_string(value, &size);
        const char *problem;

        if (!text) {
                manifest_reader_problem(reader, where, "must be a string");
                return NULL;
        }
        problem = text_rule_check(text, size, SIZE_MAX);
        if (problem) {
                manifest_reader_problem(reader, where, "%s", problem);
                return NULL;
        }
        if ((size_t) g_utf8_strlen(text, (gssize) size) > chars_max) {
                manifest_reader_problem(reader, where, "must be at most %zu characters", chars_max);
                return NULL;
        }
        return g_strdup(text);
}

char *manifest_reader_where(const char *where, const char *key) {
        return where && *where != '\0' ? g_strdup_printf("%s.%s", where, key) : g_strdup(key);
}

char *manifest_reader_optional_text(
                ManifestReader *reader, const char *where, Jval object, const char *key, size_t chars_max) {
        Jval value = jval_member(object, key);
        g_autofree char *place = NULL;

        if (jval_is(value, J_ABSENT))
                return NULL;

        place = manifest_reader_where(where, key);
        return manifest_reader_text(reader, place, value, chars_max);
}

char **manifest_reader_texts(
                ManifestReader *reader, const char *where, Jval value, size_t items_max, size_t chars_max) {
        g_autoptr(GStrvBuilder) builder = NULL;
        JIter iter = jval_iterate(value);
        size_t index = 0;
        Jval key, item;

        if (jval_is(value, J_ABSENT))
                return NULL;
        if (!jval_is(value, J_ARRAY)) {
                manifest_reader_problem(reader, where, "must be an array of strings");
                return NULL;
        }
        if (jval_length(value) > items_max) {
                manifest_reader_problem(reader, where, "has more than %zu items", items_max);
                return NULL;
        }

        builder = g_strv_builder_new();
        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *place = g_strdup_printf("%s[%zu]", where, index++);
                g_autofree char *text = manifest_reader_text(reader, place, item, chars_max);

                if (text)
                        g_strv_builder_add(builder, text);
        }
        return g_strv_builder_end(builder);
}

bool manifest_reader_boolean(ManifestReader *reader, const char *where, Jval object, const char *key, bool fallback) {
        Jval value = jval_member(object, key);
        bool result = fallback;

        if (jval_is(value, J_ABSENT))
                return fallback;
        if (jval_boolean(value, &result) < 0) {
                g_autofree char *place = manifest_reader_where(where, key);

                manifest_reader_problem(reader, place, "must be true or false");
        }
        return result;
}
