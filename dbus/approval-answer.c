/* SPDX-License-Identifier: MIT */
#include "dbus/approval-answer.h"

#include "dbus/act-record.h"
#include "dbus/options.h"
#include "dbus/wide-answer.h"

typedef struct AnswerOptions {
        const char *scope;
        uint32_t seconds;
} AnswerOptions;

static const Option answer_options[] = {
        OPTION("scope", 's', AnswerOptions, scope),
        OPTION("seconds", 'u', AnswerOptions, seconds),
};

int approval_answer_call(Face *face, Caller *caller, sd_bus_message *m, uint64_t id, sd_bus_error *reterr) {
        const Actor who = caller_actor(caller);
        AnswerOptions options = {};
        ApprovalChoice choice = {};
        int r;

        r = message_read(m, reterr, "ss", &choice.decision, &choice.digest);
        if (r >= 0)
                r = options_read(m, answer_options, G_N_ELEMENTS(answer_options), &options, reterr);
        if (r < 0)
                return r;

        choice.scope = options.scope;
        choice.seconds = options.seconds;
        if (wide_answer_needs_proof(face->service, &choice))
                return wide_answer_begin(face, caller, m, id, &choice, reterr);
        r = approval_answer(face->service->approvals, id, &who, &choice, reterr);
        if (r < 0)
                return r;
        return message_reply_empty(m);
}
