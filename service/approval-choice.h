/* SPDX-License-Identifier: MIT */
#pragma once

/* What somebody answers to a card, and whether that is an answer to it. */

#include <systemd/sd-bus.h>

#include "service/approval.h"

typedef struct ApprovalChoice {
        const char *decision; /* "allow" or "deny" */
        const char *digest;   /* of the card that was shown */
        const char *scope;    /* NULL for "once"; to a no also "session": exactly this is not asked again in the session */
        uint64_t seconds;     /* of a grant; at most GRANT_SECONDS_MAX; 0: as long as the session */
} ApprovalChoice;

/** approval_choice_check() - whether @who may answer @approval so; errors as approval_answer() */
int approval_choice_check(const Approval *approval, const Actor *who, const ApprovalChoice *choice, sd_bus_error *reterr);
