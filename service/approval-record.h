/* SPDX-License-Identifier: MIT */
#pragma once

/* What is written down about cards and grants: that somebody was asked, who answered what, and what a person allowed for
 * longer than once. */

#include "service/service.h"

/** approval_record_opened() - a card is there to be answered */
void approval_record_opened(Service *service, const Approval *approval);

/** approval_record_closed() - a card was answered, or went without an answer and then names nobody (pains C4) */
void approval_record_closed(Service *service, const Approval *approval, const ApprovalAnswer *answer);

/** approval_outcome_to_call() - the outcome of a call whose card ended so: "approved", "denied", ... */
const char *approval_outcome_to_call(ApprovalOutcome outcome);

/**
 * approval_record_grant() - a grant was given or ended
 * @who:     who gave it or took it back; NULL when it ended by itself
 * @call:    the call whose card it was given on; NULL for another event
 * @outcome: "given", "revoked", "expired" or "ended"
 */
void approval_record_grant(Service *service, const Grant *grant, const Actor *who, const char *call, const char *outcome);
