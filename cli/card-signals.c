/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "cli/card-signals.h"
#include "cli/client.h"
#include "common/cleanup.h"

static bool is_from_service(const CardSignals *signals, sd_bus_message *m) {
        return signals->owner && g_strcmp0(sd_bus_message_get_sender(m), signals->owner) == 0;
}

static int on_opened(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        CardSignals *signals = userdata;
        uint64_t id;

        (void) reterr;

        if (is_from_service(signals, m) && sd_bus_message_read(m, "t", &id) >= 0)
                signals->events->opened(id, signals->userdata);
        return 0;
}

static int on_raised(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        CardSignals *signals = userdata;
        uint64_t id;

        (void) reterr;

        if (is_from_service(signals, m) && sd_bus_message_read(m, "t", &id) >= 0)
                signals->events->raised(id, signals->userdata);
        return 0;
}

static int on_closed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        CardSignals *signals = userdata;
        const char *outcome;
        uint64_t id;

        (void) reterr;

        if (is_from_service(signals, m) && sd_bus_message_read(m, "ts", &id, &outcome) >= 0)
                signals->events->closed(id, outcome, signals->userdata);
        return 0;
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const char *name, *before, *after;
        CardSignals *signals = userdata;

        (void) reterr;

        if (sd_bus_message_read(m, "sss", &name, &before, &after) >= 0 && strcmp(name, CLIENT_SERVICE) == 0 &&
                        g_strcmp0(after, signals->owner) != 0)
                signals->events->service_changed(*after ? after : NULL, signals->userdata);
        return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        CardSignals *signals = userdata;

        (void) m;
        (void) reterr;

        signals->events->disconnected(signals->userdata);
        return 0;
}

int card_signals_begin(CardSignals *signals, sd_bus *bus, const CardEvents *events, void *userdata) {
        int r;

        signals->events = events;
        signals->userdata = userdata;
        r = sd_bus_match_signal(bus, &signals->slots[0], CLIENT_SERVICE, CLIENT_ROOT, CLIENT_SERVICE ".Approvals", "Opened",
                        on_opened, signals);
        if (r >= 0)
                r = sd_bus_match_signal(bus, &signals->slots[1], CLIENT_SERVICE, CLIENT_ROOT, CLIENT_SERVICE ".Approvals",
                                "Closed", on_closed, signals);
        if (r >= 0)
                r = sd_bus_match_signal(bus, &signals->slots[2], CLIENT_SERVICE, CLIENT_ROOT, CLIENT_SERVICE ".Approvals",
                                "Raised", on_raised, signals);
        if (r >= 0)
                r = sd_bus_match_signal(bus, &signals->slots[3], "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                "org.freedesktop.DBus", "NameOwnerChanged", on_owner_changed, signals);
        if (r >= 0)
                r = sd_bus_match_signal_async(bus, &signals->slots[4], "org.freedesktop.DBus.Local",
                                "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected", on_disconnected,
                                NULL, signals);
        return r;
}

void card_signals_done(CardSignals *signals) {
        for (size_t i = 0; i < G_N_ELEMENTS(signals->slots); i++)
                signals->slots[i] = sd_bus_slot_unref(signals->slots[i]);
        g_clear_pointer(&signals->owner, g_free);
}

void card_signals_set_owner(CardSignals *signals, char *owner) {
        g_free(signals->owner);
        signals->owner = owner;
}
