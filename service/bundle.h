/* SPDX-License-Identifier: MIT */
#pragma once

/* One bundle as its bytes are: manifest, tree, inventory, hashes and everything that is wrong with it. Knows nothing of
 * trust, and nothing of where it came from. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/bundle-tree.h"
#include "service/diagnostic.h"
#include "service/inventory.h"
#include "service/manifest.h"

typedef struct Bundle {
        Manifest *manifest;
        BundleTree *tree; /* NULL: it can't be hashed; an error diagnostic says why */
        Inventory inventory;
        char *content_hash, *capability_hash; /* NULL without a tree */
        char *manifest_sha256;
        Diagnostics *diagnostics;
} Bundle;

Bundle *bundle_free(Bundle *bundle);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bundle, bundle_free)

/**
 * bundle_count_native(), bundle_get_native() - native entries in declaration order, as nodes of the tree
 *
 * NULL for an entry that is not there (an error diagnostic says so). None without a tree.
 */
size_t bundle_count_native(const Bundle *bundle);
const BundleNode *bundle_get_native(const Bundle *bundle, size_t index);

/** bundle_find_manifest() - the path of the manifest that counts in @tree (1.2), or NULL */
const char *bundle_find_manifest(const BundleTree *tree);

typedef struct BundleOptions {
        bool extension_host;        /* the feature flag: in the capability hash, and in the entry rule (1.6) */
        BundleScanFlags flags;
        BundleTree *previous;       /* NULL, or what is known already; the load takes a reference of its own */
} BundleOptions;

/* Loading, in steps. The bundle is looked at twice (1.1): it is dropped when it changed between the two. */
typedef struct BundleLoad BundleLoad;

/** bundle_load_new() - begin to load the bundle in the directory @root, a descriptor that is borrowed */
BundleLoad *bundle_load_new(int root, const BundleOptions *options);
BundleLoad *bundle_load_free(BundleLoad *load);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BundleLoad, bundle_load_free)

/**
 * bundle_load_step() - one piece of the work
 *
 * Return: 1 when there is more to do; 0 when the bundle is there, perhaps with error diagnostics; -ENOENT when there is no
 * manifest; -EBADMSG when the manifest is unusable; -EAGAIN when the bundle keeps changing. The last two left
 * diagnostics in bundle_load_get_diagnostics().
 */
int bundle_load_step(BundleLoad *load);

/** bundle_load_run() - all steps at once */
int bundle_load_run(BundleLoad *load);

/** bundle_load_steal() - the bundle, after 0 */
Bundle *bundle_load_steal(BundleLoad *load);

const Diagnostics *bundle_load_get_diagnostics(const BundleLoad *load);

/** bundle_load_get_progress() - bytes read so far */
uint64_t bundle_load_get_progress(const BundleLoad *load);
