/* SPDX-License-Identifier: MIT */
#pragma once

/* One call with everything that a decision about it needs. */

#include <glib.h>
#include <string.h>

#include "policy/decision.h"
#include "policy/tool-name.h"
#include "test-json.h"

static const BuildScope build = { .plugin = "counter", .content_hash = "aaaa" };
static const BuildScope caller = { .plugin = "caller", .content_hash = "cccc" };

/* One call with everything it needs. */
typedef struct Call {
        DecisionInput input;
        Jdoc *arguments;
        ApprovalKeys keys;
        GrantTable *grants;
} Call;

static inline void call_init(Call *call, ToolKind kind, const char *tool, bool nested, const char *json) {
        g_autofree char *policy_name = NULL;
        ApprovalSubject subject = { .tool = tool };

        call->arguments = parse_json(json);
        call->grants = grant_table_new();
        call->keys = (ApprovalKeys){};
        call->input = (DecisionInput){
                .session = "s",
                .workspace = "/w",
                .kind = kind,
                .tool = tool,
                .plugin = kind == TOOL_EXTENSION ? build.plugin : NULL,
                .build = kind == TOOL_EXTENSION ? build.content_hash : NULL,
                .caller_plugin = nested ? caller.plugin : NULL,
                .arguments = jdoc_root(call->arguments),
                .grants = call->grants,
                .keys = &call->keys,
                .now_usec = 1,
        };
        if (kind == TOOL_EXTENSION)
                subject.build = &build;
        else
                subject.tool = policy_name = tool_alias_resolve(tool, call->input.arguments);
        if (nested)
                subject.called_from = &caller;
        g_assert_cmpint(approval_keys_make(&subject, call->input.arguments, &call->keys), ==, 0);
}

static inline void call_done(Call *call) {
        (void) jdoc_free(call->arguments);
        (void) grant_table_free(call->grants);
        approval_keys_done(&call->keys);
}

static inline void call_grant(Call *call) {
        const ApprovalSubject subject = { .tool = call->input.tool };
        const GrantRequest request = {
                .session = "s", .subject = &subject, .keys = &call->keys, .giver = "somebody"
        };
        uint64_t id;

        g_assert_cmpint(grant_table_give(call->grants, &request, &id), ==, 0);
}

static inline void call_deny(Call *call) {
        g_assert_cmpint(grant_table_deny(call->grants, "s", &call->keys), ==, 0);
}
