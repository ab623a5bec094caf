/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/sha256.h"
#include "service/core-builtin.h"
#include "service/core-gate.h"
#include "service/host-state.h"
#include "service/ledger.h"

#define LATE_MAX 1024u

/* A ticket that was good until a moment ago; only its digest is kept. */
typedef struct Late {
        char *digest;
        uint64_t host_generation; /* to every other process it is as good as a made-up one (X08) */
        uint64_t until_usec;
} Late;

struct CoreDesk {
        Service *service;
        TicketTable *tickets;
        SessionCore *builtin;
        GQueue late; /* Late, oldest first */
};

static void late_free(void *data) {
        Late *late = data;

        g_free(late->digest);
        g_free(late);
}

CoreDesk *core_desk_new(Service *service) {
        CoreDesk *desk = g_new0(CoreDesk, 1);

        desk->service = service;
        desk->tickets = ticket_table_new();
        desk->builtin = core_builtin_new(&service->context);
        g_queue_init(&desk->late);
        return desk;
}

CoreDesk *core_desk_free(CoreDesk *desk) {
        if (!desk)
                return NULL;

        g_queue_clear_full(&desk->late, late_free);
        session_core_unref(desk->builtin);
        ticket_table_free(desk->tickets);
        g_free(desk);
        return NULL;
}

static uint64_t now_usec(const CoreDesk *desk) {
        uint64_t now = 0;

        (void) sd_event_now(desk->service->event, CLOCK_MONOTONIC, &now);
        return now;
}

/* ---- which core ---- */

SessionCore *core_desk_find_core(const CoreDesk *desk, const Session *session, char **ret_why) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (session->core)
                return session->core;
        if (core_builtin_workspace(&desk->service->context, session->workspace, ret_why ? &error : NULL) >= 0)
                return desk->builtin;
        if (ret_why)
                *ret_why = g_strdup(error.message);
        return NULL;
}

/* ---- tickets ---- */

int core_desk_mint(CoreDesk *desk, const Registration *tool, const char *call_id, char ret[static TICKET_ID_CHARS + 1]) {
        const Owner *owner = tool->owner;
        const TicketScope scope = {
                .kind = TICKET_INVOCATION,
                .tier = TICKET_TIER_PLUGIN,
                .host_generation = owner_get_generation(owner), /* one process an activation */
                .owner = owner_get_plugin_id(owner),
                .owner_generation = owner_get_generation(owner),
                .owner_token = owner_get_token(owner),
                .method = "core/call",
        };
        uint8_t random[TICKET_RANDOM_BYTES];
        int r;

        if (getrandom(random, sizeof random, 0) != sizeof random)
                return -EIO;
        r = ticket_table_mint(desk->tickets, &scope, call_id, CORE_CALLS_PER_INVOCATION_MAX, now_usec(desk) + CORE_TICKET_USEC, random,
                              ret);
        explicit_bzero(random, sizeof random);
        return r;
}

static void forget_late(CoreDesk *desk) {
        uint64_t now = now_usec(desk);

        for (Late *late = g_queue_peek_head(&desk->late);
             late && (late->until_usec <= now || desk->late.length > LATE_MAX); late = g_queue_peek_head(&desk->late))
                late_free(g_queue_pop_head(&desk->late));
}

void core_desk_revoke(CoreDesk *desk, const Registration *tool, const char *call_id, const char *ticket) {
        Late *late;

        if (ticket_table_remove_invocation(desk->tickets, call_id) == 0)
                return;
        late = g_new0(Late, 1);
        late->digest = sha256_hex(ticket, strlen(ticket));
        late->host_generation = owner_get_generation(tool->owner);
        late->until_usec = now_usec(desk) + CORE_LATE_MSEC * UINT64_C(1000);
        g_queue_push_tail(&desk->late, late);
        forget_late(desk);
}

static bool is_late(CoreDesk *desk, const Host *host, const char *ticket) {
        uint64_t generation = owner_get_generation(host->owner);
        g_autofree char *digest = sha256_hex(ticket, strlen(ticket));

        forget_late(desk);
        for (GList *item = desk->late.head; item; item = item->next) {
                const Late *late = item->data;

                if (late->host_generation == generation && strcmp(late->digest, digest) == 0)
                        return true;
        }
        return false;
}

void core_desk_host_lost(CoreDesk *desk, const Owner *owner) {
        (void) ticket_table_remove_host(desk->tickets, TICKET_TIER_PLUGIN, owner_get_generation(owner));
}

size_t core_desk_count_tickets(const CoreDesk *desk) {
        return ticket_table_length(desk->tickets);
}

