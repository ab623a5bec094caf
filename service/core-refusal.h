/* SPDX-License-Identifier: MIT */
#pragma once

/* What becomes of a core call that is refused before it is one: no invocation carries it, so what was decided is written down
 * here. Every such call leaves a record of its own (contract 6.5, pains C12), as those do that were judged. */

#include <stddef.h>

#include "service/invocation-state.h"

typedef struct CoreRefusal {
        const char *tool;   /* as it was called; NULL when that is no name */
        const char *input;  /* JSON */
        size_t input_size;
        const char *source; /* what refused it, a word for the trace: "refused-list", "limit" */
        const char *why;    /* a sentence */
} CoreRefusal;

/** core_refusal_record() - @outer: the call of the extension's tool that asked */
void core_refusal_record(const Invocation *outer, const CoreRefusal *refusal);
