/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/errors.h"
#include "dbus/personal.h"
#include "dbus/server.h"

typedef struct Personal {
        Service *service;
        Plugin *plugin;   /* of a trust; else NULL */
        char *token;
        Session *session; /* of a raise; else NULL */
        Posture posture;
        Mode mode;        /* negative when it is the posture that is raised */
        BusAct *act;
} Personal;

static void personal_free(Personal *personal) {
        plugin_unref(personal->plugin);
        session_unref(personal->session);
        g_free(personal->token);
        g_free(personal);
}

static void personal_ask(
                Face *face, Caller *caller, const char *title, const char *text, PersonalActDone done, Personal *personal) {
        /* A trust brings the review's token; a raise has nothing to show. */
        const CallerIdentity *identity = caller_get_identity(caller);
        const PersonalAct act = {
                .client = caller_get_name(caller),
                .client_exe = identity->exe,
                .client_unit = identity->unit,
                .client_pid = identity->pid,
                .client_start = identity->start,
                .client_pidfd = identity->pidfd,
                .client_uid = identity->uid,
                .action = PERSONAL_ACTION,
                .id = personal->act->record->id,
                .plugin = personal->plugin ? plugin_get_id(personal->plugin) : NULL,
                .session = personal->session ? personal->session->id : NULL,
                .has_token = personal->token != NULL,
                .title = title,
                .text = text,
        };

        personal_act_confirm(face->service, &act, done, personal);
}

static void on_trust_confirmed(
                const char *confirmed_by, const char *error_name, const char *error_message, void *userdata) {
        Personal *personal = userdata;

        act_record_confirmed(personal->act->record, confirmed_by);
        if (confirmed_by)
                personal->act->work = service_trust(
                                personal->service, personal->plugin, personal->token, confirmed_by, bus_act_done, personal->act);
        else
                bus_act_done(error_name, error_message, personal->act);
        personal_free(personal);
}

void personal_trust(Face *face, Caller *caller, Plugin *plugin, const char *token, BusAct *act) {
        g_autofree char *title = g_strdup_printf("Trust the extension %s?", plugin_get_name(plugin));
        g_autofree char *text = g_strdup_printf(
                        "%s wants the extension %s (%s) to be trusted.\n"
                        "Content:      %s\nCapabilities: %s\n"
                        "Say yes only if you have read its review: codewhalectl review %s\n",
                        caller_get_identity(caller)->exe ?: caller_get_name(caller), plugin_get_name(plugin), plugin_get_id(plugin),
                        plugin_get_content_hash(plugin), plugin_get_capability_hash(plugin), plugin_get_name(plugin));
        Personal *personal = g_new0(Personal, 1);

        (void) bus_act_record(act, caller, &(ActSubject) {
                .kind = "trust", .word = "trusted", .plugin = plugin_get_id(plugin),
        });
        *personal = (Personal) {
                .service = face->service, .plugin = plugin_ref(plugin), .token = g_strdup(token), .act = act,
        };
        personal_ask(face, caller, title, text, on_trust_confirmed, personal);
}

static void on_raise_confirmed(
                const char *confirmed_by, const char *error_name, const char *error_message, void *userdata) {
        Personal *personal = userdata;

        act_record_confirmed(personal->act->record, confirmed_by);
        if (!confirmed_by)
                bus_act_done(error_name, error_message, personal->act);
        else if (personal->session->closed)
                bus_act_done(ERROR_NO_SUCH_SESSION, "The session ended meanwhile.", personal->act);
        else {
                if (personal->mode >= 0)
                        session_raise_mode(personal->session, personal->mode);
                else
                        session_raise_posture(personal->session, personal->posture);
                bus_act_done(NULL, NULL, personal->act);
        }
        personal_free(personal);
}

static void ask_to_raise(Face *face, Caller *caller, Personal *personal, const char *what, const char *from, const char *to) {
        const Session *session = personal->session;
        g_autofree char *title = g_strdup_printf("Let session %s run with %s %s?", session->id, what, to);
        g_autofree char *note = g_strdup_printf("From %s %s to %s.", what, from, to);
        g_autofree char *text = g_strdup_printf(
                        "%s wants its session %s %s to go from %s %s to %s.\nCalls that would ask you then run without asking.\n",
                        caller_get_identity(caller)->exe ?: caller_get_name(caller), session->id, session->label, what, from, to);

        (void) bus_act_record(personal->act, caller, &(ActSubject) {
                .kind = "posture", .word = "raised", .session = session->id, .note = note,
        });
        personal_ask(face, caller, title, text, on_raise_confirmed, personal);
}

static Personal *personal_of_session(Face *face, Session *session, BusAct *act) {
        Personal *personal = g_new0(Personal, 1);

        *personal = (Personal) {
                .service = face->service, .session = session_ref(session), .mode = _MODE_INVALID, .act = act,
        };
        return personal;
}

void personal_raise(Face *face, Caller *caller, Session *session, Posture posture, BusAct *act) {
        Personal *personal = personal_of_session(face, session, act);

        personal->posture = posture;
        ask_to_raise(face, caller, personal, "posture", posture_to_string(session->posture), posture_to_string(posture));
}

void personal_raise_mode(Face *face, Caller *caller, Session *session, Mode mode, BusAct *act) {
        Personal *personal = personal_of_session(face, session, act);

        personal->mode = mode;
        ask_to_raise(face, caller, personal, "mode", mode_to_string(session->mode), mode_to_string(mode));
}
