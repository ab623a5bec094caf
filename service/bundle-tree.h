/* SPDX-License-Identifier: MIT */
#pragma once

/* The files of a bundle as they were at one moment: names, execute bits, sizes, digests, and a fingerprint of each node by
 * which an unchanged tree is recognised without reading it again (contract 1.7, 2.2, 2.8).
 *
 * A scan walks beneath a directory descriptor, follows no link, opens each file once and takes fingerprint and digest
 * from the same descriptor. It runs in steps, so that a large bundle never holds up the caller's loop. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/sha256.h"
#include "service/diagnostic.h"

#define BUNDLE_MARKER_NAME ".installed-from"     /* ours, in an installed bundle: not part of it */
#define BUNDLE_ERASED_NAME ".codewhale-erased"   /* ours, in a sealed copy: type-erased modules */

/* What a change of a file can't leave alone. Times are in nanoseconds. */
typedef struct NodePrint {
        uint64_t device, inode, size, links;
        int64_t modified, changed;
        uint32_t mode, uid;
} NodePrint;

typedef struct BundleNode {
        const char *path; /* relative, '/' separated, UTF-8 */
        bool directory;
        bool executable; /* any execute bit of a file */
        bool ours;       /* below BUNDLE_ERASED_NAME: not part of the content hash */
        bool fresh;      /* changed so shortly before the scan that the fingerprint proves nothing yet */
        uint64_t size;
        char sha256[SHA256_HEX_CHARS + 1]; /* of a file's bytes */
        NodePrint print;
} BundleNode;

typedef struct BundleTree {
        unsigned n_ref;
        GPtrArray *nodes; /* of BundleNode: depth first, children sorted by the bytes of their names */
        GHashTable *by_path;
        NodePrint root;
        bool fresh_root;
        size_t n_files;
        uint64_t n_bytes;

        /* What the nodes and their paths stand in. Thousands of pieces of memory of their own take milliseconds to give back, all in one
         * turn of the loop. */
        GPtrArray *blocks;
        size_t n_left; /* in the last block */
        GStringChunk *paths;
} BundleTree;

/** bundle_tree_new() - an empty one with one reference. Whoever works with a tree over several turns of the loop holds one of his own:
 * the bundle may be looked at again in between, and then has another tree. */
BundleTree *bundle_tree_new(void);
BundleTree *bundle_tree_ref(BundleTree *tree);
BundleTree *bundle_tree_unref(BundleTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BundleTree, bundle_tree_unref)

/** bundle_tree_append() - a new last node with a copy of @path, the rest is zero; it lives as long as the tree */
BundleNode *bundle_tree_append(BundleTree *tree, const char *path);

/** bundle_tree_find() - a node by path, or NULL */
const BundleNode *bundle_tree_find(const BundleTree *tree, const char *path);

/**
 * bundle_tree_hash() - the content hash (2.2): names, structure, bytes and execute bits
 * @manifest: path of the manifest in the bundle
 *
 * Like the contract's hash in what it covers, with a domain string of ours and file digests in place of the bytes, so
 * that each byte is hashed once. Return: 64 hex digits, a new string.
 */
char *bundle_tree_hash(const BundleTree *tree, const char *manifest);

/**
 * bundle_tree_is_unchanged() - whether the tree below @root still carries the same fingerprints
 *
 * One stat() a node, nothing is opened. True proves that the bytes are the same; false that they have to be looked at.
 *
 * Watches of inotify would ask the kernel once for all nodes, but prove less: a watched folder does not tell of a write through a
 * link elsewhere, nor of that link being made; no watch tells of writes into memory mapped from a descriptor that was open
 * before, of a mount laid over a node, or of what happens to a remote file system elsewhere. In a fingerprint these show.
 * So watches only bring the news early (service/plugin-watch.h).
 */
bool bundle_tree_is_unchanged(const BundleTree *tree, int root);

/** bundle_tree_has_same_names() - the same for the folders alone: no name came, went or leads elsewhere */
bool bundle_tree_has_same_names(const BundleTree *tree, int root);

/**
 * bundle_tree_compare() - the same in steps of some nodes
 * @at: 0 to begin with; moved on
 *
 * Return: 1 when there is more to do; 0 when all is unchanged; -ESTALE when it can't be said.
 */
int bundle_tree_compare(const BundleTree *tree, int root, size_t *at);

typedef enum BundleScanFlags {
        BUNDLE_SCAN_STAGED = 1 << 0, /* a sealed copy: BUNDLE_ERASED_NAME is expected, not refused */
} BundleScanFlags;

typedef struct BundleScan BundleScan;

/**
 * bundle_scan_new() - begin to look at the tree below @root
 * @root:        descriptor of the directory; borrowed for the life of the scan
 * @previous:    NULL, or an earlier scan of the same directory: files whose fingerprint is the same are not read
 *               again; borrowed
 * @diagnostics: gets what is wrong with the tree; borrowed
 */
BundleScan *bundle_scan_new(int root, BundleScanFlags flags, const BundleTree *previous, Diagnostics *diagnostics);
BundleScan *bundle_scan_free(BundleScan *scan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BundleScan, bundle_scan_free)

/**
 * bundle_scan_step() - one piece of the work: a node, or a part of a file
 *
 * Return: 1 when there is more to do; 0 when the tree is complete; -EBADMSG when it can't be a bundle (the diagnostics
 * say why); the work is over in both cases.
 */
int bundle_scan_step(BundleScan *scan);

/** bundle_scan_run() - all steps at once; 0 or -EBADMSG */
int bundle_scan_run(BundleScan *scan);

/** bundle_scan_get_progress() - bytes read so far */
uint64_t bundle_scan_get_progress(const BundleScan *scan);

/** bundle_scan_steal() - the tree of a scan that is complete */
BundleTree *bundle_scan_steal(BundleScan *scan);
