/* SPDX-License-Identifier: MIT */
#pragma once

/* Starts a host that runs no extension, to see whether its runtime comes up behind the walls and is locked; for doctor. */

#include "service/host.h"

typedef struct LockProbe LockProbe;

/**
 * LockProbeDone - what came of it
 * @lock:   runtime, version and doors as JSON, host_process_lock(); NULL when it did not come up
 * @reason: why it did not; NULL otherwise
 *
 * Called once from the loop, when its unit is gone. The probe may be freed from here.
 */
typedef void (*LockProbeDone)(const char *lock, const char *reason, void *userdata);

/** lock_probe_new() - begin; it ends within HOST_HANDSHAKE_MSEC and what stopping takes. @context is borrowed */
LockProbe *lock_probe_new(const HostContext *context, LockProbeDone done, void *userdata);
LockProbe *lock_probe_free(LockProbe *probe);
