/* SPDX-License-Identifier: MIT */
#pragma once

/* A listener whose host went away while it was asked: the call is refused, and told by which kind of end (pains B1). */

#include "policy/hook-fold.h"
#include "service/host-end.h"
#include "service/invocation-state.h"

/** hook_failure_of_end() - no end is a verdict: not an exit status of 0 either, and least of all one that is not there */
HookFailure hook_failure_of_end(const HostEnd *end);

/**
 * tool_hook_await_end() - the channel of this listener's host closed: fold in how it ends, then go on with @next
 *
 * Waits for what is left of the batch's time at most. @next may be called before this returns.
 */
void tool_hook_await_end(Invocation *invocation, const Registration *listener, void (*next)(Invocation *invocation));
