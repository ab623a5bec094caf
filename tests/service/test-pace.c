/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "common/limits.h"
#include "service/rpc-pace.h"

#define START 1000000u

/* Messages that cost @cost each and come one after the other, as often as they are let in, for @span. Returns their time. */
static uint64_t flood(RpcPace *pace, uint64_t cost, uint64_t span) {
        uint64_t now = START, spent = 0;

        while (now < START + span) {
                now += cost;
                spent += MAX(cost, RPC_PACE_SPENT_USEC_MIN);
                now += rpc_pace_charge(pace, now, cost);
        }
        return spent;
}

static void test_burst_is_free(void) {
        RpcPace pace = {};

        for (uint64_t spent = 0; spent + RPC_PACE_SPENT_USEC_MAX <= RPC_PACE_BURST_USEC; spent += RPC_PACE_SPENT_USEC_MAX)
                g_assert_cmpuint(rpc_pace_charge(&pace, START, RPC_PACE_SPENT_USEC_MAX), ==, 0);
        g_assert_cmpuint(rpc_pace_charge(&pace, START, RPC_PACE_SPENT_USEC_MAX), >, 0);
}

static void test_flood_gets_its_share(void) {
        static const uint64_t costs[] = { 5, 100, RPC_PACE_SPENT_USEC_MAX };

        for (size_t i = 0; i < G_N_ELEMENTS(costs); i++) {
                RpcPace pace = {};
                uint64_t span = UINT64_C(60000000), spent = flood(&pace, costs[i], span), share = span / RPC_PACE_SHARE;

                g_assert_cmpuint(spent, <=, share + RPC_PACE_BURST_USEC + RPC_PACE_SPENT_USEC_MAX + RPC_PACE_SLICE_USEC);
                g_assert_cmpuint(spent, >=, share - share / 10);
        }
}

static void test_ordinary_is_never_paused(void) {
        RpcPace pace = {};
        uint64_t now = START;

        for (unsigned i = 0; i < 100000; i++, now += 1000)
                g_assert_cmpuint(rpc_pace_charge(&pace, now, 50), ==, 0);
}

/* The machine slept, or the clock is strange: a pause stays short enough to live with. */
static void test_pause_is_bounded(void) {
        RpcPace pace = {};

        g_assert_cmpuint(rpc_pace_charge(&pace, START, UINT64_MAX), <=,
                         (RPC_PACE_SPENT_USEC_MAX + RPC_PACE_SLICE_USEC) * RPC_PACE_SHARE);
        g_assert_cmpuint(rpc_pace_charge(&pace, 1, 0), <=, (RPC_PACE_SPENT_USEC_MAX + RPC_PACE_SLICE_USEC) * RPC_PACE_SHARE);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pace/burst-is-free", test_burst_is_free);
        g_test_add_func("/pace/flood-gets-its-share", test_flood_gets_its_share);
        g_test_add_func("/pace/ordinary-is-never-paused", test_ordinary_is_never_paused);
        g_test_add_func("/pace/pause-is-bounded", test_pause_is_bounded);
        return g_test_run();
}
