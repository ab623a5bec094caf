/* SPDX-License-Identifier: MIT */
#pragma once

/* Where the requests of hosts for core tools arrive (contract 6.4, 6.7): a ticket is looked at before anything else, and
 * leads to the call that it was made for. One desk a service. */

#include "policy/ticket.h"
#include "service/session-core.h"
#include "service/service.h"

typedef struct CoreGate CoreGate;
typedef struct CoreDesk CoreDesk;

CoreDesk *core_desk_new(Service *service);
CoreDesk *core_desk_free(CoreDesk *desk);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CoreDesk, core_desk_free)

/** core_desk_call() - a host sent core/call; answered now or later, exactly once */
void core_desk_call(CoreDesk *desk, Host *host, uint64_t id, Jval params);

/** core_desk_cancelled() - a host takes such a request back */
void core_desk_cancelled(CoreDesk *desk, Host *host, uint64_t id);

/** core_desk_host_lost() - a process ended: its tickets and the count of its bad ones are forgotten */
void core_desk_host_lost(CoreDesk *desk, const Owner *owner);

/** core_desk_count_tickets() - one for each call that runs and has a core; none is left of a call that ended */
size_t core_desk_count_tickets(const CoreDesk *desk);

/**
 * core_desk_find_core() - who runs core tools in a session
 * @ret_why: NULL, or why nobody does; a new string
 *
 * Return: borrowed; NULL for nobody.
 */
SessionCore *core_desk_find_core(const CoreDesk *desk, const Session *session, char **ret_why);

/* For core-gate.c */

/** core_desk_mint() - a ticket for one call; -errno when there is none to be had. Never logged, never kept elsewhere */
int core_desk_mint(CoreDesk *desk, const Registration *tool, const char *call_id, char ret[static TICKET_ID_CHARS + 1]);

/** core_desk_revoke() - the call ended; what its own host sends with its ticket within CORE_LATE_MSEC is late, not forged */
void core_desk_revoke(CoreDesk *desk, const Registration *tool, const char *call_id, const char *ticket);
