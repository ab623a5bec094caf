/* SPDX-License-Identifier: MIT */
#pragma once

/* What a core tool's arguments point at: files and hosts. Judged by their text alone, no file is looked at.
 */

#include <glib.h>
#include <stdbool.h>

#include "common/jdoc.h"

/**
 * operand_paths() - the paths that a call names, as written
 * @policy_name: of the tool (tool-name.h)
 *
 * Looks at the members path, file, file_path, filename, target, source, destination, directory, dir and cwd, and at the
 * lists paths and files, however deep they stand, and at the file lines of a patch. Return: a new array of strings, each once, at
 * most OPERANDS_MAX; @ret_all is false when there are more: what is not judged must not pass for judged.
 */
GPtrArray *operand_paths(const char *policy_name, Jval arguments, bool *ret_all);

/**
 * operand_relative() - a path as it lies in the workspace
 * @workspace: absolute
 *
 * "." and ".." are resolved by text. Return: a new string such as "src/main.c", "." for the workspace
 * itself; NULL when the path leaves it, is empty or begins with "~".
 */
char *operand_relative(const char *workspace, const char *path);

/**
 * operand_host() - the host that the member "url" leads to, in lower case, with a port that is not the
 * scheme's own
 *
 * Return: a new string; NULL when there is none or it can't be told.
 */
char *operand_host(Jval arguments);

/**
 * operand_glob_match() - whether a relative path matches a pattern
 *
 * "*" and "?" stop at "/", "**" does not; a pattern without "/" matches the last component anywhere; a
 * pattern that matches a directory matches everything below it.
 */
bool operand_glob_match(const char *pattern, const char *path);
