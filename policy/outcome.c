/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "common/errors.h"
#include "policy/outcome.h"

static const struct {
        const char *word;
        const char *error;
} outcome_table[_OUTCOME_MAX] = {
        [OUTCOME_ALLOWED] = { "allowed", NULL },
        [OUTCOME_APPROVED] = { "approved", NULL },
        [OUTCOME_DENIED] = { "denied", ERROR_DENIED },
        [OUTCOME_TIMED_OUT] = { "timed-out", ERROR_TIMED_OUT },
        [OUTCOME_NO_APPROVER] = { "no-approver", ERROR_NO_APPROVER },
        [OUTCOME_WITHDRAWN] = { "withdrawn", ERROR_WITHDRAWN },
        [OUTCOME_REFUSED_BY_POLICY] = { "refused-by-policy", ERROR_REFUSED_BY_POLICY },
        [OUTCOME_HOOK_DENIED] = { "hook-denied", ERROR_HOOK_DENIED },
        [OUTCOME_HOOK_FAILED] = { "hook-failed", ERROR_HOOK_FAILED },
        [OUTCOME_CANCELLED] = { "cancelled", ERROR_CANCELLED },
};

const char *call_outcome_to_string(CallOutcome outcome) {
        return outcome >= 0 && outcome < _OUTCOME_MAX ? outcome_table[outcome].word : NULL;
}

CallOutcome call_outcome_from_string(const char *word) {
        for (int i = 0; i < _OUTCOME_MAX; i++)
                if (g_strcmp0(word, outcome_table[i].word) == 0)
                        return i;

        return _OUTCOME_INVALID;
}

const char *call_outcome_error(CallOutcome outcome) {
        return outcome >= 0 && outcome < _OUTCOME_MAX ? outcome_table[outcome].error : NULL;
}
