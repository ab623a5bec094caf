/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "service/approval-private.h"

static int check_scope(const Approval *approval, const ApprovalChoice *choice, sd_bus_error *reterr) {
        bool once = !choice->scope || strcmp(choice->scope, APPROVAL_ONCE) == 0;

        if (strcmp(choice->decision, "deny") == 0) {
                bool session = choice->scope && strcmp(choice->scope, APPROVAL_SESSION) == 0;

                if ((!once && !session) || (session && strcmp(approval->kind, APPROVAL_PERSONAL_ACT) == 0) || choice->seconds > 0)
                        return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                          "A denial is for once, or for this very call in this session (scope 'session').");
                return 0;
        }
        if (!once && (!approval->scopes || !g_strv_contains((const char *const *) approval->scopes, choice->scope)))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "Approval %" G_GUINT64_FORMAT " offers no grant '%s'.",
                                  approval->id, choice->scope);
        if (choice->seconds > 0 && once)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "Only a grant can last for a time; name its scope.");
        if (choice->seconds > GRANT_SECONDS_MAX)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "A grant lasts for %u seconds at most.", GRANT_SECONDS_MAX);
        return 0;
}

int approval_choice_check(const Approval *approval, const Actor *who, const ApprovalChoice *choice, sd_bus_error *reterr) {
        if (strcmp(approval->asker.name, who->name) == 0)
                return errors_set(reterr, ERROR_OWN_APPROVAL, "A connection can't answer its own approval.");
        if (strcmp(choice->decision, "allow") != 0 && strcmp(choice->decision, "deny") != 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "A decision is 'allow' or 'deny', not '%s'.", choice->decision);
        if (strcmp(approval->digest, choice->digest) != 0)
                return errors_set(reterr, ERROR_DIGEST_MISMATCH, "The digest is not that of approval %" G_GUINT64_FORMAT ".",
                                  approval->id);
        return check_scope(approval, choice, reterr);
}
