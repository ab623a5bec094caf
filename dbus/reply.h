/* SPDX-License-Identifier: MIT */
#pragma once

/* The answer to a method call that comes later. It is given exactly once: whoever frees it unanswered answers Cancelled,
 * so no client waits for its timeout. It keeps only where the answer goes, not the call: a pending call costs a few
 * hundred bytes and no descriptor, whatever its arguments were. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "dbus/caller.h"

typedef struct Reply Reply;

/**
 * reply_new() - answer @call later; its handler returns 1
 * @bytes: what is kept for the call elsewhere, charged to the caller until the answer
 *
 * Return: 0; ERROR_BUSY when the caller has too much pending (caller_charge()).
 */
int reply_new(Caller *caller, sd_bus_message *call, size_t bytes, Reply **ret, sd_bus_error *reterr);

/** reply_free() - answers ERROR_CANCELLED when nobody has answered */
Reply *reply_free(Reply *reply);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Reply, reply_free)

/** reply_withdraw() - forget it unanswered: the handler failed after all, and its error is the answer; returns NULL */
Reply *reply_withdraw(Reply *reply);

Caller *reply_get_caller(const Reply *reply);

/** reply_is_wanted() - whether there still is somebody to hear it */
bool reply_is_wanted(const Reply *reply);

/** reply_begin() - an empty answer to append to, for reply_send() */
int reply_begin(const Reply *reply, sd_bus_message **ret);

/* The ways to answer. A second answer is a bug. */
void reply_send(Reply *reply, sd_bus_message *answer);
void reply_return(Reply *reply, const char *types, ...); /* as sd_bus_reply_method_return() */
void reply_text(Reply *reply, const char *text);          /* one string, see message_append_text() */
void reply_fail(Reply *reply, const char *name, const char *message); /* the text is sanitised */
