/* SPDX-License-Identifier: MIT */
#pragma once

/* One core call of an extension: an invocation like any other, with the extension as its origin and a core tool as its
 * target. It goes through the same steps (tool-call.c); here is what is different about it. */

#include "service/core-gate.h"
#include "service/core-operand.h"

struct CoreCall {
        CoreGate *gate;
        uint64_t rpc_id;
        uint64_t number; /* of its receipt */
        char *name, *input;
        size_t input_size;
        const CoreTool *tool;
        char *policy_name; /* what it is to rules, keys and grants */
        Invocation *invocation; /* NULL while it waits for a slot */
        void *job;              /* of the backend, while it runs */
        CoreOperandReader *reader;
        GPtrArray *operands; /* CoreOperand; what its card is bound to, NULL for none */
};

/** core_call_free() - forget it; for the gate, when it has its answer or never began */
void core_call_free(CoreCall *call);

/** core_call_start() - begin; the end comes by core_gate_finished(), perhaps before this returns */
void core_call_start(CoreCall *call);

/* What tool-call.c asks of a nested call. */

/** core_call_resolve() - the core tool that these arguments mean; again after a listener changed them */
int core_call_resolve(CoreCall *call, Jval input, sd_bus_error *reterr);
void core_call_fill_decision(const CoreCall *call, DecisionInput *ret);

/** core_call_ask() - open the card when it is this call's turn and its files were read */
void core_call_ask(CoreCall *call);

/** core_call_answered() - its card is closed, whatever was said */
void core_call_answered(CoreCall *call);

/** core_call_execute() - hand it to the core */
void core_call_execute(CoreCall *call);

/** core_call_stop() - take back what still runs for it */
void core_call_stop(CoreCall *call);
