/* SPDX-License-Identifier: MIT */
#include "service/host-state.h"
#include "service/registration-record.h"

/* A plugin that listened to calls when it was last known may be a guard. While it is enabled and can't be asked, nothing passes it:
 * that it crashed, or is left alone after three crashes, is no permission. The way out is an operator's: disabling it, or a
 * reload once it works again (contract 4.8). */

void host_note_guard(Host *host) {
        OwnerState state = host->owner ? owner_get_state(host->owner) : OWNER_REVOKED;

        if (state == OWNER_ACTIVE || state == OWNER_LISTED)
                host->guard = registry_count(host->context->registry, REGISTRATION_HOOK, host->owner) > 0;
}

void host_recall_guard(Host *host) {
        host->guard = host->guard || registration_record_is_guard(host->context->home, host->plugin);
}

/* The record tells of it; where there is none, a mark beside it does. */
void host_keep_guard(Host *host) {
        registration_record_mark_guard(host->context->home, host->plugin, host->guard && !host->recorded);
}

void host_forget_guard(Host *host) {
        host->guard = false;
        host_keep_guard(host);
}

bool host_is_missing_guard(const Host *host) {
        OwnerState state = host->owner ? owner_get_state(host->owner) : OWNER_REVOKED;

        return host->wanted && host->guard && state != OWNER_ACTIVE && state != OWNER_LISTED;
}
