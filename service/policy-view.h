/* SPDX-License-Identifier: MIT */
#pragma once

/* All the rules that a call is judged by, as one view of them: the administrator's, the user's and the workspace's. Whoever
 * makes a DecisionInput lays this over it. */

#include "policy/decision.h"
#include "service/overlay.h"
#include "service/service.h"

/**
 * policy_view_fill() - lay the rules over a decision about a call in @session
 *
 * Sets unreadable_rules, unreadable_settings, rules, review, admission, admin_posture, and of the workspace law, project_admission and project_posture.
 * All of it is borrowed until the loop goes on.
 */
void policy_view_fill(const Service *service, const Session *session, DecisionInput *input);

/**
 * policy_view_wait() - whether the rules of a session's workspace are being read just now
 * @ready: called from the loop when they were; it asks again, for they may have changed again
 * @ret:   what is to be freed, also by @ready; NULL when there is nothing to wait for
 */
void policy_view_wait(const Service *service, const Session *session, void (*ready)(void *userdata), void *userdata, OverlayWait **ret);

/** policy_view_write() - the whole view as a JSON object, for Policy.Show; @session may be NULL. Return: a new string. */
char *policy_view_write(const Service *service, const Session *session);
