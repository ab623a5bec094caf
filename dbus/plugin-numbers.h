/* SPDX-License-Identifier: MIT */
#pragma once

/* The properties of a plugin's object that are numbers: what its host uses, and how much it is called. */

#include <systemd/sd-bus.h>

#include "service/service.h"

/** plugin_number_append() - append the value of a property, a "t"; -ENOENT for another name */
int plugin_number_append(const char *name, const Service *service, Plugin *plugin, sd_bus_message *m);
