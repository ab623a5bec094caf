/* SPDX-License-Identifier: MIT */
#pragma once

/* What an approver hears over the bus. Only what the service itself says counts: anybody may send a signal of that name. */

#include <stdint.h>
#include <systemd/sd-bus.h>

typedef struct CardEvents {
        void (*opened)(uint64_t id, void *userdata);
        void (*raised)(uint64_t id, void *userdata); /* a person clicked on its notification */
        void (*closed)(uint64_t id, const char *outcome, void *userdata);
        void (*service_changed)(const char *owner, void *userdata); /* NULL: it is gone */
        void (*disconnected)(void *userdata);
} CardEvents;

typedef struct CardSignals {
        const CardEvents *events;
        void *userdata;
        char *owner; /* unique name of the service we are registered with; NULL while there is none */
        sd_bus_slot *slots[5];
} CardSignals;

/** card_signals_begin() - @events: static. Return: 0 or -errno. */
int card_signals_begin(CardSignals *signals, sd_bus *bus, const CardEvents *events, void *userdata);
void card_signals_done(CardSignals *signals);

/** card_signals_set_owner() - whose signals count; takes @owner, which may be NULL */
void card_signals_set_owner(CardSignals *signals, char *owner);
