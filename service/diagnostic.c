/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "service/diagnostic.h"

static const struct {
        const char *word;
        bool error;
} code_table[_DIAGNOSTIC_CODE_MAX] = {
        [DIAGNOSTIC_ROOT_SYMLINK]             = { "root-symlink", true },
        [DIAGNOSTIC_ROOT_NOT_DIRECTORY]       = { "root-not-directory", true },
        [DIAGNOSTIC_ROOT_CANONICALIZE_FAILED] = { "root-canonicalize-failed", true },
        [DIAGNOSTIC_ROOT_READ_FAILED]         = { "root-read-failed", true },
        [DIAGNOSTIC_DUPLICATE_ROOT]           = { "duplicate-root", false },
        [DIAGNOSTIC_BUNDLE_SYMLINK]           = { "bundle-symlink", true },
        [DIAGNOSTIC_BUNDLE_CHANGED]           = { "bundle-changed", true },
        [DIAGNOSTIC_BUNDLE_TOO_LARGE]         = { "bundle-too-large", true },
        [DIAGNOSTIC_BUNDLE_SPECIAL_FILE]      = { "bundle-special-file", true },
        [DIAGNOSTIC_BUNDLE_FILE_NAME]         = { "bundle-file-name", true },
        [DIAGNOSTIC_BUNDLE_READ_FAILED]       = { "bundle-read-failed", true },
        [DIAGNOSTIC_MANIFEST_INVALID]         = { "manifest-invalid", true },
        [DIAGNOSTIC_MANIFEST_SCHEMA]          = { "manifest-schema", false },
        [DIAGNOSTIC_MANIFEST_LEGACY]          = { "manifest-legacy", false },
        [DIAGNOSTIC_MCP_INVALID]              = { "mcp-invalid", true },
        [DIAGNOSTIC_NAME_CONFLICT]            = { "name-conflict", false },
        [DIAGNOSTIC_COMPONENT_INACTIVE]       = { "component-inactive", false },
        [DIAGNOSTIC_COMPONENT_MISSING]        = { "component-missing", true },
        [DIAGNOSTIC_NATIVE_ENTRY_INVALID]     = { "native-entry-invalid", true },
        [DIAGNOSTIC_NATIVE_ENTRY_MISSING]     = { "native-entry-missing", true },
        [DIAGNOSTIC_SKILL_INVALID]            = { "skill-invalid", false },
        [DIAGNOSTIC_STAGED_SKILL_INVALID]     = { "staged-skill-invalid", false },
        [DIAGNOSTIC_STAGED_INVALID]           = { "staged-invalid", false },
        [DIAGNOSTIC_STATE_INVALID]            = { "state-invalid", true },
};

struct Diagnostics {
        GPtrArray *items;
        size_t dropped;
        bool has_error; /* also of those that were dropped */
};

const char *diagnostic_code_to_string(DiagnosticCode code) {
        assert(code >= 0 && code < _DIAGNOSTIC_CODE_MAX);

        return code_table[code].word;
}

bool diagnostic_code_is_error(DiagnosticCode code) {
        assert(code >= 0 && code < _DIAGNOSTIC_CODE_MAX);

        return code_table[code].error;
}

static void diagnostic_free(void *data) {
        Diagnostic *item = data;

        g_free(item->message);
        g_free(item->path);
        g_free(item);
}

Diagnostics *diagnostics_new(void) {
        Diagnostics *diagnostics = g_new0(Diagnostics, 1);

        diagnostics->items = g_ptr_array_new_with_free_func(diagnostic_free);
        return diagnostics;
}

Diagnostics *diagnostics_free(Diagnostics *diagnostics) {
        if (!diagnostics)
                return NULL;

        g_ptr_array_unref(diagnostics->items);
        g_free(diagnostics);
        return NULL;
}

/* Makes room for an error by giving up the last warning. */
static bool drop_last_warning(Diagnostics *diagnostics) {
        for (size_t i = diagnostics->items->len; i > 0; i--) {
                const Diagnostic *item = g_ptr_array_index(diagnostics->items, i - 1);

                if (!diagnostic_code_is_error(item->code)) {
                        g_ptr_array_remove_index(diagnostics->items, (guint) (i - 1));
                        return true;
                }
        }
        return false;
}

static void take_item(Diagnostics *diagnostics, Diagnostic *item) {
        bool error = diagnostic_code_is_error(item->code);

        diagnostics->has_error |= error;
        if (diagnostics->items->len >= DIAGNOSTICS_MAX) {
                diagnostics->dropped++;
                if (!error || !drop_last_warning(diagnostics)) {
                        diagnostic_free(item);
                        return;
                }
        }
        g_ptr_array_add(diagnostics->items, item);
}

void diagnostics_add(Diagnostics *diagnostics, DiagnosticCode code, const char *path, const char *format, ...) {
        g_autofree char *text = NULL;
        Diagnostic *item;
        va_list arguments;

        assert(diagnostics);

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        item = g_new0(Diagnostic, 1);
        item->code = code;
        item->message = sanitize_line(text, DIAGNOSTIC_BYTES_MAX, NULL);
        item->path = path ? sanitize_line(path, DIAGNOSTIC_BYTES_MAX, NULL) : NULL;
        take_item(diagnostics, item);
}

void diagnostics_append(Diagnostics *diagnostics, const Diagnostics *more) {
        for (size_t i = 0; i < more->items->len; i++) {
                const Diagnostic *item = g_ptr_array_index(more->items, i);
                Diagnostic *copy = g_new0(Diagnostic, 1);

                copy->code = item->code;
                copy->message = g_strdup(item->message);
                copy->path = g_strdup(item->path);
                take_item(diagnostics, copy);
        }
        diagnostics->dropped += more->dropped;
        diagnostics->has_error |= more->has_error;
}

size_t diagnostics_count(const Diagnostics *diagnostics) {
        return diagnostics->items->len;
}

const Diagnostic *diagnostics_get(const Diagnostics *diagnostics, size_t index) {
        return index < diagnostics->items->len ? g_ptr_array_index(diagnostics->items, index) : NULL;
}

size_t diagnostics_dropped(const Diagnostics *diagnostics) {
        return diagnostics->dropped;
}

bool diagnostics_has_error(const Diagnostics *diagnostics) {
        return diagnostics->has_error;
}

const Diagnostic *diagnostics_first_error(const Diagnostics *diagnostics) {
        for (size_t i = 0; i < diagnostics->items->len; i++) {
                const Diagnostic *item = g_ptr_array_index(diagnostics->items, i);

                if (diagnostic_code_is_error(item->code))
                        return item;
        }
        return NULL;
}

const Diagnostic *diagnostics_find(const Diagnostics *diagnostics, DiagnosticCode code) {
        for (size_t i = 0; i < diagnostics->items->len; i++) {
                const Diagnostic *item = g_ptr_array_index(diagnostics->items, i);

                if (item->code == code)
                        return item;
        }
        return NULL;
}

void diagnostics_write(const Diagnostics *diagnostics, JWriter *writer) {
        jwriter_begin_array(writer);
        for (size_t i = 0; i < diagnostics->items->len; i++) {
                const Diagnostic *item = g_ptr_array_index(diagnostics->items, i);

                jwriter_begin_object(writer);
                jwriter_member_string(writer, "level", diagnostic_code_is_error(item->code) ? "error" : "warning");
                jwriter_member_string(writer, "code", diagnostic_code_to_string(item->code));
                jwriter_member_string(writer, "message", item->message);
                if (item->path)
                        jwriter_member_string(writer, "path", item->path);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}
