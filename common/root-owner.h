/* SPDX-License-Identifier: MIT */
#pragma once

/* Whether a file is root's, also where root can't be seen: the service's own unit has a user namespace that knows its user only. */

#include <stdbool.h>
#include <sys/stat.h>

/**
 * root_owns() - whether a file belongs to root
 *
 * In a user namespace without root every other user is shown as the overflow user. There "not ours and nobody else's whom we
 * know" is all that can be told, and counts as root's: ask only about files in folders that root alone may write, such as /etc.
 */
bool root_owns(const struct stat *status);
