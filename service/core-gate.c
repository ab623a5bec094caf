/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "policy/core-call.h"
#include "service/core-call.h"
#include "service/core-refusal.h"
#include "service/selection-view.h"

struct CoreGate {
        unsigned n_ref;
        Service *service;
        Invocation *outer;    /* NULL after the end */
        Registration *target; /* of the outer call: whose host is answered */
        SessionCore *core;
        char ticket[TICKET_ID_CHARS + 1];
        CoreReceipts *receipts;
        GPtrArray *running;   /* CoreCall, at most CORE_CALLS_CONCURRENT_MAX */
        GQueue waiting;       /* CoreCall, for a slot */
        GQueue want_card;     /* CoreCall, running */
        CoreCall *card_holder;
        size_t bytes;    /* inputs of all that wait or run */
        bool over_limit; /* that is in the record already */
        sd_event_source *next_card;
};

/* ---- life ---- */

static int on_next_card(sd_event_source *source, void *userdata);

CoreGate *core_gate_ref(CoreGate *gate) {
        gate->n_ref++;
        return gate;
}

CoreGate *core_gate_unref(CoreGate *gate) {
        if (!gate || --gate->n_ref > 0)
                return NULL;

        sd_event_source_disable_unref(gate->next_card);
        registration_unref(gate->target);
        session_core_unref(gate->core);
        core_receipts_free(gate->receipts);
        g_ptr_array_unref(gate->running);
        explicit_bzero(gate->ticket, sizeof gate->ticket);
        g_free(gate);
        return NULL;
}

CoreGate *core_gate_open(Invocation *outer) {
        Service *service = outer->service;
        SessionCore *core;
        CoreGate *gate;

        /* A handle is for calls of the model itself: not for a program's, a sub-agent's, or a nested one (6.1). */
        if (outer->origin != INVOCATION_ORIGIN_MODEL || outer->nested)
                return NULL;
        core = core_desk_find_core(service->core_desk, outer->session, NULL);
        if (!core || core->gone)
                return NULL;

        gate = g_new0(CoreGate, 1);
        gate->n_ref = 1;
        gate->service = service;
        gate->outer = outer;
        gate->target = registration_ref(outer->target);
        gate->core = session_core_ref(core);
        gate->receipts = core_receipts_new();
        gate->running = g_ptr_array_new();
        g_queue_init(&gate->waiting);
        g_queue_init(&gate->want_card);
        if (core_desk_mint(service->core_desk, outer->target, outer->call_id, gate->ticket) < 0)
                return core_gate_unref(gate);
        return gate;
}

const char *core_gate_ticket(const CoreGate *gate) {
        return gate->ticket;
}

Invocation *core_gate_outer(const CoreGate *gate) {
        return gate->outer;
}

SessionCore *core_gate_core(const CoreGate *gate) {
        return gate->core;
}

void core_gate_write(const CoreGate *gate, JWriter *writer) {
        if (core_receipts_total(gate->receipts) == 0)
                return;
        jwriter_key(writer, "core_calls");
        core_receipts_write(gate->receipts, writer);
}

/* ---- answering ---- */

static void answer(const CoreGate *gate, uint64_t rpc_id, const CoreCallEnd *end) {
        Rpc *rpc = invocation_rpc(gate->service, gate->target);
        g_autofree char *text = NULL;

        if (!rpc)
                return;
        if (end->json) {
                (void) rpc_respond(rpc, rpc_id, end->json, end->size);
                return;
        }
        text = sanitize_block(end->message ?: "it failed", RPC_ERROR_BYTES_MAX, NULL);
        (void) rpc_respond_error(rpc, rpc_id, end->code, text);
}

static void begin_next(CoreGate *gate);

