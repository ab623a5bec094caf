/* SPDX-License-Identifier: MIT */
#pragma once

/* Who did something, as records and cards tell it to people. Nothing is decided by it. */

#include <glib.h>
#include <sys/types.h>

typedef struct Actor {
        char *name; /* unique name on the bus */
        char *exe;  /* what runs there; NULL when it can't be told */
        char *unit; /* its systemd unit; NULL likewise */
        uid_t uid;
} Actor;

/** actor_copy() - a copy that owns its texts; end it with actor_done() */
Actor actor_copy(const Actor *actor);

/** actor_done() - free the texts; only for copies */
void actor_done(Actor *actor);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Actor, actor_done)

/** actor_describe() - "/usr/bin/codewhalectl (:1.7)", or the bus name alone; a new string */
char *actor_describe(const Actor *actor);
