/* SPDX-License-Identifier: MIT */
#pragma once

/* A new bundle: the template's files with its name in them. */

#include <errno.h>
#include <stdbool.h>

/* One file of the template, as data/template and data/types have it. */
typedef struct ScaffoldFile {
        const char *path; /* in the bundle, but for the name of the entry */
        const char *text; /* with @NAME@ and the like */
} ScaffoldFile;

/* Made by embed-template; the last one has no path. */
extern const ScaffoldFile scaffold_files[];

/** scaffold_check_name() - NULL, or what is wrong with the name of a bundle, as the service's manifest reader
 * would say it */
const char *scaffold_check_name(const char *name);

/**
 * scaffold_write() - make the folder and write the bundle into it
 * @folder:     must not exist; its parent must
 * @ret_failed: the path that could not be written, a new string; only with an error
 *
 * Return: 0; -EEXIST when @folder exists, or another errno. What was written before stays.
 */
int scaffold_write(const char *folder, const char *name, bool typescript, char **ret_failed);
