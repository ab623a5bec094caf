/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "service/policy-file.h"

PolicyFile *policy_file_new(const char *path) {
        PolicyFile *file = g_new0(PolicyFile, 1);

        file->path = g_strdup(path);
        file->document.file = file->path;
        return file;
}

void policy_file_forget(PolicyFile *file) {
        policy_document_sort(&file->document);
        file->doc = jdoc_free(file->doc);
        file->lines = toml_lines_free(file->lines);
        file->document.lines = NULL;
        g_clear_pointer(&file->json, g_free);
}

PolicyFile *policy_file_free(PolicyFile *file) {
        if (!file)
                return NULL;

        policy_file_forget(file);
        policy_document_done(&file->document);
        g_free(file->path);
        g_free(file);
        return NULL;
}

int policy_file_parse(PolicyFile *file, const char *text, size_t size) {
        g_autofree char *words = NULL;
        TomlError toml_error = {};
        JdocError error = {};
        size_t line, column;

        if (toml_to_json_lines(text, size, &file->json, &file->lines, &toml_error) < 0) {
                const bool more = !file->has_secrets && toml_error.detail[0];

                words = g_strdup_printf("%s%s%s.", toml_error.description, more ? ": " : "", more ? toml_error.detail : "");
                return policy_document_add(&file->document, toml_error.line, toml_error.column, words);
        }
        file->document.lines = file->lines;
        if (jdoc_parse(file->json, strlen(file->json), NULL, &file->doc, &error) >= 0)
                return 0;

        line = toml_lines_find(file->lines, error.byte, &column);
        return policy_document_add(&file->document, line, column, error.message);
}

Jval policy_file_root(const PolicyFile *file) {
        return file->doc ? jdoc_root(file->doc) : (Jval) {};
}

void policy_file_write_mistakes(const PolicyFile *file, JWriter *writer) {
        const GPtrArray *mistakes = file->document.mistakes;

        jwriter_begin_array(writer);
        for (size_t i = 0; mistakes && i < mistakes->len; i++) {
                const PolicyMistake *mistake = g_ptr_array_index(mistakes, i);

                jwriter_begin_object(writer);
                if (mistake->line > 0)
                        jwriter_member_uint(writer, "line", mistake->line);
                if (mistake->column > 0)
                        jwriter_member_uint(writer, "column", mistake->column);
                jwriter_member_string(writer, "severity", mistake->warning ? "warning" : "error");
                jwriter_member_string(writer, "text", mistake->text);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}
