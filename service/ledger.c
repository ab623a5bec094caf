/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/log.h"
#include "common/messages.h"
#include "service/attempt-meter.h"
#include "service/ledger.h"
#include "service/service.h"

/* Fetched for many calls at once; each number is given away once. 256 bytes are what the kernel gives whole. */
static void next_random(uint64_t ret[static 2]) {
        static uint64_t store[32];
        static size_t left;

        if (left < 2) {
                if (getrandom(store, sizeof store, 0) != sizeof store)
                        g_error("The kernel gives no random bytes.");
                left = G_N_ELEMENTS(store);
        }
        ret[0] = store[--left];
        ret[1] = store[--left];
        store[left] = store[left + 1] = 0;
}

void ledger_make_id(char letter, char ret[static LEDGER_ID_SIZE]) {
        uint64_t random[2];

        next_random(random);
        (void) snprintf(ret, LEDGER_ID_SIZE, "%c-%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", letter, random[0], random[1]);
}

/* Which text of the catalog explains a record. */
static const char *message_id_of(const char *kind) {
        static const struct {
                const char *kind, *message_id;
        } table[] = {
                { "card", MESSAGE_CARD },     { "answer", MESSAGE_CARD },      { "grant", MESSAGE_GRANT },
                { "trust", MESSAGE_TRUST },   { "posture", MESSAGE_POSTURE },  { "attempt", MESSAGE_ATTEMPT },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                if (strcmp(kind, table[i].kind) == 0)
                        return table[i].message_id;
        return MESSAGE_DECISION;
}

static void ledger_log(const DecisionRecord *record) {
        const char *end = record->result && strcmp(record->result, "ok") != 0 ? record->result : NULL;
        const LogField fields[] = {
                { "CODEWHALE_KIND=", record->kind },
                { "CODEWHALE_CALL=", record->call },
                { "CODEWHALE_OUTCOME=", record->outcome },
                { "CODEWHALE_RESULT=", record->result },
                { "CODEWHALE_PLUGIN=", record->plugin },
                { "CODEWHALE_TOOL=", record->tool },
                { "CODEWHALE_SESSION=", record->session },
                { "CODEWHALE_CARD=", record->card },
                { "CODEWHALE_CLIENT=", record->who_name },
                { "CODEWHALE_CLIENT_EXE=", record->who_exe },
                { "CODEWHALE_ANSWERED_BY=", record->answered_by },
        };

        log_record(strcmp(record->kind, "attempt") == 0 ? LOG_NOTICE : LOG_INFO, message_id_of(record->kind), fields,
                   G_N_ELEMENTS(fields), "%s %s%s%s%s%s: %s%s%s", record->kind, record->call ?: "?", record->tool ? ", tool " : "",
                   record->tool ?: "", record->plugin ? " of " : "", record->plugin ?: "", record->outcome ?: "?", end ? ": " : "",
                   end ?: "");
}

bool ledger_write(Service *service, const DecisionRecord *record) {
        DecisionRecord dated = *record;
        int r;

        if (dated.time_usec == 0)
                dated.time_usec = (uint64_t) g_get_real_time();
        ledger_log(&dated);
        r = service->decisions ? decision_log_append(service->decisions, &dated) : -ENODEV;
        if (r < 0) {
                log_plugin(LOG_ERR, MESSAGE_DECISION_LOST, record->plugin, NULL, "The decision about %s %s could not be recorded: %s",
                           record->kind, record->call ?: "?", g_strerror(-r));
                return false;
        }
        if (service->events)
                service->events->decision_recorded(record->call, record->outcome, service->userdata);
        return true;
}

bool ledger_write_by(Service *service, const Actor *who, const DecisionRecord *record) {
        DecisionRecord signed_record = *record;

        signed_record.who_name = who->name;
        signed_record.who_exe = who->exe;
        signed_record.who_unit = who->unit;
        signed_record.who_uid = who->uid;
        return ledger_write(service, &signed_record);
}

void ledger_attempt(Service *service, const Actor *who, const LedgerAttempt *attempt) {
        const char *error = g_str_has_prefix(attempt->error_name, ERROR_PREFIX) ? attempt->error_name + strlen(ERROR_PREFIX)
                                                                                : attempt->error_name;
        g_autofree char *note = NULL, *left_out_note = NULL;
        char id[LEDGER_ID_SIZE];
        unsigned left_out;

        if (!attempt_meter_take(service->attempts, who->name, (uint64_t) g_get_monotonic_time(), &left_out))
                return;

        ledger_make_id('x', id);
        if (left_out > 0)
                left_out_note = g_strdup_printf(" (%u attempts before this one were not written down.)", left_out);
        note = g_strdup_printf("%s: %s%s", attempt->what, attempt->message ?: error, left_out_note ?: "");
        (void) ledger_write_by(service, who, &(DecisionRecord) {
                .kind = "attempt",
                .call = id,
                .outcome = "refused",
                .plugin = attempt->plugin,
                .tool = attempt->tool,
                .session = attempt->session,
                .result = error,
                .note = note,
        });
}

void ledger_violation(Service *service, const Host *host, const char *reason) {
        const char *id = plugin_get_id(host_get_plugin(host));
        const Actor who = { .name = (char *) id, .unit = (char *) host_get_unit(host), .uid = getuid() };

        if (strstr(reason, PROTOCOL_VIOLATION))
                ledger_attempt(service, &who, &(LedgerAttempt) {
                        .what = "The host's channel", .plugin = id, .error_name = "ProtocolViolation", .message = reason,
                });
}
