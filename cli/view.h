/* SPDX-License-Identifier: MIT */
#pragma once

/* Shows a JSON value that the service answered to a person: labels and values, made safe, nested by
 * indentation. */

#include <glib.h>

#include "cli/cli.h"
#include "common/jdoc.h"

/**
 * view_append() - append the members of an object, or the elements of an array, one a line or block
 * @skip: names of members that are left out at the top, ended by NULL; NULL: none
 */
void view_append(const Cli *cli, GString *out, Jval value, unsigned indent, const char *const *skip);

/** view_heading() - append a line that begins a part */
void view_heading(const Cli *cli, GString *out, const char *text);

/** view_label() - a name such as "content_hash" as people read it: "Content hash"; a new string */
char *view_label(const char *key);

/** view_scalar() - a string, number, boolean or null as one safe line; a new string */
char *view_scalar(Jval value);

/** view_json() - the value as indented JSON, safe to show; a new string */
char *view_json(Jval value);

/** view_print() - print a whole JSON answer: as it is with --json, else for people; returns an ExitStatus */
int view_print(const Cli *cli, const char *json);

/**
 * view_parse() - read JSON that the service answered
 * @json: borrowed, must live as long as the document
 *
 * Return: the document; NULL when it is not what the bus promises, which was said on standard error.
 */
Jdoc *view_parse(const char *json);