void core_gate_finished(CoreGate *gate, CoreCall *call, const CoreCallEnd *end) {
        bool ran = g_ptr_array_remove(gate->running, call);

        (void) core_gate_ref(gate);
        (void) g_queue_remove(&gate->waiting, call);
        core_gate_give_card(gate, call);
        core_receipts_decide(gate->receipts, call->number, end->decision);
        core_receipts_finish(gate->receipts, call->number, end->status, end->size, end->json ? NULL : end->message);
        answer(gate, call->rpc_id, end);
        if (ran && gate->outer && gate->outer->rpc_call)
                rpc_call_resume(gate->outer->rpc_call);
        gate->bytes -= call->input_size;
        core_call_free(call);
        begin_next(gate);
        core_gate_unref(gate);
}

void core_gate_runs(CoreGate *gate, const CoreCall *call, CoreDecision decision) {
        core_receipts_decide(gate->receipts, call->number, decision);
}

/* ---- beginning ---- */

static void begin_next(CoreGate *gate) {
        while (gate->outer && gate->running->len < CORE_CALLS_CONCURRENT_MAX && gate->waiting.length > 0) {
                CoreCall *call = g_queue_pop_head(&gate->waiting);

                g_ptr_array_add(gate->running, call);
                /* The outer call's time stands still from here until the answer (3.19). */
                if (gate->outer->rpc_call)
                        rpc_call_pause(gate->outer->rpc_call);
                core_call_start(call);
        }
}

/* An extension's tool, whoever's, is none of the core's, also while its host is down. */
static bool is_extension_tool(const CoreGate *gate, const char *name) {
        Registry *registry = gate->service->registry;
        g_auto(sd_bus_error) hidden = SD_BUS_ERROR_NULL;
        Registration *found;

        return selection_find(gate->outer->session->selection, registry, REGISTRATION_TOOL, name, &found, &hidden) != -ENODATA ||
                        registry_find_former(registry, REGISTRATION_TOOL, name);
}

static CoreCall *call_new(CoreGate *gate, uint64_t rpc_id, Jval params) {
        CoreCall *call = g_new0(CoreCall, 1);
        const char *input = jval_source(jval_member(params, "input"), &call->input_size);

        call->gate = core_gate_ref(gate);
        call->rpc_id = rpc_id;
        call->name = g_strdup(jval_text(jval_member(params, "name")));
        call->input = g_strndup(input, call->input_size);
        call->number = core_receipts_begin(gate->receipts, call->name);
        gate->bytes += call->input_size;
        return call;
}

static bool name_is_sound(const char *name) {
        return name[0] != '\0' && g_utf8_strlen(name, -1) <= (glong) CORE_CALL_NAME_CHARS_MAX;
}

/* Before anything is planned: nobody is asked about what can't be. Returns why not, and what says so. */
static const char *find_refusal(const CoreGate *gate, const CoreCall *call, Jval input, const char **ret_source) {
        const char *why = NULL;

        *ret_source = "refused-list";
        if (core_call_refused(call->name, input, is_extension_tool(gate, call->name), &why))
                return why;

        *ret_source = "limit";
        return call->input_size > CALL_ARGUMENTS_BYTES_MAX || gate->bytes > CORE_INPUTS_BYTES_MAX
                               ? "the input of this core call, or of all that wait together, is too large" : NULL;
}

static void refuse(CoreGate *gate, CoreCall *call, const char *source, const char *why) {
        g_autofree char *text = g_strdup_printf("Refused: %s.", why);
        const CoreCallEnd end = {
                .code = RPC_REFUSED, .message = text, .decision = CORE_DECISION_REFUSED, .status = CORE_STATUS_REFUSED,
        };

        core_refusal_record(gate->outer, &(CoreRefusal) {
                .tool = name_is_sound(call->name) ? call->name : NULL, .input = call->input, .input_size = call->input_size,
                .source = source, .why = why,
        });
        core_gate_finished(gate, call, &end);
}

void core_gate_begin(CoreGate *gate, uint64_t rpc_id, Jval params) {
        CoreCall *call = call_new(gate, rpc_id, params);
        const char *source = "limit", *why;

        why = name_is_sound(call->name) ? find_refusal(gate, call, jval_member(params, "input"), &source)
                                        : "a core tool's name has 1 to 128 characters";
        if (why) {
                refuse(gate, call, source, why);
                return;
        }

        g_queue_push_tail(&gate->waiting, call);
        begin_next(gate);
}

