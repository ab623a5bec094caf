/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "common/jdoc.h"

/* A document that a test wrote itself. */
static inline Jdoc *parse_json(const char *text) {
        Jdoc *doc = NULL;
        int r = jdoc_parse_copy(text, strlen(text), NULL, &doc, NULL);

        g_assert_cmpint(r, ==, 0);
        return doc;
}
