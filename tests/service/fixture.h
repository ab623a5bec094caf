/* SPDX-License-Identifier: MIT */
#pragma once

/* Real bundles in real temporary folders, for the tests of this room. */

#include <glib.h>
#include <stddef.h>
#include <sys/types.h>

/** fixture_new_folder() - a new empty folder; fixture_remove() it */
char *fixture_new_folder(void);
void fixture_remove(char *folder);

/** fixture_write() - write a file below @folder, making its parents; a file of @size bytes, or text with size -1 */
void fixture_write(const char *folder, const char *path, const char *data, gssize size);

/** fixture_write_format() - the same with a formatted text */
void fixture_write_format(const char *folder, const char *path, const char *format, ...)
                __attribute__((format(printf, 3, 4)));

/** fixture_make_directory() - make a directory below @folder, with its parents */
void fixture_make_directory(const char *folder, const char *path);

/** fixture_read() - the text of a file below @folder; NULL when it can't be read */
char *fixture_read(const char *folder, const char *path);

/** fixture_exists() - whether something of that name is below @folder, a broken link included */
gboolean fixture_exists(const char *folder, const char *path);

/** fixture_count() - how many names are in the directory @path below @folder; 0 when there is none */
size_t fixture_count(const char *folder, const char *path);

/** fixture_bundle() - a small bundle that is fine: plugin.json named @name and native/main.mjs */
void fixture_bundle(const char *folder, const char *name);
