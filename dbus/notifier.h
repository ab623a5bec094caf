/* SPDX-License-Identifier: MIT */
#pragma once

/* A desktop notification while cards wait for an answer (org.freedesktop.Notifications): one for all of them, brought up to
 * date as they come and go.
 *
 * It points to the approver and answers nothing. Whoever owns the name of the notification server may say that a person
 * clicked, and any program of the same user can own it where no server runs; many servers also click on a command's word.
 * Nor does a server show all that an answer is about. So its one action is Approvals.Raised, which asks the registered
 * approvers to show the card.
 *
 * Nothing waits for the server: calls are asynchronous. Where none runs, one is started at most every
 * NOTIFICATION_START_SEC, if the bus can; else this is off. [approvals] notify = false turns it off for good. */

#include "dbus/server.h"

/** notifier_new() - @bus: the one that is served */
int notifier_new(BusServer *server, sd_bus *bus, Notifier **ret);

/** notifier_free() - takes the notification back */
Notifier *notifier_free(Notifier *notifier);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Notifier, notifier_free)

/** notifier_cards_changed() - a card opened or closed */
void notifier_cards_changed(Notifier *notifier);
