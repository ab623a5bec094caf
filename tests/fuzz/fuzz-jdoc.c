/* SPDX-License-Identifier: MIT */

/* The reader: whatever it takes must read the same from its canonical text and from its source. */

#include <string.h>

#include "common/jdoc-node.h"
#include "common/jval-compare.h"
#include "fuzz.h"

static void walk(Jval value) {
        JIter iter = jval_iterate(value);
        Jval key, item;
        int64_t whole;

        if (jval_is(value, J_STRING)) {
                size_t size;
                const char *bytes = jval_string(value, &size);

                MUST(bytes && bytes[size] == '\0' && jval_length(value) == size);
        }
        if (jval_is(value, J_NUMBER))
                MUST((jval_int64(value, &whole) >= 0) == (jval_number_class(value) == J_INT64));
        while (jiter_next(&iter, &key, &item)) {
                if (key.node) {
                        size_t size;
                        const char *name = jval_string(key, &size);

                        MUST(jval_member_n(value, name, size).node == item.node);
                }
                walk(item);
        }
}

static void read_again(const Jdoc *doc, const char *text, size_t size) {
        g_autoptr(Jdoc) again = NULL;
        g_autofree char *first = jval_canonical(jdoc_root(doc)), *second = NULL;

        MUST(jdoc_parse(text, size, NULL, &again, NULL) >= 0);
        second = jval_canonical(jdoc_root(again));
        MUST(strcmp(first, second) == 0);
        MUST(jval_equal(jdoc_root(doc), jdoc_root(again)));
        MUST(jval_hash(jdoc_root(doc)) == jval_hash(jdoc_root(again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *canonical = NULL;
        JdocError error = {};
        const char *source;
        size_t source_size;

        if (jdoc_parse((const char *) data, size, NULL, &doc, &error) < 0) {
                MUST(error.message && error.byte <= size && error.line >= 1 && error.column >= 1);
                return 0;
        }
        walk(jdoc_root(doc));
        canonical = jval_canonical(jdoc_root(doc));
        read_again(doc, canonical, strlen(canonical));
        source = jval_source(jdoc_root(doc), &source_size);
        read_again(doc, source, source_size);
        return 0;
}
