/* SPDX-License-Identifier: MIT */
#pragma once

/* What a caller did, or was kept from doing, as it goes into the ledger (service/ledger.h). */

#include "dbus/caller.h"
#include "service/ledger.h"

/** caller_actor() - who it is; borrowed from @caller */
Actor caller_actor(const Caller *caller);

/* An act that is still going on: what will be written down when it ended. */
typedef struct ActRecord {
        char id[LEDGER_ID_SIZE]; /* what the cards of this act go by too */
        const char *kind;        /* "trust", "posture", "session", static */
        const char *word;        /* of success: "trusted", static */
        char *plugin, *session, *note, *confirmed_by;
        Actor who;
} ActRecord;

typedef struct ActSubject {
        const char *kind, *word; /* static texts */
        const char *plugin, *session, *note;
} ActSubject;

/** act_record_new() - who does what */
ActRecord *act_record_new(const Caller *caller, const ActSubject *subject);
ActRecord *act_record_free(ActRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ActRecord, act_record_free)

/** act_record_confirmed() - how a person confirmed it */
void act_record_confirmed(ActRecord *record, const char *confirmed_by);

/** act_record_end() - write it down; @error_name NULL: it was done */
void act_record_end(const ActRecord *record, Service *service, const char *error_name, const char *error_message);

/**
 * refusal_record() - a method call was refused with @error: write it down if it is one that matters
 *
 * Those are acts of persons, answers to cards, changes of what may run, and calls that did not come to a record of their
 * own; of the others only those that reached for something of somebody else.
 */
void refusal_record(Service *service, const Caller *caller, sd_bus_message *m, const sd_bus_error *error);
