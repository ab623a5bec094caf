/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "policy/outcome.h"
#include "service/approval-record.h"
#include "service/ledger.h"

const char *approval_outcome_to_call(ApprovalOutcome outcome) {
        static const CallOutcome outcomes[_APPROVAL_OUTCOME_MAX] = {
                [APPROVAL_ALLOWED] = OUTCOME_APPROVED,
                [APPROVAL_DENIED] = OUTCOME_DENIED,
                [APPROVAL_TIMED_OUT] = OUTCOME_TIMED_OUT,
                [APPROVAL_NO_APPROVER] = OUTCOME_NO_APPROVER,
                [APPROVAL_WITHDRAWN] = OUTCOME_WITHDRAWN,
        };

        return call_outcome_to_string(outcomes[outcome]);
}

/* What both ends of a card have in common. */
static DecisionRecord card_record(const Approval *approval, const char *number) {
        return (DecisionRecord) {
                .call = approval_get_call_id(approval),
                .session = approval_get_session(approval),
                .plugin = approval_get_plugin(approval),
                .tool = approval_get_tool(approval),
                .card = number,
        };
}

void approval_record_opened(Service *service, const Approval *approval) {
        g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, approval_get_id(approval));
        DecisionRecord record = card_record(approval, number);

        record.kind = "card";
        record.outcome = "opened";
        record.note = approval_get_title(approval);
        (void) ledger_write_by(service, approval_get_asker(approval), &record);
}

void approval_record_closed(Service *service, const Approval *approval, const ApprovalAnswer *answer) {
        g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, approval_get_id(approval));
        g_autofree char *by = answer->who ? actor_describe(answer->who) : NULL, *note = NULL;
        DecisionRecord record = card_record(approval, number);

        record.kind = answer->who ? "answer" : "card";
        record.outcome = approval_outcome_to_call(answer->outcome);
        record.answered_by = by;
        if (answer->scope)
                note = g_strdup_printf("The answer was: %s, scope %s.", answer->outcome == APPROVAL_ALLOWED ? "allow" : "deny",
                                       answer->scope);
        else if (answer->reason)
                note = g_strdup_printf("It was taken back: %s.", answer->reason);
        record.note = note;
        /* A card that nobody answered is told with who asked for it. */
        (void) ledger_write_by(service, answer->who ?: approval_get_asker(approval), &record);
}

void approval_record_grant(Service *service, const Grant *grant, const Actor *who, const char *call, const char *outcome) {
        g_autofree char *own = call ? NULL : g_strdup_printf("g-%" G_GUINT64_FORMAT, grant->id);
        const DecisionRecord record = {
                .kind = "grant",
                .call = call ?: own,
                .outcome = outcome,
                .session = grant->session,
                .plugin = grant->plugin,
                .tool = grant->tool,
                .grant = grant->id,
                .note = grant->words,
        };

        if (who)
                (void) ledger_write_by(service, who, &record);
        else
                (void) ledger_write(service, &record);
}
