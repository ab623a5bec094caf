/* SPDX-License-Identifier: MIT */
#pragma once

/* TOML, by turning it into JSON text that common/jdoc.h then reads: one reader of values in the whole program.
 *
 * The TOML library runs in a child process that lives for this one text. Some malformed texts break assertions of the library,
 * and end nothing but the child; and the daemon never touches the library's pages, a tenth of what it would have in memory. */

#include <stddef.h>

/* How the JSON of a date or time begins: a string like any other, but that its first digit is spelled as an escape. No string of a
 * document is spelled so, and whoever may not take a date for a text can tell the two apart. */
#define TOML_DATE_PREFIX "\"\\u003"

/* Where each value of a document stood in its text, found by where it stands in the JSON that was made of it. */
typedef struct TomlLines TomlLines;

/* Where the text is wrong. The description never quotes the text: settings may hold secrets. */
typedef struct TomlError {
        size_t line;   /* from 1 */
        size_t column; /* from 1 */
        char description[160];
        char detail[160]; /* the library's own words, which may quote some of the text; "" for none */
} TomlError;

/**
 * toml_to_json() - read a TOML 1.0 document
 * @text:     UTF-8, not ended by NUL
 * @ret_json: the document as JSON; dates and times become strings (TOML_DATE_PREFIX), infinities and NaN are refused; g_free() it
 *
 * Blocks for about a millisecond.
 *
 * Return: 0; -EBADMSG with @reterr filled in when it is no TOML; -ENOMEM; another negative errno when there is no process to be
 * had (@reterr says that, too).
 */
int toml_to_json(const char *text, size_t size, char **ret_json, TomlError *reterr);

/**
 * toml_to_json_lines() - the same, and where everything stood
 * @ret_lines: toml_lines_free() it
 */
int toml_to_json_lines(const char *text, size_t size, char **ret_json, TomlLines **ret_lines, TomlError *reterr);

/**
 * toml_lines_find() - the line that a byte of the JSON was made of
 * @offset:     into the JSON text; where a key or a value begins
 * @ret_column: NULL, or the column from 1; 0 with line 0
 *
 * Return: the line from 1; 0 when @lines is NULL or @offset lies before everything.
 */
size_t toml_lines_find(const TomlLines *lines, size_t offset, size_t *ret_column);

/** toml_lines_free() - returns NULL; NULL is allowed */
TomlLines *toml_lines_free(TomlLines *lines);

#ifndef __cplusplus
#include <glib.h>
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TomlLines, toml_lines_free)
#endif
