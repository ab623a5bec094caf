/* SPDX-License-Identifier: MIT */
#include "dbus/act-record.h"

#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "dbus/authorize.h"
#include "dbus/paths.h"
#include "policy/outcome.h"

Actor caller_actor(const Caller *caller) {
        const CallerIdentity *identity = caller_get_identity(caller);

        return (Actor) {
                .name = (char *) caller_get_name(caller), .exe = identity->exe, .unit = identity->unit, .uid = identity->uid,
        };
}

ActRecord *act_record_new(const Caller *caller, const ActSubject *subject) {
        const Actor who = caller_actor(caller);
        ActRecord *record = g_new0(ActRecord, 1);

        *record = (ActRecord) {
                .kind = subject->kind,
                .word = subject->word,
                .plugin = g_strdup(subject->plugin),
                .session = g_strdup(subject->session),
                .note = g_strdup(subject->note),
                .who = actor_copy(&who),
        };
        ledger_make_id('a', record->id);
        return record;
}

ActRecord *act_record_free(ActRecord *record) {
        if (!record)
                return NULL;

        g_free(record->plugin);
        g_free(record->session);
        g_free(record->note);
        g_free(record->confirmed_by);
        actor_done(&record->who);
        g_free(record);
        return NULL;
}

void act_record_confirmed(ActRecord *record, const char *confirmed_by) {
        g_free(record->confirmed_by);
        record->confirmed_by = g_strdup(confirmed_by);
}

/* A no, a silence and an absence are told as what they are; whatever else went wrong is a refusal. */
static const char *outcome_of(const char *error_name) {
        for (int outcome = 0; outcome < _OUTCOME_MAX; outcome++)
                if (g_strcmp0(call_outcome_error(outcome), error_name) == 0)
                        return call_outcome_to_string(outcome);

        return "refused";
}

static const char *short_name(const char *error_name) {
        return g_str_has_prefix(error_name, ERROR_PREFIX) ? error_name + strlen(ERROR_PREFIX) : error_name;
}

void act_record_end(const ActRecord *record, Service *service, const char *error_name, const char *error_message) {
        g_autofree char *note = NULL;

        if (error_name && record->note)
                note = g_strdup_printf("%s %s", record->note, error_message ?: "");

        (void) ledger_write_by(service, &record->who, &(DecisionRecord) {
                .kind = record->kind,
                .call = record->id,
                .outcome = error_name ? outcome_of(error_name) : record->word,
                .plugin = record->plugin,
                .session = record->session,
                .answered_by = record->confirmed_by,
                .result = error_name ? short_name(error_name) : NULL,
                .note = note ?: error_name ? error_message : record->note,
        });
}

/* ---- refusals ---- */

/* A name that he can't have seen, or something that is another's. */
static bool reaches_for_others(const char *error_name) {
        static const char *const names[] = { ERROR_ACCESS_DENIED, ERROR_NOT_AUTHORIZED, ERROR_NO_SUCH_SESSION };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (g_strcmp0(error_name, names[i]) == 0)
                        return true;
        return false;
}

/* A call that did not begin, so that no record of a call was written (service/invocation.h). */
static bool is_call_before_its_record(const char *interface, const char *member, const char *error_name) {
        static const char *const members[] = { "Call", "CallBytes", "CallFd", "Start", "Run", NULL };
        static const char *const names[] = {
                ERROR_NO_SUCH_TOOL, ERROR_NO_SUCH_COMMAND, ERROR_INVALID_ARGUMENTS, ERROR_INVALID_OPTION, ERROR_TOO_LARGE,
                ERROR_NO_SUCH_SESSION, ERROR_BUSY, NULL,
        };

        return (g_strcmp0(interface, INTERFACE_TOOLS) == 0 || g_strcmp0(interface, INTERFACE_COMMANDS) == 0) &&
               g_strv_contains(members, member) && g_strv_contains(names, error_name);
}

void refusal_record(Service *service, const Caller *caller, sd_bus_message *m, const sd_bus_error *error) {
        const char *interface = sd_bus_message_get_interface(m), *member = sd_bus_message_get_member(m), *last;
        AuthorizeAction action = interface && member ? authorize_find(interface, member) : _AUTHORIZE_ACTION_INVALID;
        const Actor who = caller_actor(caller);
        g_autofree char *what = NULL;

        if (!sd_bus_error_is_set(error))
                return;
        if (action != AUTHORIZE_PERSONAL && action != AUTHORIZE_ANSWER && action != AUTHORIZE_MANAGE &&
            !reaches_for_others(error->name) && !is_call_before_its_record(interface, member, error->name))
                return;

        last = interface ? strrchr(interface, '.') : NULL;
        what = g_strdup_printf("%s.%s", last ? last + 1 : "?", member ?: "?");
        ledger_attempt(service, &who, &(LedgerAttempt) { .what = what, .error_name = error->name, .message = error->message });
}
