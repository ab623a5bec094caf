/* SPDX-License-Identifier: MIT */
#pragma once

/* Which files of the workspace a command names, by its text alone: for what protects them and for what binds a card to them.
 * Rather one too many: that a word is the name of a file is found out by looking for it. */

#include "policy/command.h"

/**
 * command_paths() - all that could be one: each word and each target of a redirection, also behind "=", "@" and a short option, seen
 * from the workspace, from @cwd, and from every folder that the command goes to before or hands to a program with -C
 * @cwd:     where it runs, from the workspace; NULL for there
 * @ret_all: false when there are more than COMMAND_PATHS_MAX or COMMAND_PATHS_BYTES_MAX, or when the command was not looked at to its end
 *
 * Return: a new array of relative paths, each once, without "." itself. What the shell makes up when it runs is not among them:
 * see command_is_computed().
 */
GPtrArray *command_paths(const Command *command, const char *workspace, const char *cwd, bool *ret_all);

/** command_is_computed() - whether some of its words are known only to the shell */
bool command_is_computed(const Command *command);
