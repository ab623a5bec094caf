/* SPDX-License-Identifier: MIT */
#pragma once

/* The review: one JSON document that says what a person would let run, and what changed since the last time (contract 2.1,
 * 2.3). All text in it is safe to show. Its members:
 *
 *   plugin        as plugin_describe(); absent in a preview
 *   identity      name, display name, version, description, author, homepage, repository, license, keywords
 *   source        root, manifest, installed_from
 *   files         count, bytes, and with REVIEW_FILES list: [{path, size, sha256, executable}]
 *   inventory     counts and lists (1.11)
 *   capabilities  [{name, words, active}] that it declares
 *   entries       [{path, size, sha256}] native code, in the order in which it is loaded
 *   mcp_servers   [{id, public_name, transport, endpoint, variables}]
 *   when          os, binaries, applies, reason
 *   inactive      [{what, why}]
 *   diagnostics   [{level, code, message, path}]
 *   changes       null when it was never reviewed, else what differs from the last reviewed state: reviewed_at,
 *                 same, capabilities_added, capabilities_removed, files: [{path, change, before, after, diff}] or
 *                 files_unknown: why the files can't be compared
 *   content_hash, capability_hash, token    absent when the bundle has errors; then refused says why
 */

#include <glib.h>

#include "service/bundle.h"
#include "service/plugin-set.h"

typedef struct ReviewSubject {
        const Bundle *bundle;
        const Plugin *plugin; /* NULL for a preview */
        const char *root;     /* where the bundle is; any bytes */
        int root_fd;          /* of that directory, for line diffs; or negative */
        const CodewhaleHome *home;
        bool extension_host;
} ReviewSubject;

/** review_write() - the document; a new string */
char *review_write(const ReviewSubject *subject, ReviewFlags flags);
