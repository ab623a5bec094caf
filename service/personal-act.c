/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "common/sha256.h"
#include "service/personal-act.h"
#include "service/service.h"

static const char *const confirm_method_table[_CONFIRM_METHOD_MAX] = {
        [CONFIRM_AUTO] = "auto",
        [CONFIRM_POLKIT] = "polkit",
        [CONFIRM_APPROVER] = "approver",
        [CONFIRM_TOKEN] = "token",
};

const char *confirm_method_to_string(ConfirmMethod method) {
        return confirm_method_table[method];
}

ConfirmMethod confirm_method_from_string(const char *word) {
        for (int i = 0; i < _CONFIRM_METHOD_MAX; i++)
                if (g_strcmp0(word, confirm_method_table[i]) == 0)
                        return i;

        return _CONFIRM_METHOD_INVALID;
}

/* One act that waits for an answer */
typedef struct Confirmation {
        Service *service;
        char *client, *client_exe, *client_unit, *title, *text, *id, *plugin, *session;
        uid_t client_uid;
        bool answers_card;
        PersonalActDone done;
        void *userdata;
} Confirmation;

static void confirmation_end(
                Confirmation *confirmation, const char *confirmed_by, const char *error_name, const char *error_message) {
        confirmation->done(confirmed_by, error_name, error_message, confirmation->userdata);
        g_free(confirmation->client);
        g_free(confirmation->client_exe);
        g_free(confirmation->client_unit);
        g_free(confirmation->title);
        g_free(confirmation->text);
        g_free(confirmation->id);
        g_free(confirmation->plugin);
        g_free(confirmation->session);
        g_free(confirmation);
}

/* ---- an approver ---- */

static void on_decided(Approval *approval, const ApprovalAnswer *answer, void *userdata) {
        static const char *const names[_APPROVAL_OUTCOME_MAX] = {
                [APPROVAL_DENIED] = ERROR_DENIED,
                [APPROVAL_TIMED_OUT] = ERROR_TIMED_OUT,
                [APPROVAL_NO_APPROVER] = ERROR_NO_APPROVER,
                [APPROVAL_WITHDRAWN] = ERROR_WITHDRAWN,
        };
        static const char *const texts[_APPROVAL_OUTCOME_MAX] = {
                [APPROVAL_DENIED] = "A person said no.",
                [APPROVAL_TIMED_OUT] = "Nobody answered in time.",
                [APPROVAL_NO_APPROVER] = "The last approver left before anybody answered.",
                [APPROVAL_WITHDRAWN] = "The question was withdrawn.",
        };
        g_autofree char *by = answer->who ? actor_describe(answer->who) : NULL;
        g_autofree char *confirmed_by = g_strdup_printf("approver:%s", by ?: "");

        (void) approval;
        if (answer->outcome == APPROVAL_ALLOWED)
                confirmation_end(userdata, confirmed_by, NULL, NULL);
        else
                confirmation_end(userdata, NULL, names[answer->outcome], texts[answer->outcome]);
}

static char *card_json(const Confirmation *confirmation, const char *digest) {
        SanitizeFlags flags = 0;
        g_autofree char *text = sanitize_block(confirmation->text, APPROVAL_PREVIEW_BYTES_MAX, &flags);
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "kind", APPROVAL_PERSONAL_ACT);
        jwriter_member_string(&writer, "call_id", confirmation->id);
        jwriter_member_string(&writer, "title", confirmation->title);
        jwriter_key(&writer, "origin");
        jwriter_begin_array(&writer);
        jwriter_string(&writer, confirmation->client);
        jwriter_end_array(&writer);
        jwriter_member_string(&writer, "client", confirmation->client_exe ?: confirmation->client);
        jwriter_member_string(&writer, "arguments", text);
        jwriter_member_uint(&writer, "arguments_size", strlen(confirmation->text));
        jwriter_member_boolean(&writer, "cut", flags & SANITIZE_CUT);
        jwriter_member_boolean(&writer, "escaped", flags & SANITIZE_ESCAPED);
        jwriter_key(&writer, "reasons");
        jwriter_begin_array(&writer);
        jwriter_string(&writer, "only a person may decide this");
        jwriter_end_array(&writer);
        jwriter_key(&writer, "grants");
        jwriter_begin_array(&writer);
        jwriter_end_array(&writer);
        jwriter_member_string(&writer, "text", text);
        jwriter_member_string(&writer, "digest", digest);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

static char *card_digest(const Confirmation *confirmation) {
        g_autoptr(Sha256) hash = sha256_new();

        sha256_update_text(hash, "codewhale-personal-act-v1");
        sha256_update_text(hash, confirmation->client);
        sha256_update_text(hash, confirmation->title);
        sha256_update_text(hash, confirmation->text);
        return sha256_finish_hex(hash);
}

static void confirm_as_approver(Confirmation *confirmation) {
        g_autofree char *confirmed_by = g_strdup_printf("approver:%s", confirmation->client);

        confirmation_end(confirmation, confirmed_by, NULL, NULL);
}

