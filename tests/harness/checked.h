/* SPDX-License-Identifier: MIT */
#pragma once

/* Whether a test runs under a checker of memory (AddressSanitizer, valgrind) and so many times slower. What is tried over and over
 * with made-up values may then be tried less often; the rows of a table stay as they are. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define CHECKED_BY_SANITIZER true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECKED_BY_SANITIZER true
#endif
#endif
#ifndef CHECKED_BY_SANITIZER
#define CHECKED_BY_SANITIZER false
#endif

static inline bool checked_by_valgrind(void) {
        const char *preload = getenv("LD_PRELOAD");

        return preload && strstr(preload, "vgpreload");
}

static inline bool test_is_checked(void) {
        return CHECKED_BY_SANITIZER || checked_by_valgrind();
}
