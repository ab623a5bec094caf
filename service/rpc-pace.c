/* SPDX-License-Identifier: MIT */
#include "service/rpc-pace.h"

#include <glib.h>
#include <time.h>

#include "common/limits.h"

uint64_t rpc_pace_now(void) {
        struct timespec now;

        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

uint64_t rpc_pace_charge(RpcPace *pace, uint64_t now_usec, uint64_t spent_usec) {
        uint64_t earned = RPC_PACE_BURST_USEC;

        if (pace->at_usec > 0 && now_usec >= pace->at_usec)
                earned = MIN((now_usec - pace->at_usec) / RPC_PACE_SHARE, RPC_PACE_BURST_USEC);
        pace->at_usec = now_usec;
        pace->spare_usec = MIN(pace->spare_usec + (int64_t) earned, (int64_t) RPC_PACE_BURST_USEC);
        pace->spare_usec -= (int64_t) CLAMP(spent_usec, RPC_PACE_SPENT_USEC_MIN, RPC_PACE_SPENT_USEC_MAX);
        if (pace->spare_usec >= 0)
                return 0;

        /* Until there is some time to spare again: a pause for each message would cost more than the messages. */
        return (uint64_t) (RPC_PACE_SLICE_USEC - pace->spare_usec) * RPC_PACE_SHARE;
}
