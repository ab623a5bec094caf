/* SPDX-License-Identifier: MIT */
#pragma once

/* The file that says that a bundle was put there by our installer, and from where (contract 2.9): JSON with the source in a
 * form that parses back, the checksum of a download, and the content hash at that time. It is no part of the bundle. */

#include <glib.h>
#include <stdint.h>

typedef struct Marker {
        char *source;       /* "path:/…" or a URL */
        char *content_hash; /* of what was placed */
        char *download_sha256; /* NULL for a directory */
        int64_t installed_at;  /* seconds since 1970 */
} Marker;

Marker *marker_free(Marker *marker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Marker, marker_free)

/** marker_read() - of the bundle in the directory @root; 0, -ENOENT, -EBADMSG or another -errno */
int marker_read(int root, Marker **ret);

/** marker_read_source() - only the source; a new string, or NULL */
char *marker_read_source(int root);

/** marker_write() - into the directory @root, on the disk when it returns; 0 or -errno */
int marker_write(int root, const Marker *marker);
