/* SPDX-License-Identifier: MIT */
#pragma once

/* Listeners that are not there although somebody counts on them (pains B8): one whose bundle changed is otherwise off without a word.
 * One that is trusted and down is the affair of host-guard.c. */

#include "service/invocation-state.h"

/**
 * tool_guards_check() - fold a failure in for each plugin that the configuration calls a guard and that listens to nothing now
 *
 * Plugins that are enabled and are not asked because what they are now was not reviewed are written down beside the verdicts.
 */
void tool_guards_check(Invocation *invocation);
