/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of the section registry, shared by section-registry.c and snapshot.c. */

#include "prompt/section-registry.h"

struct SectionRegistry {
        GPtrArray *sections; /* Section, sorted by section_compare(), pending ones among them */
        uint64_t last_handle;
        uint64_t revision;
};
