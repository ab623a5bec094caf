/* SPDX-License-Identifier: MIT */
#pragma once

/* What a person is shown when a call asks (design 4.1, contract 5.4.2). Composed only by us: what a plugin or a caller
 * wrote appears as quoted, sanitised data, and the digest covers everything that is shown and the exact arguments. */

#include "service/invocation-state.h"

typedef struct ApprovalCard {
        char *title;
        char *json;   /* the whole card, see Approvals.Describe */
        char *digest; /* 64 hex digits */
        GPtrArray *scopes; /* char *, ends in NULL: grants that may be chosen */
} ApprovalCard;

void approval_card_done(ApprovalCard *card);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ApprovalCard, approval_card_done)

/** approval_card_make() - the card of a tool call whose decision is to ask */
void approval_card_make(const Invocation *invocation, ApprovalCard *ret);
