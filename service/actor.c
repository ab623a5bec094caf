/* SPDX-License-Identifier: MIT */
#include "service/actor.h"

Actor actor_copy(const Actor *actor) {
        return (Actor) {
                .name = g_strdup(actor->name),
                .exe = g_strdup(actor->exe),
                .unit = g_strdup(actor->unit),
                .uid = actor->uid,
        };
}

void actor_done(Actor *actor) {
        g_clear_pointer(&actor->name, g_free);
        g_clear_pointer(&actor->exe, g_free);
        g_clear_pointer(&actor->unit, g_free);
}

char *actor_describe(const Actor *actor) {
        return actor->exe ? g_strdup_printf("%s (%s)", actor->exe, actor->name) : g_strdup(actor->name);
}
