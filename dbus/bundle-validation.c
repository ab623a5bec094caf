/* SPDX-License-Identifier: MIT */
#include "dbus/bundle-validation.h"

#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jdoc.h"
#include "common/jwriter.h"

static void write_member(JWriter *writer, const char *key, Jval value, const char *otherwise) {
        size_t size;
        const char *source = jval_source(value, &size);

        jwriter_key(writer, key);
        if (source)
                jwriter_raw(writer, source, size);
        else
                jwriter_raw(writer, otherwise, strlen(otherwise));
}

/* Picks what Validate promises out of the review document. */
static char *validation_of_review(Jval review) {
        Jval identity = jval_member(review, "identity");
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_boolean(&writer, "valid", jval_is(jval_member(review, "token"), J_STRING));
        write_member(&writer, "name", jval_member(identity, "name"), "null");
        write_member(&writer, "version", jval_member(identity, "version"), "null");
        write_member(&writer, "content_hash", jval_member(review, "content_hash"), "null");
        write_member(&writer, "diagnostics", jval_member(review, "diagnostics"), "[]");
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

static char *validation_of_error(const sd_bus_error *error, const char *path) {
        g_auto(JWriter) writer = {};
        bool manifest = strcmp(error->name, ERROR_INVALID_MANIFEST) == 0;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_boolean(&writer, "valid", false);
        jwriter_member_raw(&writer, "name", "null");
        jwriter_member_raw(&writer, "version", "null");
        jwriter_member_raw(&writer, "content_hash", "null");
        jwriter_key(&writer, "diagnostics");
        jwriter_begin_array(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "level", "error");
        jwriter_member_string(&writer, "code", manifest ? "manifest-invalid" : "bundle-invalid");
        jwriter_member_string(&writer, "message", error->message);
        jwriter_member_string(&writer, "path", path);
        jwriter_end_object(&writer);
        jwriter_end_array(&writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

int bundle_validation_make(
                const char *path, int r, const sd_bus_error *error, const char *review, char **ret, sd_bus_error *reterr) {
        g_autoptr(Jdoc) doc = NULL;

        if (r < 0 && !sd_bus_error_has_names(error, ERROR_INVALID_MANIFEST, ERROR_INVALID_BUNDLE, ERROR_TOO_LARGE, ERROR_NO_BUNDLE,
                                        ERROR_SEVERAL_BUNDLES, ERROR_LINK_FOUND, ERROR_PATH_TRAVERSAL)) {
                (void) sd_bus_error_copy(reterr, error);
                return r;
        }
        if (r < 0) {
                *ret = validation_of_error(error, path);
                return 0;
        }

        r = jdoc_parse(review, strlen(review), NULL, &doc, NULL);
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "The review of the bundle can't be read back.");

        *ret = validation_of_review(jdoc_root(doc));
        return 0;
}
