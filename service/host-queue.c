/* SPDX-License-Identifier: MIT */
#include "common/limits.h"
#include "service/host-state.h"

/* Many hosts that are to start together do so a few at a time: sixty Nodes at once would only take the processors from each other,
 * and from whoever waits for an answer. Hosts that somebody waits for do not stand in that line. */

bool host_may_start(const Host *host) {
        return host_table_count_starting(host->table) < (host->waiters->len > 0 ? HOST_STARTS_AWAITED_MAX : HOST_STARTS_MAX);
}

void host_enqueue(Host *host) {
        if (host->queued == 0)
                host->queued = host_table_next_turn(host->table);
        if (host->state == HOST_FAILED || host->state == HOST_IDLE)
                host_set_state(host, HOST_IDLE, "it waits for its turn to start, behind others");
}

void host_dequeue(Host *host) {
        host->queued = 0;
}

bool host_is_before(const Host *a, const Host *b) {
        bool a_is_awaited = a->waiters->len > 0, b_is_awaited = b->waiters->len > 0;

        return a_is_awaited != b_is_awaited ? a_is_awaited : a->queued < b->queued;
}
