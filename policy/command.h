/* SPDX-License-Identifier: MIT */
#pragma once

/* A shell command line, taken apart far enough to judge it: the simple commands it would run, also those
 * inside substitutions, groups and `sh -c` texts. When in doubt a command is unclear, and then no rule that
 * allows matches it. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct CommandSegment {
        GPtrArray *words; /* char *, quotes removed; redirections and their targets are not among them */
        bool dynamic;     /* a word holds an expansion: what runs is known only to the shell */
} CommandSegment;

typedef struct Command {
        GPtrArray *segments; /* CommandSegment *, in the order they were met */
        GPtrArray *targets;  /* char *: files that redirections name */
        bool chained;        /* more than one simple command, or anything around it: operator, redirection,
                                substitution */
        bool cut;            /* over a limit: what stands behind it was not looked at; unclear, too */
        bool unclear;        /* could not be taken apart: open quote, computed program name, over a limit */
        uint64_t words_seen; /* for command_may_run() */
} Command;

/** command_parse() - take a command line apart; never fails: what can't be read is unclear. A new Command */
Command *command_parse(const char *text);
Command *command_free(Command *command);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Command, command_free)

/**
 * command_segment_begins() - whether a simple command begins with these words
 * @prefix: ends in NULL
 *
 * A program given by path matches its bare name too.
 */
bool command_segment_begins(const CommandSegment *segment, char *const *prefix);

/**
 * command_runs() - whether any part of the command may run something that begins with these words
 *
 * Looks behind assignments and programs that run other programs (sudo, env, xargs, find -exec, ...). For
 * rules that deny: rather one match too many.
 */
bool command_runs(const Command *command, char *const *prefix);

/**
 * command_may_run() - false when command_runs() can't be true for words that begin with this one
 * @text: the first word, alone or with others behind a space
 *
 * Costs nothing: a thousand rules are asked for every call.
 */
bool command_may_run(const Command *command, const char *text);

/**
 * command_is_plain() - exactly one simple command, nothing around it, nothing computed in it
 *
 * Only such a command can match a rule that allows or be trusted by prefix.
 */
bool command_is_plain(const Command *command);

/**
 * command_family() - the words that a session grant for "commands like this" covers, such as "git push"
 *
 * Return: a new string; NULL when the command is not plain, runs another program, or is an interpreter: then
 * only the very same command can be granted.
 */
char *command_family(const Command *command);

/** command_words() - split a prefix from a configuration file into words like a shell would; NULL when it is
 * not plain */
char **command_words(const char *text);
