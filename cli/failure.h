/* SPDX-License-Identifier: MIT */
#pragma once

/* Turns an error from the bus into what a person needs: what went wrong, what to do next, and the exit
 * status. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "cli/cli.h"

/**
 * failure_status() - the exit status for the name of a D-Bus error
 *
 * Return: an ExitStatus; EXIT_STATUS_FAILURE for a name without one of its own.
 */
int failure_status(const char *error_name);

/** failure_quote() - a word as it must stand in a command that is shown to be copied; a new string */
char *failure_quote(const char *word);

/**
 * failure_hint() - what to do about an error
 * @subject: what the error is about (a plugin, tool, call id), put into the commands that it names; NULL: a
 * placeholder
 *
 * Return: a new string; NULL when there is nothing to add.
 */
char *failure_hint(const Cli *cli, const char *error_name, const char *subject);

/**
 * failure_report() - say on standard error what went wrong and what to do next
 * @r:       the negative errno that came with @error; used where @error is not set
 * @subject: as for failure_hint()
 *
 * Return: the exit status, for a verb to return.
 */
int failure_report(const Cli *cli, int r, const sd_bus_error *error, const char *subject);

/** failure_usage() - say what is wrong with the command line; returns EXIT_STATUS_USAGE */
int failure_usage(const Cli *cli, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** failure_say() - one line on standard error behind the program's name; returns EXIT_STATUS_FAILURE */
int failure_say(const char *format, ...) G_GNUC_PRINTF(1, 2);

/** note_say() - one line on standard error that is no failure */
void note_say(const char *format, ...) G_GNUC_PRINTF(1, 2);
