/* SPDX-License-Identifier: MIT */
#pragma once

/* Where everything that was decided is written down: into the decision log, into the journal with an id of the kind of
 * message, and as a note to who listens. Calls, cards, answers, grants, trust, postures, and what was refused before it
 * became any of these (pains C12). */

#include <stdbool.h>

#include "service/actor.h"
#include "service/host.h"
#include "storage/decision-log.h"

typedef struct Service Service;

#define LEDGER_ID_SIZE 36u

/** ledger_make_id() - "c-…": unpredictable and unique for ever; the letter says what it is the id of */
void ledger_make_id(char letter, char ret[static LEDGER_ID_SIZE]);

/**
 * ledger_write() - write one record down
 * @record: time_usec 0 becomes the present
 *
 * A record that can't be written is told in the service's own log (MESSAGE_DECISION_LOST). Return: whether it was written.
 */
bool ledger_write(Service *service, const DecisionRecord *record);

/** ledger_write_by() - the same with who did it filled in */
bool ledger_write_by(Service *service, const Actor *who, const DecisionRecord *record);

typedef struct LedgerAttempt {
        const char *what;    /* "Approvals.Answer" */
        const char *plugin;  /* NULL or the plugin's id */
        const char *tool;    /* NULL or the tool's name */
        const char *session; /* NULL or the session's id */
        const char *error_name;
        const char *message; /* why; NULL for none */
} LedgerAttempt;

/**
 * ledger_attempt() - somebody tried what he may not
 *
 * One who tries very often fills no log: see attempt-meter.h. How many went unrecorded stands in his next record.
 */
void ledger_attempt(Service *service, const Actor *who, const LedgerAttempt *attempt);

/**
 * ledger_violation() - a host ended for @reason; when that is what its plugin wrote into the channel, which no host of ours
 * would, the plugin tried to speak for it
 */
void ledger_violation(Service *service, const Host *host, const char *reason);