static void ask_approver(Confirmation *confirmation) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *title = sanitize_line(confirmation->title, ERROR_TEXT_BYTES_MAX, NULL);
        g_autofree char *digest = card_digest(confirmation), *card = card_json(confirmation, digest);
        Approval *approval;
        const ApprovalRequest request = {
                .requester = confirmation->client,
                .requester_exe = confirmation->client_exe,
                .requester_unit = confirmation->client_unit,
                .requester_uid = confirmation->client_uid,
                .kind = APPROVAL_PERSONAL_ACT,
                .call_id = confirmation->id,
                .session = confirmation->session,
                .plugin = confirmation->plugin,
                .title = title,
                .card = card,
                .digest = digest,
                .arguments = confirmation->text,
                .arguments_size = strlen(confirmation->text),
                .timeout_msec = confirmation->service->config->approval_timeout_msec,
        };

        if (confirmation->answers_card)
                confirm_as_approver(confirmation);
        else if (approval_open(confirmation->service->approvals, &request, on_decided, confirmation, &approval, &error) < 0)
                confirmation_end(confirmation, NULL, error.name, error.message);
}

/* ---- polkit ---- */

static void on_polkit(int r, const char *details, void *userdata) {
        Confirmation *confirmation = userdata;
        bool fall_back = confirmation->service->config->confirm == CONFIRM_AUTO;
        g_autofree char *text = NULL;

        if (r > 0)
                confirmation_end(confirmation, "polkit", NULL, NULL);
        else if (r == -ECANCELED)
                confirmation_end(confirmation, NULL, ERROR_WITHDRAWN, "The question was withdrawn.");
        else if (r == -EHOSTUNREACH && fall_back)
                ask_approver(confirmation);
        else if (r == -EHOSTUNREACH)
                confirmation_end(confirmation, NULL, ERROR_NOT_AUTHORIZED,
                                 "polkit can't be reached, and [trust] confirm in config.toml allows nothing else.");
        else {
                text = g_strdup_printf("You did not authenticate: %s.", details ?: (r < 0 ? g_strerror(-r) : "polkit said no"));
                confirmation_end(confirmation, NULL, ERROR_NOT_AUTHORIZED, text);
        }
}

static unsigned forget_polkit(Service *service, const PersonalActMatch *which) {
        return service->polkit_forget ? service->polkit_forget(which, service->polkit_userdata) : 0;
}

void personal_act_client_gone(Service *service, const char *client) {
        (void) forget_polkit(service, &(PersonalActMatch) { .client = client });
}

void personal_act_session_ended(Service *service, const char *session) {
        (void) forget_polkit(service, &(PersonalActMatch) { .session = session });
}

void personal_act_plugin_changed(Service *service, const Plugin *plugin) {
        approval_table_withdraw_acts(service->approvals, plugin_get_id(plugin));
        (void) forget_polkit(service, &(PersonalActMatch) { .plugin = plugin_get_id(plugin) });
}

bool personal_act_cancel(Service *service, const char *id) {
        return approval_table_withdraw_call(service->approvals, id) ||
                        forget_polkit(service, &(PersonalActMatch) { .id = id }) > 0;
}

void personal_act_confirm(Service *service, const PersonalAct *act, PersonalActDone done, void *userdata) {
        Confirmation *confirmation = g_new0(Confirmation, 1);
        g_autofree char *text = NULL;
        int r = -EHOSTUNREACH;

        *confirmation = (Confirmation) {
                .service = service,
                .client = g_strdup(act->client),
                .client_exe = g_strdup(act->client_exe),
                .client_unit = g_strdup(act->client_unit),
                .client_uid = act->client_uid,
                .title = g_strdup(act->title),
                .text = g_strdup(act->text),
                .id = g_strdup(act->id),
                .plugin = g_strdup(act->plugin),
                .session = g_strdup(act->session),
                .answers_card = act->answers_card,
                .done = done,
                .userdata = userdata,
        };

        if (config_get_unreadable(service->config)) {
                /* How a person is asked is among what can't be read. */
                text = g_strdup_printf("Nobody is asked while the configuration can't be read: %s", config_get_unreadable(service->config));
                confirmation_end(confirmation, NULL, ERROR_REFUSED_BY_POLICY, text);
                return;
        }
        switch (service->config->confirm) {
        case CONFIRM_TOKEN:
                /* What has no token proves nothing: then a person is asked after all. */
                if (act->has_token)
                        confirmation_end(confirmation, "token", NULL, NULL);
                else
                        ask_approver(confirmation);
                break;
        case CONFIRM_APPROVER:
                ask_approver(confirmation);
                break;
        default:
                if (service->polkit_ask)
                        r = service->polkit_ask(act, on_polkit, confirmation, service->polkit_userdata);
                if (r < 0)
                        on_polkit(r, NULL, confirmation);
                break;
        }
}
