/* SPDX-License-Identifier: MIT */
#pragma once

/* Answers like systemd's manager on a socket of its own, in the loop of the test: for what a real manager
 * does rarely or never, as refusing a property, answering in another order, or going away. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

typedef struct FakeManager {
        sd_event *event;
        char *directory, *path, *address;
        int listening;
        sd_event_source *accept;
        sd_bus *bus;

        /* What it does */
        const char *const *refused; /* properties that it does not know */
        const char *refusal;        /* NULL, or the error text for every start */
        bool silent;                /* does not answer StartTransientUnit */
        const char *job_result;     /* NULL: the job does not end by itself */
        const char *control_group;
        const char *active;         /* NULL: of the unit that is asked for nothing is known */
        bool job;                   /* or it still has one */

        /* What it was asked */
        unsigned n_starts, n_stops, n_kills;
        char *unit;
        GPtrArray *properties; /* "Name signature" of the last start, in order */
        GHashTable *texts;     /* values of type s and as (joined by a comma), by name */
        int32_t signal;
} FakeManager;

void fake_manager_init(FakeManager *fake, sd_event *event);
void fake_manager_done(FakeManager *fake);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FakeManager, fake_manager_done)

/** fake_manager_listen(), _unlisten() - be there, or be away and drop every connection */
void fake_manager_listen(FakeManager *fake);
void fake_manager_unlisten(FakeManager *fake);

/** fake_manager_state() - PropertiesChanged of the unit: ActiveState, and with @code != 0 result and end of
 * the main process */
void fake_manager_state(FakeManager *fake, const char *active, const char *result, int code, int status);
void fake_manager_job(FakeManager *fake, const char *result);

bool fake_manager_was_given(const FakeManager *fake, const char *property);
