/* SPDX-License-Identifier: MIT */
#pragma once

/* The object of a call that was begun with Start. */

#include "dbus/bus-call.h"

/** bus_request_respond() - tell its caller, and nobody else, how the call ended */
void bus_request_respond(BusCall *call, const InvocationAnswer *answer);
