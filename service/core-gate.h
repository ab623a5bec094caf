/* SPDX-License-Identifier: MIT */
#pragma once

/* The gate of one running call of an extension's tool: through it go the core calls that this run makes (contract 6.3 to
 * 6.9). It holds the ticket, lets four of them run at a time and one of them ask a person, stops the clock of the outer
 * call meanwhile, and keeps the receipts. It dies with the outer call, and everything in it. */

#include "policy/core-receipt.h"
#include "service/core-desk.h"
#include "service/invocation-state.h"


/** core_gate_open() - for a call that is about to be sent to its host, when it may have a handle (6.1); else NULL */
CoreGate *core_gate_open(Invocation *outer);

/** core_gate_close() - the outer call ended: revoke the ticket, cancel what runs. Lets go of the gate; NULL is harmless */
CoreGate *core_gate_close(CoreGate *gate, const char *reason);

CoreGate *core_gate_ref(CoreGate *gate);
CoreGate *core_gate_unref(CoreGate *gate);

/** core_gate_ticket() - for tool/call and nobody else */
const char *core_gate_ticket(const CoreGate *gate);
Invocation *core_gate_outer(const CoreGate *gate); /* NULL after the end */
SessionCore *core_gate_core(const CoreGate *gate);

/** core_gate_begin() - a core call whose ticket was good */
void core_gate_begin(CoreGate *gate, uint64_t rpc_id, Jval params);

/** core_gate_refuse_more() - one beyond the limit, for the receipts */
void core_gate_refuse_more(CoreGate *gate, const char *name);

/** core_gate_cancel() - the host takes one back; true when it was one of ours */
bool core_gate_cancel(CoreGate *gate, uint64_t rpc_id);

/** core_gate_write() - member "core_calls" of the outer result; nothing when there was no core call (6.9) */
void core_gate_write(const CoreGate *gate, JWriter *writer);

/* For core-call.c: one card at a time */

/** core_gate_take_card() - true when this call may open its card now; else core_call_ask() comes again when it is its turn */
bool core_gate_take_card(CoreGate *gate, CoreCall *call);
void core_gate_give_card(CoreGate *gate, CoreCall *call);

/** core_gate_runs() - a call was decided and goes to the core; for its receipt, should the outer call end before it */
void core_gate_runs(CoreGate *gate, const CoreCall *call, CoreDecision decision);

/** core_gate_finished() - a call has its answer: JSON of a result, or an error for the host. Frees the call */
typedef struct CoreCallEnd {
        const char *json; /* NULL: an error */
        size_t size;
        int code; /* of wire-method.h */
        const char *message;
        CoreDecision decision;
        CoreStatus status;
} CoreCallEnd;
void core_gate_finished(CoreGate *gate, CoreCall *call, const CoreCallEnd *end);
