/* SPDX-License-Identifier: MIT */
#pragma once

/* The life of grants around the table of them (policy/grant.h): giving one on a card, taking it back, and their end with
 * time, session and plugin. Each leaves a record and is announced. */

#include "service/invocation-state.h"

/** grant_keeper_new() - @service has its table of grants already */
GrantKeeper *grant_keeper_new(Service *service);
GrantKeeper *grant_keeper_free(GrantKeeper *keeper);

typedef struct GrantGift {
        const char *session;
        const ApprovalSubject *subject;
        const ApprovalKeys *keys;
        unsigned offers;     /* Decision.offers: nothing else can be given */
        const char *call_id; /* of the call whose card it is */
} GrantGift;

/**
 * grant_keeper_give() - a person allowed more than this one call
 * @answer: with the scope and the seconds that were chosen
 *
 * Return: the grant's id; 0 when it was not offered, or there are too many. The call itself is allowed all the same.
 */
uint64_t grant_keeper_give(GrantKeeper *keeper, const GrantGift *gift, const ApprovalAnswer *answer);

/** grant_keeper_revoke() - end one at once; 0 or ERROR_NO_SUCH_GRANT */
int grant_keeper_revoke(GrantKeeper *keeper, uint64_t id, const Actor *who, sd_bus_error *reterr);

/* The session ended; the plugin is not what it was. */
void grant_keeper_remove_session(GrantKeeper *keeper, const char *session);
void grant_keeper_remove_plugin(GrantKeeper *keeper, const char *plugin);
