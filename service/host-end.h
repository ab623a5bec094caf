/* SPDX-License-Identifier: MIT */
#pragma once

/* How the run of a host came to its end, for those who were waiting for its answer. The channel closes first; how the process
 * ended is known when its unit is gone. */

#include "sandbox/unit.h"
#include "service/host.h"

typedef struct HostEnd {
        UnitEnd kind;       /* _UNIT_END_INVALID: it never ran, or nobody can tell any more */
        int status;         /* exit status or signal, -1 when there is none */
        const char *reason; /* a sentence for people, or NULL; valid during the call only */
} HostEnd;

typedef void (*HostEnded)(const HostEnd *end, void *userdata);

/**
 * host_when_ended() - tell how the present run ends, from the loop; at most once
 *
 * Return: 0; -ESRCH when nothing runs, so that nothing will be told.
 */
int host_when_ended(Host *host, HostEnded ended, void *userdata);

/** host_forget_ended() - whoever waits with this userdata is told nothing any more */
void host_forget_ended(Host *host, const void *userdata);
