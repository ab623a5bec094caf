/* SPDX-License-Identifier: MIT */
#pragma once

/* Turns what happens in the service into signals on every face. What may happen many times in one turn of the loop (a
 * plugin's facts, sets of registrations, the prompt) is announced once, at its end, with the values of then. */

#include "dbus/server.h"

int announcer_new(BusServer *server, Announcer **ret);
Announcer *announcer_free(Announcer *announcer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Announcer, announcer_free)

/** announcer_raise_card() - ask the approvers to show a card now (Approvals.Raised) */
void announcer_raise_card(Announcer *announcer, uint64_t id);

extern const ServiceEvents announcer_events; /* their userdata is the announcer */
