/* SPDX-License-Identifier: MIT */
#pragma once

/* The methods that are personal acts: first a person confirms, then the service does it, then the caller hears. The plugin
 * or session is looked up again when the answer is there. */

#include "dbus/bus-act.h"

/** personal_trust() - have it confirmed that these bytes of @plugin are trusted, then do it; ends @act */
void personal_trust(Face *face, Caller *caller, Plugin *plugin, const char *token, BusAct *act);

/** personal_raise() - have it confirmed that a session gets a freer posture, then do it; ends @act */
void personal_raise(Face *face, Caller *caller, Session *session, Posture posture, BusAct *act);

/** personal_raise_mode() - the same for a mode that needs it (mode_is_raise()) */
void personal_raise_mode(Face *face, Caller *caller, Session *session, Mode mode, BusAct *act);
