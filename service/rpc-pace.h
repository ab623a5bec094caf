/* SPDX-License-Identifier: MIT */
#pragma once

/* How much of the loop's time one host may take with what it asks for and tells by itself. There are no threads: what one
 * plugin's messages take, all others wait for. A host may spend RPC_PACE_BURST_USEC at once, and one part in
 * RPC_PACE_SHARE of the time from then on; its channel is not read while it is in debt. A message costs RPC_PACE_SPENT_USEC_MIN at least: of short ones that come one by one, waking
 * up for each is the larger part. Answers to our own requests cost
 * nothing. */

#include <stdint.h>

typedef struct RpcPace {
        int64_t spare_usec;
        uint64_t at_usec; /* when that was so; 0: never */
} RpcPace;

/** rpc_pace_now() - monotonic, in microseconds; not the loop's time, which stands still while messages are handled */
uint64_t rpc_pace_now(void);

/**
 * rpc_pace_charge() - a message was handled
 * @now_usec:   monotonic, after it
 * @spent_usec: what it took
 *
 * Return: how long nothing more is to be read, in microseconds; 0 while there is time to spare.
 */
uint64_t rpc_pace_charge(RpcPace *pace, uint64_t now_usec, uint64_t spent_usec);
