/* SPDX-License-Identifier: MIT */
#pragma once

/* Fingerprints of files and directories (see NodePrint in bundle-tree.h). */

#include <stdbool.h>
#include <stdint.h>

#include "service/bundle-tree.h"

/** node_print_at() - of @path below @directory, not following a link at its end; "" is @directory itself; 0 or -errno */
int node_print_at(int directory, const char *path, NodePrint *ret);

/** node_print_fd() - of an open file; 0 or -errno */
int node_print_fd(int fd, NodePrint *ret);

bool node_print_equal(const NodePrint *a, const NodePrint *b);

/**
 * node_print_is_fresh() - whether a later change could still leave this very fingerprint
 * @now: node_print_now() from before the file was read
 *
 * A file's time of change moves in ticks of the kernel or of the file system. A change within the tick of the one before
 * can't be seen by it, so a fingerprint that is younger than that proves nothing.
 */
bool node_print_is_fresh(const NodePrint *print, int64_t now);

/** node_print_now() - the clock by which files are stamped, in nanoseconds */
int64_t node_print_now(void);
