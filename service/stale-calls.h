/* SPDX-License-Identifier: MIT */
#pragma once

/* Calls that can't go on because what they belong to went away. */

#include "service/service.h"

/**
 * stale_calls_end() - fail every call whose tool or command is not usable any more, and say why
 *
 * A call that executes is ended by its connection, one whose host is being started by the host; this is for those that still wait for
 * a listener or a person (contract 3.11, S09).
 */
void stale_calls_end(Service *service);

/** stale_calls_end_session() - cancel every call of a session that ends */
void stale_calls_end_session(Service *service, const Session *session);