/* ---- requests ---- */

static CoreGate *find_gate(const CoreDesk *desk, const char *call_id) {
        for (guint i = 0; i < desk->service->invocations->len; i++) {
                const Invocation *invocation = g_ptr_array_index(desk->service->invocations, i);

                if (invocation->gate && strcmp(invocation->call_id, call_id) == 0)
                        return invocation->gate;
        }
        return NULL;
}

static CoreGate *find_gate_of_ticket(const CoreDesk *desk, const char *ticket) {
        for (guint i = 0; i < desk->service->invocations->len; i++) {
                const Invocation *invocation = g_ptr_array_index(desk->service->invocations, i);

                if (invocation->gate && strcmp(core_gate_ticket(invocation->gate), ticket) == 0)
                        return invocation->gate;
        }
        return NULL;
}

static void refuse(Host *host, uint64_t id, int code, const char *text) {
        if (host_get_rpc(host))
                (void) rpc_respond_error(host_get_rpc(host), id, code, text);
}

/* The frame says whose it is, and the connection says which process it comes from. The ticket knows both. */
static void claim_of(const Host *host, Jval params, TicketScope *ret) {
        Jval owner = jval_member(params, "owner");

        *ret = (TicketScope) {
                .kind = TICKET_INVOCATION,
                .tier = TICKET_TIER_PLUGIN,
                .host_generation = owner_get_generation(host->owner),
                .owner = jval_text(jval_member(owner, "plugin_id")),
                .owner_token = jval_text(jval_member(owner, "owner_token")),
                .method = "core/call",
        };
        (void) jval_uint64(jval_member(owner, "generation"), &ret->owner_generation);
}

/* Which field was wrong is for the record and for nobody else (X10). */
static void record_forgery(const CoreDesk *desk, const Host *host, const TicketAnswer *answer) {
        const char *plugin = plugin_get_id(host->plugin);
        const Actor who = { .name = (char *) plugin, .unit = (char *) host_get_unit(host), .uid = getuid() };

        ledger_attempt(desk->service, &who, &(LedgerAttempt) {
                .what = "A core call with a bad ticket", .plugin = plugin, .error_name = "BadTicket",
                .message = ticket_refusal_to_string(answer->refusal),
        });
}

static void on_refused(CoreDesk *desk, Host *host, uint64_t id, Jval params, const TicketAnswer *answer) {
        const char *plugin = plugin_get_id(host->plugin);
        CoreGate *gate = answer->refusal == TICKET_EXHAUSTED
                        ? find_gate_of_ticket(desk, jval_text(jval_member(params, "ticket"))) : NULL;

        if (gate)
                core_gate_refuse_more(gate, jval_text(jval_member(params, "name")));
        else {
                log_plugin(LOG_WARNING, NULL, plugin, host_get_unit(host), "A core call with a bad ticket was refused: %s",
                           ticket_refusal_to_string(answer->refusal));
                record_forgery(desk, host, answer);
        }
        refuse(host, id, RPC_REFUSED, answer->text);
        if (answer->violation)
                host_process_kill(host->process, "protocol violation: too many core calls with bad tickets");
}

void core_desk_call(CoreDesk *desk, Host *host, uint64_t id, Jval params) {
        const char *ticket = jval_text(jval_member(params, "ticket"));
        TicketAnswer answer;
        TicketScope claim;
        CoreGate *gate;

        if (is_late(desk, host, ticket)) {
                refuse(host, id, RPC_CANCELLED, "The call that asked has ended.");
                return;
        }
        claim_of(host, params, &claim);
        if (ticket_table_redeem(desk->tickets, ticket, strlen(ticket), &claim, now_usec(desk), &answer) < 0) {
                on_refused(desk, host, id, params, &answer);
                return;
        }

        /* The ticket is of this process and of this owner; the owner must still be the one that may act. */
        gate = find_gate(desk, answer.invocation);
        if (!gate || !owner_matches(host->owner, jval_member(params, "owner"))) {
                refuse(host, id, RPC_CANCELLED, "The call that asked has ended.");
                return;
        }
        core_gate_begin(gate, id, params);
}

void core_desk_cancelled(CoreDesk *desk, Host *host, uint64_t id) {
        for (guint i = 0; i < desk->service->invocations->len; i++) {
                const Invocation *invocation = g_ptr_array_index(desk->service->invocations, i);

                /* Ids count for each host by itself. */
                if (invocation->gate && invocation->target->owner == host->owner && core_gate_cancel(invocation->gate, id))
                        return;
        }
}
