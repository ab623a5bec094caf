/* SPDX-License-Identifier: MIT */
#include "dbus/approval-answer.h"

#include "dbus/options.h"

typedef struct AnswerOptions {
        const char *scope;
} AnswerOptions;

static const Option answer_options[] = {
        OPTION("scope", 's', AnswerOptions, scope),
};

int approval_answer_call(Face *face, Caller *caller, sd_bus_message *m, uint64_t id, sd_bus_error *reterr) {
        const char *decision, *digest;
        AnswerOptions options = {};
        int r;

        r = message_read(m, reterr, "ss", &decision, &digest);
        if (r >= 0)
                r = options_read(m, answer_options, G_N_ELEMENTS(answer_options), &options, reterr);
        if (r < 0)
                return r;

        r = approval_answer(
                        face->service->approvals, id, caller_get_name(caller), decision, digest, options.scope, reterr);
        if (r < 0)
                return r;
        return message_reply_empty(m);
}
