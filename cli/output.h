/* SPDX-License-Identifier: MIT */
#pragma once

/* What a person sees: colours only where they belong, text that can't take the terminal over, long text
 * through a pager. */

#include <errno.h>
#include <glib.h>
#include <stddef.h>

#include "cli/cli.h"

#define OUTPUT_TEXT_BYTES_MAX ((size_t) 16u * 1024u * 1024u)

typedef enum Style {
        STYLE_PLAIN, /* back to normal */
        STYLE_BOLD,
        STYLE_DIM,
        STYLE_GOOD,
        STYLE_WARNING,
        STYLE_BAD,
        _STYLE_MAX,
        _STYLE_INVALID = -EINVAL,
} Style;

/** style_on() - the bytes that switch a style on; "" when there are to be no colours */
const char *style_on(const Cli *cli, Style style);

/** style_append() - @text in @style, sanitised to one line */
void style_append(const Cli *cli, GString *out, Style style, const char *text);

/** style_for_word() - how one of the service's words for a state is shown: "active" is good, "failed" is bad
 * … */
Style style_for_word(const char *word);

/** text_width() - the columns that a sanitised line takes on a terminal */
size_t text_width(const char *line);

/** output_columns() - how wide standard output is; 0 when it is no terminal */
unsigned output_columns(void);

/**
 * output_json() - print a JSON text and a newline on standard output
 *
 * A pipe gets it as it is. On a terminal characters that could steer it are written as JSON escapes, which
 * any reader takes for the same text. Return: an ExitStatus.
 */
int output_json(const char *json);

/** output_json_escape() - the JSON text as output_json() shows it on a terminal; a new string */
char *output_json_escape(const char *json);

/**
 * output_page() - print text that was already made safe to show
 *
 * Through a pager when standard output is a terminal, unless --no-pager was given; the pager leaves by
 * itself when all fits. Return: an ExitStatus.
 */
int output_page(const Cli *cli, const char *text);

/** output_pager() - show text through the pager even if it is short; returns 0 or -errno */
int output_pager(const char *text);

/** output_text() - print text without a pager; ends it with a newline if it has none. Returns an ExitStatus
 */
int output_text(const char *text);
