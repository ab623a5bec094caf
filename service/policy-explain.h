/* SPDX-License-Identifier: MIT */
#pragma once

/* What would become of a call, layer by layer, without running it, asking anybody or leaving a record; and what is wrong with
 * a file of rules before it is put in place. */

#include "service/service.h"

typedef struct ExplainRequest {
        const char *tool;
        const char *arguments; /* JSON text */
        const char *from;      /* NULL, or the plugin whose call of a core tool it would be */
        Session *session;      /* NULL: one with the configured default posture and no workspace */
        const char *mode;      /* NULL: the session's */
        const char *posture;   /* NULL: the session's */
} ExplainRequest;

/**
 * policy_explain() - the whole trace of a call that is only supposed
 *
 * Listeners are not asked, so what they would say or change is not in it. The rules of the session's workspace must have been
 * read (policy_view_wait()).
 *
 * Return: 0 and the report of Policy.Explain, a new string; ERROR_NO_SUCH_TOOL; ERROR_NO_SUCH_PLUGIN; ERROR_INVALID_ARGUMENTS
 * when the arguments are no JSON object; ERROR_INVALID_OPTION.
 */
int policy_explain(Service *service, const ExplainRequest *request, char **ret_json, sd_bus_error *reterr);

/**
 * policy_check() - read a text as if it were a file of this kind
 * @kind: "permissions", "administrator", "law", "project" or "config"
 *
 * Return: 0 and the report of Policy.Check, a new string; ERROR_INVALID_OPTION for another kind.
 */
int policy_check(const char *kind, const char *text, size_t size, char **ret_json, sd_bus_error *reterr);
