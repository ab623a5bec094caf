/* SPDX-License-Identifier: MIT */
#pragma once

/* polkit, asked asynchronously over the system bus, whichever bus we serve. Silence, errors and an absent polkitd never
 * allow anything. */

#include <glib.h>
#include <systemd/sd-event.h>

#include "service/personal-act.h"

typedef struct Polkit Polkit;

/** polkit_new() - connects to the system bus when it is first asked */
Polkit *polkit_new(sd_event *event);
Polkit *polkit_free(Polkit *polkit); /* questions that wait are answered with -ECANCELED */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Polkit, polkit_free)

/** polkit_ask() - a PolkitAsk; @userdata is the Polkit */
int polkit_ask(const PersonalAct *act, PolkitAnswer answer, void *answer_userdata, void *userdata);

/** polkit_forget() - a PolkitForget: whoever authenticates is not asked any further; @userdata is the Polkit */
unsigned polkit_forget(const PersonalActMatch *which, void *userdata);
