/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "common/cleanup.h"
#include "service/approval-private.h"

static const char *const approval_outcome_table[_APPROVAL_OUTCOME_MAX] = {
        [APPROVAL_ALLOWED] = "allowed",
        [APPROVAL_DENIED] = "denied",
        [APPROVAL_TIMED_OUT] = "timed-out",
        [APPROVAL_NO_APPROVER] = "no-approver",
        [APPROVAL_WITHDRAWN] = "withdrawn",
};

const char *approval_outcome_to_string(ApprovalOutcome outcome) {
        return approval_outcome_table[outcome];
}

void approval_free(void *pointer) {
        Approval *approval = pointer;

        sd_event_source_disable_unref(approval->timer);
        actor_done(&approval->asker);
        g_free(approval->kind);
        g_free(approval->title);
        g_free(approval->card);
        g_free(approval->digest);
        g_free(approval->call_id);
        g_free(approval->session);
        g_free(approval->plugin);
        g_free(approval->tool);
        g_free(approval->arguments);
        g_strfreev(approval->scopes);
        g_free(approval);
}

Approval *approval_new(
                ApprovalTable *table, uint64_t id, const ApprovalRequest *request, ApprovalDecided decided, void *userdata) {
        const Actor asker = {
                .name = (char *) request->requester,
                .exe = (char *) request->requester_exe,
                .unit = (char *) request->requester_unit,
                .uid = request->requester_uid,
        };
        Approval *approval = g_new0(Approval, 1);
        struct timespec now;

        (void) clock_gettime(CLOCK_REALTIME, &now);
        *approval = (Approval) {
                .table = table,
                .id = id,
                .asker = actor_copy(&asker),
                .kind = g_strdup(request->kind),
                .title = g_strdup(request->title),
                .card = g_strdup(request->card),
                .digest = g_strdup(request->digest),
                .call_id = g_strdup(request->call_id),
                .session = g_strdup(request->session),
                .plugin = g_strdup(request->plugin),
                .tool = g_strdup(request->tool),
                .arguments = g_memdup2(request->arguments, request->arguments_size),
                .arguments_size = request->arguments_size,
                .scopes = g_strdupv((char **) request->scopes),
                .opened_usec = (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000,
                .decided = decided,
                .userdata = userdata,
        };
        return approval;
}

uint64_t approval_get_id(const Approval *approval) {
        return approval->id;
}

const char *approval_get_kind(const Approval *approval) {
        return approval->kind;
}

const char *approval_get_title(const Approval *approval) {
        return approval->title;
}

const char *approval_get_digest(const Approval *approval) {
        return approval->digest;
}

const char *approval_get_requester(const Approval *approval) {
        return approval->asker.name;
}

const Actor *approval_get_asker(const Approval *approval) {
        return &approval->asker;
}

const char *approval_get_call_id(const Approval *approval) {
        return approval->call_id;
}

const char *approval_get_session(const Approval *approval) {
        return approval->session;
}

const char *approval_get_plugin(const Approval *approval) {
        return approval->plugin;
}

const char *approval_get_tool(const Approval *approval) {
        return approval->tool;
}

const char *approval_get_arguments(const Approval *approval, size_t *ret_size) {
        *ret_size = approval->arguments_size;
        return approval->arguments;
}

char *approval_to_json(const Approval *approval) {
        /* The card is an object that we wrote: put our two members in front of its own. */
        return g_strdup_printf("{\"id\":%" G_GUINT64_FORMAT ",\"opened_usec\":%" G_GUINT64_FORMAT ",%s", approval->id,
                               approval->opened_usec, approval->card + 1);
}
