/* SPDX-License-Identifier: MIT */
#pragma once

/* What a message between the service and a host is, by the members of its envelope (contract 3.15). */

#include <stdbool.h>

#include "common/jdoc.h"

typedef struct Envelope {
        Jval id, method, params, result, error;
} Envelope;

static inline bool envelope_has(Jval member) {
        return !jval_is(member, J_ABSENT);
}

/** envelope_read() - 0, or -EBADMSG for no object, another version of JSON-RPC than 2.0, and members that it does not have */
int envelope_read(Jval root, Envelope *ret);
