/* SPDX-License-Identifier: MIT */
#pragma once

/* Text that is too large for a bus message travels in a memory file. */

#include <glib.h>

/** memory_file_read() - the text in one, at most BUS_MEMFD_BYTES_MAX and without NUL; a new string. 0 or
 * -errno */
int memory_file_read(int fd, char **ret);

/** memory_file_seal() - a new one with @text, sealed so that nobody can change it any more. 0 or -errno */
int memory_file_seal(const char *text, int *ret);
