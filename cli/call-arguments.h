/* SPDX-License-Identifier: MIT */
#pragma once

/* The arguments of a tool as people type them, made into the JSON object that travels. */

#include <glib.h>

#include "common/jdoc.h"

/**
 * call_arguments_build() - one JSON object from the words behind the tool's name
 * @words:     n of them:
 *             nothing             {}
 *             {...}               JSON, passed on as it is
 *             @FILE or -          the same, from a file or standard input
 *             KEY=VALUE ...       members: see below
 * @schema:    the tool's input schema; an absent value when it is not known
 * @ret:       the text, a new string, at most CALL_ARGUMENTS_BYTES_MAX
 * @ret_error: one sentence, a new string
 *
 * KEY:=JSON takes the value as JSON. KEY=VALUE is a string where the schema says so (and only that);
 * otherwise it is what it looks like: true, false, null, a number, an object, an array or a quoted string as
 * JSON has them, else a string.
 *
 * Return: 0; -EINVAL with *@ret_error; another negative errno with *@ret_error when a file can't be read.
 */
int call_arguments_build(char **words, int n, Jval schema, char **ret, char **ret_error);

/** call_arguments_are_pairs() - whether the words are KEY=VALUE, so that the schema is of use */
bool call_arguments_are_pairs(char **words, int n);
