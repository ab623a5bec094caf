/* SPDX-License-Identifier: MIT */
#pragma once

/* Gives back memory when the service has come to rest: after it started, and after a host went to sleep. */

#include <systemd/sd-event.h>

typedef struct Service Service;

/** idle_trim_arm() - do it in a moment, when no call runs by then; asking again changes nothing */
void idle_trim_arm(Service *service);
