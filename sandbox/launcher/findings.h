/* SPDX-License-Identifier: MIT */
#pragma once

/* What the launcher found out, as the text of its one frame (launcher/report). A buffer of fixed size: a
 * check's detail is cut long before that is full. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FINDINGS_BYTES_MAX 65536u
#define DETAIL_BYTES_MAX   400u

typedef struct Findings {
        char text[FINDINGS_BYTES_MAX];
        size_t size;
        size_t n_checks;
        bool refused; /* a required check has failed */
        bool full;    /* more was to be written than fits: our own bug, treated as refused */
} Findings;

typedef struct FindingsLimits {
        uint64_t data_bytes; /* UINT64_MAX: none */
        uint64_t files;
        unsigned landlock;
        uint64_t took_usec;
} FindingsLimits;

void findings_begin(Findings *findings);

/** findings_add() - one check; @format says what was seen and may be empty */
void findings_add(Findings *findings, const char *name, bool required, bool held, const char *format, ...)
                __attribute__((format(printf, 5, 6)));
void findings_end(Findings *findings, const FindingsLimits *limits);
