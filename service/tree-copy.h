/* SPDX-License-Identifier: MIT */
#pragma once

/* Copies a scanned tree, byte for byte what was hashed. Used for the sealed copy and for installing. */

#include <stdbool.h>
#include <sys/types.h>

#include "service/bundle-tree.h"
#include "service/plugin-progress.h"

typedef struct TreeCopyModes {
        mode_t directory, file, executable;
} TreeCopyModes;

/**
 * tree_copy() - copy every node of @tree
 * @source: descriptor of the scanned directory
 * @target: descriptor of an empty directory
 * @modes:  of what is made; directories get theirs last, so it may be without write bits
 * @progress: NULL, or where the bytes that are on the disk are counted
 *
 * Each file is hashed while it is copied and must have the digest of @tree. The data is on the disk afterwards.
 * Return: 0; -ESTALE when the source is no longer what was scanned; another -errno. On failure @target is half full.
 */
int tree_copy(const BundleTree *tree, int source, int target, const TreeCopyModes *modes, PluginProgress *progress);

/** tree_copy_seal() - give a directory in @target its final mode and put it on the disk; "" is @target itself */
int tree_copy_seal(int target, const char *path, mode_t mode);

/** tree_copy_write() - make one further file below @target; its folder must exist; on the disk afterwards */
int tree_copy_write(int target, const char *path, const void *data, size_t size, mode_t mode);