void core_gate_refuse_more(CoreGate *gate, const char *name) {
        static const char why[] = "over the limit of core calls";
        uint64_t number = core_receipts_begin(gate->receipts, name);

        /* The first tells all: a loop must not fill the log. */
        if (!gate->over_limit && gate->outer)
                core_refusal_record(gate->outer, &(CoreRefusal) {
                        .tool = name_is_sound(name) ? name : NULL, .input = "", .source = "limit", .why = why,
                });
        gate->over_limit = true;
        core_receipts_decide(gate->receipts, number, CORE_DECISION_REFUSED);
        core_receipts_finish(gate->receipts, number, CORE_STATUS_REFUSED, 0, why);
}

/* ---- cards ---- */

bool core_gate_take_card(CoreGate *gate, CoreCall *call) {
        if (gate->card_holder == call)
                return true;
        if (!gate->card_holder && gate->want_card.length == 0) {
                gate->card_holder = call;
                return true;
        }
        if (!g_queue_find(&gate->want_card, call))
                g_queue_push_tail(&gate->want_card, call);
        return false;
}

void core_gate_give_card(CoreGate *gate, CoreCall *call) {
        (void) g_queue_remove(&gate->want_card, call);
        if (gate->card_holder != call)
                return;

        gate->card_holder = NULL;
        /* From the loop, so that the end of this card is told before the next one opens. */
        if (gate->outer && gate->want_card.length > 0 && !gate->next_card)
                (void) sd_event_add_defer(gate->service->event, &gate->next_card, on_next_card, gate);
}

static int on_next_card(sd_event_source *source, void *userdata) {
        CoreGate *gate = core_gate_ref(userdata);
        CoreCall *call;

        (void) source;
        gate->next_card = sd_event_source_disable_unref(gate->next_card);
        call = gate->outer && !gate->card_holder ? g_queue_pop_head(&gate->want_card) : NULL;
        if (call) {
                gate->card_holder = call;
                core_call_ask(call);
        }
        core_gate_unref(gate);
        return 0;
}

/* ---- ending ---- */

static CoreCall *find_call(const CoreGate *gate, uint64_t rpc_id) {
        for (guint i = 0; i < gate->running->len; i++)
                if (((CoreCall *) g_ptr_array_index(gate->running, i))->rpc_id == rpc_id)
                        return g_ptr_array_index(gate->running, i);
        for (GList *item = gate->waiting.head; item; item = item->next)
                if (((CoreCall *) item->data)->rpc_id == rpc_id)
                        return item->data;
        return NULL;
}

static void end_call(CoreGate *gate, CoreCall *call, const char *reason) {
        const CoreCallEnd end = {
                .code = RPC_CANCELLED, .message = reason, .decision = CORE_DECISION_CANCELLED, .status = CORE_STATUS_REFUSED,
        };

        if (call->invocation)
                invocation_cancel(call->invocation, reason);
        else
                core_gate_finished(gate, call, &end);
}

bool core_gate_cancel(CoreGate *gate, uint64_t rpc_id) {
        CoreCall *call = find_call(gate, rpc_id);

        if (!call)
                return false;
        end_call(gate, call, "the extension took the call back");
        return true;
}

CoreGate *core_gate_close(CoreGate *gate, const char *reason) {
        if (!gate)
                return NULL;

        core_desk_revoke(gate->service->core_desk, gate->target, gate->outer->call_id, gate->ticket);
        while (gate->waiting.length > 0)
                end_call(gate, g_queue_peek_head(&gate->waiting), reason);
        /* A call that is just being started hears of it when it has started. */
        for (guint i = gate->running->len; i > 0; i--) {
                CoreCall *call = i <= gate->running->len ? g_ptr_array_index(gate->running, i - 1) : NULL;

                if (call)
                        end_call(gate, call, reason);
        }
        gate->outer = NULL;
        return core_gate_unref(gate);
}
