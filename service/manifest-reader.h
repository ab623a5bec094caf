/* SPDX-License-Identifier: MIT */
#pragma once

/* Reading a closed JSON object of a manifest: every problem becomes one diagnostic that names the place ("author.email")
 * and the rule, never the value, and reading goes on so that an author sees all of them at once. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/jdoc.h"
#include "service/diagnostic.h"

typedef struct ManifestReader {
        Diagnostics *diagnostics;
        DiagnosticCode code; /* of the problems */
        const char *file;    /* that is read, for the diagnostic's path */
        bool failed;
} ManifestReader;

/** manifest_reader_parse() - the document, or a problem with line and column; @ret_doc borrows @text */
bool manifest_reader_parse(ManifestReader *reader, const char *text, size_t size, Jdoc **ret_doc);

void manifest_reader_problem(ManifestReader *reader, const char *where, const char *format, ...)
                __attribute__((format(printf, 3, 4)));

/**
 * manifest_reader_object() - check that @value is an object with no other keys than @keys (ends in NULL)
 *
 * Return: whether it is an object. An unknown key is a problem but leaves the rest readable.
 */
bool manifest_reader_object(ManifestReader *reader, const char *where, Jval value, const char *const *keys);

/** manifest_reader_text() - a string under the text rules of 1.5.1; a new string, or NULL with a problem */
char *manifest_reader_text(ManifestReader *reader, const char *where, Jval value, size_t chars_max);

/** manifest_reader_optional_text() - the same for a member that may be absent; NULL then, without a problem */
char *manifest_reader_optional_text(
                ManifestReader *reader, const char *where, Jval object, const char *key, size_t chars_max);

/** manifest_reader_texts() - an array of such strings, at most @items_max; NULL with a problem or when absent */
char **manifest_reader_texts(
                ManifestReader *reader, const char *where, Jval value, size_t items_max, size_t chars_max);

/** manifest_reader_boolean() - a boolean member; @fallback when absent, and with a problem when it is something else */
bool manifest_reader_boolean(ManifestReader *reader, const char *where, Jval object, const char *key, bool fallback);

/** manifest_reader_where() - "where.key", or "key" at the root; a new string */
char *manifest_reader_where(const char *where, const char *key);
