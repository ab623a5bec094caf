/* SPDX-License-Identifier: MIT */
#pragma once

/* Prints an answer that is an array of structures: a table for people, a JSON array of objects for programs.
 */

#include <systemd/sd-bus.h>

#include "cli/cli.h"

#define LISTING_COLUMNS_MAX 8u

/* One member of the structure. */
typedef struct ListingColumn {
        const char *name;    /* in JSON */
        const char *heading; /* in the table; NULL: not shown there */
        char *(*show)(const char *text); /* how the table has it, a new string; NULL: as it is */
} ListingColumn;

/**
 * listing_print() - print the array that an answer holds
 * @signature: of one structure without brackets, of s, o, t, u and b
 * @columns:   as many as @signature has members
 * @empty:     what to say on standard error when there is nothing
 *
 * Return: an ExitStatus.
 */
int listing_print(const Cli *cli, sd_bus_message *reply, const char *signature, const ListingColumn *columns,
                const char *empty);
