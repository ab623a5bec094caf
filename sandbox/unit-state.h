/* SPDX-License-Identifier: MIT */
#pragma once

/* What systemd has said about one unit so far, gathered from its PropertiesChanged signals. It can't be
 * asked later: a unit that has ended is forgotten at once. */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

typedef enum UnitActive {
        UNIT_ACTIVE_UNKNOWN,
        UNIT_ACTIVE_ACTIVATING,
        UNIT_ACTIVE_ACTIVE, /* "reloading" and "refreshing" too */
        UNIT_ACTIVE_DEACTIVATING,
        UNIT_ACTIVE_INACTIVE,
        UNIT_ACTIVE_FAILED,
        _UNIT_ACTIVE_MAX,
        _UNIT_ACTIVE_INVALID = -22,
} UnitActive;

UnitActive unit_active_from_string(const char *word); /* UNIT_ACTIVE_UNKNOWN for what we don't know */

typedef struct UnitState {
        UnitActive active;
        char result[32]; /* "success", "exit-code", "signal", "oom-kill", "timeout", … */
        int main_code;   /* CLD_EXITED, CLD_KILLED, CLD_DUMPED; 0: the main process has not ended */
        int main_status;
        pid_t main_pid; /* of the running main process; 0 when there is none */
} UnitState;

/** unit_state_read() - take over what a PropertiesChanged signal says; unknown members are skipped */
int unit_state_read(UnitState *state, sd_bus_message *m);

static inline bool unit_state_is_over(const UnitState *state) {
        return state->active == UNIT_ACTIVE_INACTIVE || state->active == UNIT_ACTIVE_FAILED;
}
