/* SPDX-License-Identifier: MIT */
#include "dbus/wide-answer.h"

#include <inttypes.h>
#include <string.h>

#include "common/cleanup.h"
#include "dbus/server.h"

typedef struct WideAnswer {
        Service *service;
        uint64_t card, seconds;
        char *digest, *scope;
        Actor who;
        BusAct *act;
} WideAnswer;

bool wide_answer_needs_proof(const Service *service, const ApprovalChoice *choice) {
        ConfirmMethod method = service->config->confirm;

        return (method == CONFIRM_AUTO || method == CONFIRM_POLKIT) && strcmp(choice->decision, "allow") == 0 && choice->scope &&
               strcmp(choice->scope, APPROVAL_ONCE) != 0;
}

static void on_confirmed(const char *confirmed_by, const char *error_name, const char *error_message, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        WideAnswer *wide = userdata;
        const ApprovalChoice choice = {
                .decision = "allow", .digest = wide->digest, .scope = wide->scope, .seconds = wide->seconds,
        };

        act_record_confirmed(wide->act->record, confirmed_by);
        wide->act->card = 0;
        if (!confirmed_by)
                bus_act_done(error_name, error_message, wide->act);
        else if (approval_answer(wide->service->approvals, wide->card, &wide->who, &choice, &error) < 0)
                bus_act_done(error.name, error.message, wide->act);
        else
                bus_act_done(NULL, NULL, wide->act);
        g_free(wide->digest);
        g_free(wide->scope);
        actor_done(&wide->who);
        g_free(wide);
}

static void ask(Face *face, Caller *caller, const Approval *approval, WideAnswer *wide) {
        const CallerIdentity *identity = caller_get_identity(caller);
        g_autofree char *note = g_strdup_printf("Card %" PRIu64 ", scope %s.", wide->card, wide->scope);
        const PersonalAct act = {
                .client = caller_get_name(caller),
                .client_exe = identity->exe,
                .client_unit = identity->unit,
                .client_pid = identity->pid,
                .client_start = identity->start,
                .client_pidfd = identity->pidfd,
                .client_uid = identity->uid,
                .action = PERSONAL_ACTION,
                .id = bus_act_record(wide->act, caller, &(ActSubject) {
                        .kind = "grant", .word = "confirmed", .plugin = approval_get_plugin(approval),
                        .session = approval_get_session(approval), .note = note,
                }),
                .plugin = approval_get_plugin(approval),
                .session = approval_get_session(approval),
                .answers_card = true,
                .title = approval_get_title(approval),
                .text = note,
        };

        personal_act_confirm(face->service, &act, on_confirmed, wide);
}

int wide_answer_begin(Face *face, Caller *caller, sd_bus_message *m, uint64_t id, const ApprovalChoice *choice, sd_bus_error *reterr) {
        const Actor who = caller_actor(caller);
        WideAnswer *wide;
        BusAct *act;
        int r;

        r = approval_check_answer(face->service->approvals, id, &who, choice, reterr);
        if (r >= 0)
                r = bus_act_new(face, caller, m, &act, reterr);
        if (r < 0)
                return r;

        act->card = id;
        wide = g_new(WideAnswer, 1);
        *wide = (WideAnswer) {
                .service = face->service, .card = id, .seconds = choice->seconds, .digest = g_strdup(choice->digest),
                .scope = g_strdup(choice->scope), .who = actor_copy(&who), .act = act,
        };
        ask(face, caller, approval_table_find(face->service->approvals, id), wide);
        return 1;
}

void wide_answers_card_closed(BusServer *server, uint64_t id) {
        for (size_t i = server->acts->len; i > 0; i--) {
                BusAct *act = i <= server->acts->len ? g_ptr_array_index(server->acts, i - 1) : NULL;

                if (act && act->card == id && act->record)
                        (void) personal_act_cancel(server->service, act->record->id);
        }
}
