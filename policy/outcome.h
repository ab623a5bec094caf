/* SPDX-License-Identifier: MIT */
#pragma once

/* How a call ended as far as permission goes. The first six that say no or yes are never mixed up (pains
 * C4): nobody reads "the user refused" when a clock ran out. */

#include <errno.h>
#include <stdbool.h>

typedef enum CallOutcome {
        OUTCOME_ALLOWED,           /* no person was needed */
        OUTCOME_APPROVED,          /* a person said yes */
        OUTCOME_DENIED,            /* a person said no, now or for this session */
        OUTCOME_TIMED_OUT,         /* nobody answered the card in time */
        OUTCOME_NO_APPROVER,       /* nobody is there to ask */
        OUTCOME_WITHDRAWN,         /* the card was taken back */
        OUTCOME_REFUSED_BY_POLICY, /* mode, posture, rule, law, refused list */
        OUTCOME_HOOK_DENIED,       /* a listener said no */
        OUTCOME_HOOK_FAILED,       /* a listener could not be asked */
        OUTCOME_CANCELLED,         /* by the caller, or the plugin went */
        _OUTCOME_MAX,
        _OUTCOME_INVALID = -EINVAL,
} CallOutcome;

/** call_outcome_to_string() - "allowed", "approved", "denied", "timed-out", ... as the record and the bus
 * have it */
const char *call_outcome_to_string(CallOutcome outcome);
CallOutcome call_outcome_from_string(const char *word);

/** call_outcome_error() - the name of errors.h for it; NULL for the two that let the call run */
const char *call_outcome_error(CallOutcome outcome);

static inline bool call_outcome_runs(CallOutcome outcome) {
        return outcome == OUTCOME_ALLOWED || outcome == OUTCOME_APPROVED;
}
