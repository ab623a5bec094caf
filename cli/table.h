/* SPDX-License-Identifier: MIT */
#pragma once

/* A table for people: a heading, cells that are made safe to show, columns as wide as they must be. */

#include <glib.h>

#include "cli/cli.h"

typedef struct Table Table;

/** table_new() - an empty table; @headings end in NULL and are borrowed */
Table *table_new(const char *const *headings);
Table *table_free(Table *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Table, table_free)

/** table_add() - one more row; @cells as many as there are headings, copied; NULL shows a dash */
void table_add(Table *table, const char *const *cells);

/** table_rows() - how many rows were added */
size_t table_rows(const Table *table);

/**
 * table_render() - append the table to @out
 * @columns: cut lines to this width; 0: do not cut
 *
 * Only the last column is cut, and only on whole characters. States are coloured when @cli has colours.
 */
void table_render(const Table *table, const Cli *cli, unsigned columns, GString *out);
