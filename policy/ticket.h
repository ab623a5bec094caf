/* SPDX-License-Identifier: MIT */
#pragma once

/* Tickets: what lets one frame of a host ask for something, for as long as the call it belongs to runs
 * (contract 6.4). An id is a secret: it is never logged, kept or quoted. No clock and no random source here:
 * callers bring both. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/jdoc.h"

#define TICKET_RANDOM_BYTES 32
#define TICKET_ID_CHARS     68 /* "cwt." and 64 hex digits */

typedef enum TicketKind {
        TICKET_INVOCATION,    /* core/call; its row stays when all uses are gone */
        TICKET_MCP_LAUNCH,    /* once */
        TICKET_MCP_OPERATION, /* once */
        TICKET_EXECUTION,     /* once */
        _TICKET_KIND_MAX,
        _TICKET_KIND_INVALID = -EINVAL,
} TicketKind;

typedef enum TicketTier {
        TICKET_TIER_PLUGIN,
        TICKET_TIER_BUILTIN,
        _TICKET_TIER_MAX,
        _TICKET_TIER_INVALID = -EINVAL,
} TicketTier;

/* What a ticket is good for, and what a frame that presents one says about itself. */
typedef struct TicketScope {
        TicketKind kind;
        TicketTier tier;
        uint64_t host_generation; /* unique per host process */
        const char *owner;
        uint64_t owner_generation;
        const char *owner_token;
        const char *method; /* "core/call" */
        Jval target;        /* compared as JSON; absent: no target, or the presenter states none */
} TicketScope;

typedef struct TicketTable TicketTable;

TicketTable *ticket_table_new(void);
TicketTable *ticket_table_free(TicketTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TicketTable, ticket_table_free)

/**
 * ticket_table_mint() - a new ticket
 * @invocation:   id of the call it belongs to
 * @uses:         how often it may be redeemed, at least 1
 * @expires_usec: a backstop, on the clock that ticket_table_redeem() gets
 * @random:       fresh from getrandom()
 * @ret:          the id, with its NUL
 *
 * Return: 0; -ENOBUFS at TICKETS_MAX; -EEXIST when the random bytes were used before.
 */
int ticket_table_mint(TicketTable *table, const TicketScope *scope, const char *invocation, unsigned uses,
                uint64_t expires_usec, const uint8_t random[static TICKET_RANDOM_BYTES],
                char ret[static TICKET_ID_CHARS + 1]);

/* Why a ticket was refused, for our own record. The host never hears it. */
typedef enum TicketRefusal {
        TICKET_ACCEPTED,
        TICKET_UNKNOWN,
        TICKET_WRONG_KIND,
        TICKET_WRONG_TIER,
        TICKET_WRONG_HOST,
        TICKET_WRONG_OWNER,
        TICKET_WRONG_METHOD,
        TICKET_WRONG_TARGET,
        TICKET_EXPIRED,
        TICKET_EXHAUSTED,
        _TICKET_REFUSAL_MAX,
        _TICKET_REFUSAL_INVALID = -EINVAL,
} TicketRefusal;

const char *ticket_refusal_to_string(TicketRefusal refusal);

typedef struct TicketAnswer {
        TicketRefusal refusal;
        const char *invocation; /* of an accepted ticket; borrowed until the next redeeming, or until the
                                   ticket goes */
        const char *text;       /* one of three texts for the host; NULL when accepted */
        bool violation; /* TICKET_VIOLATIONS_MAX bad ones in TICKET_VIOLATION_WINDOW_MSEC: end this host */
} TicketAnswer;

/**
 * ticket_table_redeem() - use a ticket once
 * @id:   as it was presented; any bytes
 * @claim: what the frame is, as the connection shows it, never as the frame says it (but for the target)
 *
 * Checked in the order: exists, kind, tier, host, owner, method, target, expiry, uses.
 * Return: 0; -EPERM not valid for this request; -ETIME expired; -ENOBUFS used up. @ret is set in every case.
 */
int ticket_table_redeem(TicketTable *table, const char *id, size_t id_size, const TicketScope *claim,
                uint64_t now_usec, TicketAnswer *ret);

/** ticket_table_remove_…() - revoke what belonged to something that ended; return how many tickets went */
size_t ticket_table_remove_invocation(TicketTable *table, const char *invocation);
size_t ticket_table_remove_owner(TicketTable *table, const char *owner, uint64_t owner_generation);

/** ticket_table_remove_host() - the process ended: its tickets and its count of violations are forgotten */
size_t ticket_table_remove_host(TicketTable *table, TicketTier tier, uint64_t host_generation);

size_t ticket_table_length(const TicketTable *table);
