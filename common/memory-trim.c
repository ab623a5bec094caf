/* SPDX-License-Identifier: MIT */
#include "common/memory-trim.h"

#include <malloc.h>

void memory_trim(void) {
        (void) malloc_trim(0);
}
