/* SPDX-License-Identifier: MIT */
#pragma once

/* The bundle that an author works on, brought into the service of codewhalectl dev as anybody would bring it: installed,
 * reviewed, trusted and enabled over the bus. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

typedef struct DevBundle {
        const char *folder; /* borrowed */
        char *id;           /* NULL while nothing is installed */
        uint64_t records_usec; /* records up to here were shown */
} DevBundle;

void dev_bundle_done(DevBundle *bundle);

/**
 * dev_bundle_bring_up() - take out what was there before, put in what is in the folder now, and enable it
 *
 * Records that the plugin stored stay. Says on standard output what it registered, or what is wrong. Return:
 * whether it is active.
 */
bool dev_bundle_bring_up(Cli *cli, DevBundle *bundle);

/** dev_bundle_show_calls() - print the records of calls that have ended since the last time */
void dev_bundle_show_calls(Cli *cli, DevBundle *bundle);

/** dev_say() - one line on standard output: a word for what it is about, and a text that is made safe here */
void dev_say(const Cli *cli, const char *about, const char *format, ...) G_GNUC_PRINTF(3, 4);
