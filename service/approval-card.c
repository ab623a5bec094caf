/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/jwriter.h"
#include "policy/approval-text.h"
#include "service/approval-card.h"
#include "service/core-call.h"

#define NOTICE "The plugin runs alone in a sandbox of its own."
#define CORE_NOTICE "A plugin asks for this while its own tool runs. What was allowed to that tool does not count for it."

#define COMPUTED_NOTICE CORE_NOTICE " Parts of the command are known only when it runs: what they name is not held to what it is now."

static const char *notice_of(const Invocation *invocation) {
        if (!invocation->nested)
                return NOTICE;
        return core_operand_is_computed(invocation->nested->policy_name, jdoc_root(invocation->arguments)) ? COMPUTED_NOTICE : CORE_NOTICE;
}

void approval_card_done(ApprovalCard *card) {
        g_free(card->title);
        g_free(card->json);
        g_free(card->digest);
        g_clear_pointer(&card->scopes, g_ptr_array_unref);
        *card = (ApprovalCard) {};
}

static GPtrArray *card_scopes(unsigned offers) {
        GPtrArray *scopes = g_ptr_array_new_with_free_func(g_free);

        for (GrantWidth width = 0; width < _GRANT_WIDTH_MAX; width++)
                if (offers & GRANT_OFFER(width))
                        g_ptr_array_add(scopes, g_strdup(grant_width_to_string(width)));
        g_ptr_array_add(scopes, NULL);
        return scopes;
}

static ApprovalOperand *card_operands(const CoreCall *call, size_t *ret_n) {
        const GPtrArray *bound = call ? call->operands : NULL;
        ApprovalOperand *operands = g_new0(ApprovalOperand, bound ? bound->len + 1 : 1);

        for (guint i = 0; bound && i < bound->len; i++) {
                const CoreOperand *operand = g_ptr_array_index(bound, i);

                operands[i] = (ApprovalOperand) { .path = operand->path, .sha256 = operand->sha256 };
        }
        *ret_n = bound ? bound->len : 0;
        return operands;
}

void approval_card_make(const Invocation *invocation, ApprovalCard *ret) {
        const CoreCall *nested = invocation->nested;
        const Invocation *outer = nested ? core_gate_outer(nested->gate) : NULL;
        const Owner *owner = invocation->target->owner;
        g_autofree ApprovalOperand *operands = NULL;
        size_t n_operands;
        g_autofree char *client = invocation->client_exe
                        ? g_strdup_printf("%s (%s)", invocation->client_exe, invocation->client) : g_strdup(invocation->client);
        ApprovalSubject subject;
        BuildScope build;

        invocation_subject(invocation, &build, &subject);
        subject.tool = invocation->target->name; /* as it was called: that is what people know */
        operands = card_operands(nested, &n_operands);
        const ApprovalFacts facts = {
                .kind = nested ? "core-call" : "tool-call",
                .call_id = invocation->call_id,
                .session = invocation->session->id,
                .client = client,
                .plugin_name = plugin_get_name(owner_get_plugin(owner)),
                .workspace = invocation->session->workspace[0] ? invocation->session->workspace : NULL,
                .notice = notice_of(invocation),
                .caller_tool = outer ? outer->target->name : NULL,
                .operands = operands,
                .n_operands = n_operands,
                .revisor = invocation->fold ? hook_fold_revisor(invocation->fold) : NULL,
                .subject = &subject,
                .keys = &invocation->keys,
                .arguments = invocation->input,
                .arguments_size = invocation->input_size,
                .trace = invocation->decision.trace,
                .offers = invocation->decision.offers,
        };
        g_auto(ApprovalText) text = {};
        g_auto(JWriter) writer = {};

        approval_text_make(&facts, &text);
        jwriter_init(&writer);
        approval_text_write(&text, &facts, &writer);
        *ret = (ApprovalCard) {
                .title = g_strdup(text.title),
                .json = jwriter_steal(&writer, NULL),
                .digest = g_strdup(text.digest),
                .scopes = card_scopes(text.offers),
        };
}
