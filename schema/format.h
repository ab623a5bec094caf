/* SPDX-License-Identifier: MIT */
#pragma once

/* What "format" means where it judges. Formats that are not known here hold for everything. */

#include <stdbool.h>
#include <stddef.h>

#include "schema/schema.h"

typedef struct Format Format;

/** format_find() - the format of a name in a draft; NULL when it is unknown */
const Format *format_find(const char *name, SchemaDraft draft);

/** format_holds() - whether a string (UTF-8, may hold NUL) has the format */
bool format_holds(const Format *format, const char *text, size_t size);
