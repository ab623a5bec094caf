/* SPDX-License-Identifier: MIT */
#pragma once

/* Read leases (fcntl(2), F_SETLEASE) on the files of sealed copies. While one holds, nobody has the file open for writing or mapped
 * so, and the kernel tells before anybody gets it: so the bytes of a file that was hashed under its lease are still the same, through
 * whatever name somebody comes. One question to the kernel answers for all files of all copies, where fingerprints cost a system
 * call a file (contract 2.8; names are another matter: those stand in the fingerprints of the folders).
 *
 * Who wants to write waits until the lease is given up, which the loop does at once. A lease needs a descriptor, so only larger
 * copies get some, as long as there are any (LEASES_MAX); the rest is compared file by file. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "service/bundle-tree.h"

typedef struct LeaseTable LeaseTable;
typedef struct LeaseSet LeaseSet;

/**
 * lease_table_new() - the leases of this process; there must be only one
 *
 * Blocks the signals by which the kernel tells. Return: 0 or -errno.
 */
int lease_table_new(sd_event *event, LeaseTable **ret);

/** lease_table_free() - the sets that are left don't hold any more */
LeaseTable *lease_table_free(LeaseTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LeaseTable, lease_table_free)

/** lease_table_get_left() - how many more files may get one */
size_t lease_table_get_left(const LeaseTable *table);

/**
 * lease_set_new() - leases on all files of @tree below @root, which is borrowed for the call
 *
 * It proves nothing of what was before: compare the tree once, afterwards.
 * Return: 0; -E2BIG when there are not enough left; -EAGAIN when somebody has a file open for writing; another -errno, such as
 * -EINVAL or -ENOLCK where the file system has no leases.
 */
int lease_set_new(LeaseTable *table, const BundleTree *tree, int root, LeaseSet **ret);
LeaseSet *lease_set_free(LeaseSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LeaseSet, lease_set_free)

/** lease_set_holds() - asks the kernel whether all of them hold still; once broken, always broken */
bool lease_set_holds(LeaseSet *set);
