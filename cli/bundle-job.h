/* SPDX-License-Identifier: MIT */
#pragma once

/* A method of .Plugins that works on a bundle for a while: it is waited for, and on a terminal a line says how far it is. */

#include <glib.h>

#include "cli/client.h"

/**
 * bundle_job_run() - make the call and wait for its end
 * @member:  Preview, Install, Update or Review
 * @options: at most BUNDLE_JOB_OPTIONS_MAX, ended by one without a name
 * @ret:     the JSON text of the answer; a new string
 *
 * Ctrl-C ends this program, and with it the work: the service takes back what its caller does not wait for.
 * Return: 0; a negative errno with @reterr.
 */
#define BUNDLE_JOB_OPTIONS_MAX 8u
int bundle_job_run(Cli *cli, const char *member, const char *word, const CallOption *options, char **ret,
                sd_bus_error *reterr);

/**
 * bundle_job_change() - the same for Trust, Enable and Uninstall, which answer nothing
 * @words: the arguments before the options; ended by NULL
 *
 * While a person is being asked nothing is drawn: the question may be on this terminal.
 */
int bundle_job_change(Cli *cli, const char *member, const char *const *words, sd_bus_error *reterr);

/** bundle_job_line() - how far it is, as the terminal shows it: a bar where the total is known; a new string */
char *bundle_job_line(const char *stage, uint64_t done, uint64_t total, unsigned columns);
