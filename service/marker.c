/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/jdoc.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/bundle-tree.h"
#include "service/marker.h"

#define MARKER_BYTES_MAX KIB(16)

Marker *marker_free(Marker *marker) {
        if (!marker)
                return NULL;

        g_free(marker->source);
        g_free(marker->content_hash);
        g_free(marker->download_sha256);
        g_free(marker);
        return NULL;
}

int marker_read(int root, Marker **ret) {
        g_autoptr(Marker) marker = g_new0(Marker, 1);
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *text = NULL;
        size_t size = 0;
        int r;

        r = safe_read_at(root, BUNDLE_MARKER_NAME, MARKER_BYTES_MAX, &text, &size);
        if (r < 0)
                return r;
        r = jdoc_parse(text, size, NULL, &doc, NULL);
        if (r < 0)
                return -EBADMSG;

        marker->source = g_strdup(jval_text(jval_member(jdoc_root(doc), "source")));
        marker->content_hash = g_strdup(jval_text(jval_member(jdoc_root(doc), "content_hash")));
        marker->download_sha256 = g_strdup(jval_text(jval_member(jdoc_root(doc), "download_sha256")));
        if (!marker->source || !marker->content_hash ||
                        jval_int64(jval_member(jdoc_root(doc), "installed_at"), &marker->installed_at) < 0)
                return -EBADMSG;

        *ret = g_steal_pointer(&marker);
        return 0;
}

char *marker_read_source(int root) {
        g_autoptr(Marker) marker = NULL;

        return marker_read(root, &marker) < 0 ? NULL : g_steal_pointer(&marker->source);
}

int marker_write(int root, const Marker *marker) {
        g_autofree char *text = NULL;
        g_auto(JWriter) writer = {};
        size_t size;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "source", marker->source);
        jwriter_member_string(&writer, "content_hash", marker->content_hash);
        if (marker->download_sha256)
                jwriter_member_string(&writer, "download_sha256", marker->download_sha256);
        jwriter_member_int(&writer, "installed_at", marker->installed_at);
        jwriter_end_object(&writer);
        text = jwriter_steal(&writer, &size);
        return safe_replace_at(root, BUNDLE_MARKER_NAME, text, size, 0600);
}
