/* SPDX-License-Identifier: MIT */
#pragma once

/* What became of the core calls that one invocation made (contract 6.9). They end up under "core_calls" in
 * the metadata of its result: how many there were, and the first CORE_CALLS_PER_INVOCATION_MAX of them.
 * Nothing is written when there was none. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/jwriter.h"

typedef enum CoreDecision {
        CORE_DECISION_AUTO, /* no person was needed */
        CORE_DECISION_APPROVED,
        CORE_DECISION_DENIED,
        CORE_DECISION_TIMED_OUT,
        CORE_DECISION_REFUSED,
        CORE_DECISION_CANCELLED, /* the card was withdrawn */
        _CORE_DECISION_MAX,
        _CORE_DECISION_INVALID = -EINVAL,
} CoreDecision;

typedef enum CoreStatus {
        CORE_STATUS_IN_FLIGHT,
        CORE_STATUS_OK,
        CORE_STATUS_FAILED, /* it ran and reported an error, or could not run */
        CORE_STATUS_REFUSED,
        _CORE_STATUS_MAX,
        _CORE_STATUS_INVALID = -EINVAL,
} CoreStatus;

const char *core_decision_to_string(CoreDecision decision);
const char *core_status_to_string(CoreStatus status);

typedef struct CoreReceipts CoreReceipts;

CoreReceipts *core_receipts_new(void);
CoreReceipts *core_receipts_free(CoreReceipts *receipts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CoreReceipts, core_receipts_free)

/**
 * core_receipts_begin() - a call of a core tool was asked for
 * @tool: as it was called; shown sanitised
 *
 * Return: its number, from 1. All are counted; only the first CORE_CALLS_PER_INVOCATION_MAX are kept.
 */
uint64_t core_receipts_begin(CoreReceipts *receipts, const char *tool);

/**
 * core_receipts_decide() - what was decided
 *
 * Until then it counts as cancelled, for that is what becomes of it when the outer call ends first. A number that is not
 * kept is harmless.
 */
void core_receipts_decide(CoreReceipts *receipts, uint64_t number, CoreDecision decision);

/**
 * core_receipts_finish() - how it ended
 * @bytes: of the result as the extension got it
 * @note:  NULL, or a few words; cut at 256 bytes
 */
void core_receipts_finish(CoreReceipts *receipts, uint64_t number, CoreStatus status, uint64_t bytes,
                const char *note);

uint64_t core_receipts_total(const CoreReceipts *receipts);

/**
 * core_receipts_write() - {"total":N,"calls":[{"seq","tool","decision","status","bytes","note"}...]}
 *
 * For the value of "core_calls"; call it only when core_receipts_total() is not 0.
 */
void core_receipts_write(const CoreReceipts *receipts, JWriter *writer);
