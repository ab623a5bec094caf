/* SPDX-License-Identifier: MIT */
#pragma once

/* A core that a client offers for its own session: the service calls the client back, over the bus connection that the
 * session belongs to. See data/dbus/org.codewhale.Extensions.Core.xml. */

#include <systemd/sd-bus.h>

#include "service/session-core.h"

/**
 * client_core_new() - the core behind an object of a client
 * @bus:    the bus itself, not a direct channel
 * @client: unique name; an answer of anybody else is none
 * @object: path of the object that has the interface
 */
SessionCore *client_core_new(sd_bus *bus, const char *client, const char *object, CoreTools *tools);
