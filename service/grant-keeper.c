/* SPDX-License-Identifier: MIT */
#include "service/grant-keeper.h"

#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/log.h"
#include "service/approval-record.h"

struct GrantKeeper {
        Service *service;
        sd_event_source *timer; /* at the next expiry; NULL before the first grant with one */
};

GrantKeeper *grant_keeper_new(Service *service) {
        GrantKeeper *keeper = g_new0(GrantKeeper, 1);

        keeper->service = service;
        return keeper;
}

GrantKeeper *grant_keeper_free(GrantKeeper *keeper) {
        if (!keeper)
                return NULL;

        sd_event_source_disable_unref(keeper->timer);
        g_free(keeper);
        return NULL;
}

static void tell(GrantKeeper *keeper) {
        if (keeper->service->events)
                keeper->service->events->grants_changed(keeper->service->userdata);
}

/* ---- the end ---- */

typedef bool (*GrantTest)(const Grant *grant, const void *what);

/* Writes the record first, while the grant is still there to be told. */
static void remove_where(GrantKeeper *keeper, GrantTest test, const void *what, const char *outcome) {
        GrantTable *grants = keeper->service->grants;
        g_autoptr(GPtrArray) all = grant_table_list(grants);
        bool removed = false;

        for (size_t i = 0; i < all->len; i++) {
                const Grant *grant = g_ptr_array_index(all, i);

                if (!test(grant, what))
                        continue;
                approval_record_grant(keeper->service, grant, NULL, NULL, outcome);
                (void) grant_table_revoke(grants, grant->id);
                removed = true;
        }
        if (removed)
                tell(keeper);
}

static bool is_of_session(const Grant *grant, const void *session) {
        return strcmp(grant->session, session) == 0;
}

static bool is_of_plugin(const Grant *grant, const void *plugin) {
        return g_strcmp0(grant->plugin, plugin) == 0;
}

static bool is_over(const Grant *grant, const void *now_usec) {
        return grant->expires_usec > 0 && grant->expires_usec <= *(const uint64_t *) now_usec;
}

void grant_keeper_remove_session(GrantKeeper *keeper, const char *session) {
        remove_where(keeper, is_of_session, session, "ended");
        (void) grant_table_remove_session(keeper->service->grants, session); /* and what was denied in it */
}

void grant_keeper_remove_plugin(GrantKeeper *keeper, const char *plugin) {
        remove_where(keeper, is_of_plugin, plugin, "ended");
}

int grant_keeper_revoke(GrantKeeper *keeper, uint64_t id, const Actor *who, sd_bus_error *reterr) {
        const Grant *grant = grant_table_get(keeper->service->grants, id);

        if (!grant)
                return errors_set(reterr, ERROR_NO_SUCH_GRANT, "There is no grant %" G_GUINT64_FORMAT ".", id);

        approval_record_grant(keeper->service, grant, who, NULL, "revoked");
        (void) grant_table_revoke(keeper->service->grants, id);
        tell(keeper);
        return 0;
}

/* ---- expiry ---- */

static void wake_at_next(GrantKeeper *keeper);

static int on_expiry(sd_event_source *source, uint64_t usec, void *userdata) {
        GrantKeeper *keeper = userdata;
        uint64_t now = (uint64_t) g_get_monotonic_time();

        (void) source;
        (void) usec;
        remove_where(keeper, is_over, &now, "expired");
        wake_at_next(keeper);
        return 0;
}

static uint64_t next_expiry(const GrantKeeper *keeper) {
        g_autoptr(GPtrArray) all = grant_table_list(keeper->service->grants);
        uint64_t next = 0;

        for (size_t i = 0; i < all->len; i++) {
                uint64_t expires = ((const Grant *) g_ptr_array_index(all, i))->expires_usec;

                if (expires > 0 && (next == 0 || expires < next))
                        next = expires;
        }
        return next;
}

/* An expired grant answers nothing, timer or not (grant_table_find()); this only makes its end seen. */
static void wake_at_next(GrantKeeper *keeper) {
        uint64_t next = next_expiry(keeper);
        int r = 0;

        if (next == 0)
                return;
        if (!keeper->timer)
                r = sd_event_add_time(keeper->service->event, &keeper->timer, CLOCK_MONOTONIC, next, 0, on_expiry, keeper);
        else
                r = sd_event_source_set_time(keeper->timer, next);
        if (r >= 0)
                r = sd_event_source_set_enabled(keeper->timer, SD_EVENT_ONESHOT);
        if (r < 0)
                log_warning("The end of a grant will not be announced: %s", g_strerror(-r));
}

/* ---- giving ---- */

uint64_t grant_keeper_give(GrantKeeper *keeper, const GrantGift *gift, const ApprovalAnswer *answer) {
        g_autofree char *giver = actor_describe(answer->who);
        const GrantRequest request = {
                .session = gift->session,
                .subject = gift->subject,
                .keys = gift->keys,
                .width = grant_width_from_string(answer->scope),
                .giver = giver,
                .now_usec = (uint64_t) g_get_monotonic_time(),
                .seconds = answer->seconds,
        };
        Service *service = keeper->service;
        uint64_t id;

        if (request.width < 0 || !(gift->offers & GRANT_OFFER(request.width)))
                return 0;
        if (grant_table_give(service->grants, &request, &id) < 0) {
                log_warning("There are too many grants for one more; the call was allowed once.");
                return 0;
        }
        approval_record_grant(service, grant_table_get(service->grants, id), answer->who, gift->call_id, "given");
        wake_at_next(keeper);
        tell(keeper);
        return id;
}
