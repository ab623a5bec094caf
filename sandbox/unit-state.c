/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "sandbox/unit-state.h"

static const char *const unit_active_table[_UNIT_ACTIVE_MAX] = {
        [UNIT_ACTIVE_UNKNOWN] = "unknown",
        [UNIT_ACTIVE_ACTIVATING] = "activating",
        [UNIT_ACTIVE_ACTIVE] = "active",
        [UNIT_ACTIVE_DEACTIVATING] = "deactivating",
        [UNIT_ACTIVE_INACTIVE] = "inactive",
        [UNIT_ACTIVE_FAILED] = "failed",
};

UnitActive unit_active_from_string(const char *word) {
        for (int i = 0; i < _UNIT_ACTIVE_MAX; i++)
                if (g_strcmp0(word, unit_active_table[i]) == 0)
                        return i;

        return g_strcmp0(word, "reloading") == 0 || g_strcmp0(word, "refreshing") == 0 ? UNIT_ACTIVE_ACTIVE
                                                                                       : UNIT_ACTIVE_UNKNOWN;
}

static int read_text(sd_bus_message *m, const char **ret) {
        return sd_bus_message_read(m, "v", "s", ret);
}

static int read_property(UnitState *state, sd_bus_message *m, const char *name) {
        const char *text = NULL;
        int32_t number = 0;
        uint32_t pid = 0;
        int r;

        if (g_str_equal(name, "ActiveState")) {
                r = read_text(m, &text);
                if (r >= 0)
                        state->active = unit_active_from_string(text);
        } else if (g_str_equal(name, "Result")) {
                r = read_text(m, &text);
                if (r >= 0)
                        g_strlcpy(state->result, text, sizeof(state->result));
        } else if (g_str_equal(name, "ExecMainCode")) {
                r = sd_bus_message_read(m, "v", "i", &number);
                if (r >= 0)
                        state->main_code = number;
        } else if (g_str_equal(name, "ExecMainStatus")) {
                r = sd_bus_message_read(m, "v", "i", &number);
                if (r >= 0)
                        state->main_status = number;
        } else if (g_str_equal(name, "MainPID")) {
                r = sd_bus_message_read(m, "v", "u", &pid);
                if (r >= 0)
                        state->main_pid = (pid_t) pid;
        } else
                r = sd_bus_message_skip(m, "v");

        return r;
}

int unit_state_read(UnitState *state, sd_bus_message *m) {
        int r;

        assert(state);
        assert(m);

        r = sd_bus_message_skip(m, "s");
        if (r < 0)
                return r;
        r = sd_bus_message_enter_container(m, 'a', "{sv}");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                const char *name;

                r = sd_bus_message_read(m, "s", &name);
                if (r < 0)
                        return r;
                r = read_property(state, m, name);
                if (r < 0)
                        return r;
                r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;

        return sd_bus_message_exit_container(m);
}
