/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/jwriter.h"
#include "policy/approval-text.h"
#include "service/approval-card.h"

#define NOTICE "The plugin runs alone in a sandbox of its own."

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

void approval_card_make(const Invocation *invocation, ApprovalCard *ret) {
        const Owner *owner = invocation->target->owner;
        g_autofree char *client = invocation->client_exe
                        ? g_strdup_printf("%s (%s)", invocation->client_exe, invocation->client) : g_strdup(invocation->client);
        const BuildScope build = { .plugin = owner_get_plugin_id(owner), .content_hash = owner_get_content_hash(owner) };
        const ApprovalSubject subject = { .tool = invocation->target->name, .build = &build };
        const ApprovalFacts facts = {
                .kind = "tool-call",
                .call_id = invocation->call_id,
                .session = invocation->session->id,
                .client = client,
                .plugin_name = plugin_get_name(owner_get_plugin(owner)),
                .workspace = invocation->session->workspace[0] ? invocation->session->workspace : NULL,
                .notice = NOTICE,
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
