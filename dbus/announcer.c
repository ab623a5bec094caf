/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/log.h"
#include "dbus/announcer.h"
#include "dbus/notifier.h"
#include "dbus/paths.h"
#include "dbus/plugin-facts.h"
#include "dbus/wide-answer.h"

/* A plugin with news: its object is new, or some fact may have changed. */
typedef enum PluginNews {
        NEWS_ADDED   = 1 << 0,
        NEWS_CHANGED = 1 << 1,
} PluginNews;

struct Announcer {
        BusServer *server;
        sd_event_source *flush; /* what has news is told then, and no more often than CHANGED_SIGNAL_MSEC allows */
        uint64_t flush_usec;    /* of the last round */
        GHashTable *news;  /* Plugin (a reference) -> PluginNews */
        GHashTable *facts; /* plugin id -> PluginFacts as they were announced last */
        bool registrations[_REGISTRATION_KIND_MAX];
        bool grants;
        bool prompt;
        bool skills;
        uint64_t prompt_revision;
        sd_event_source *record_timer; /* runs while a record that was not announced waits for its turn */
        char *record_call, *record_outcome;
        uint64_t record_usec; /* of the last announcement */
};

static void drop_plugin(void *plugin) {
        plugin_unref(plugin);
}

static void drop_facts(void *facts) {
        plugin_facts_free(facts);
}

/* ---- to every face ---- */

typedef struct Signal {
        const char *path, *interface, *member, *types;
        va_list *arguments;
} Signal;

static void emit_on_face(Face *face, void *userdata) {
        const Signal *signal = userdata;
        va_list arguments;
        int r;

        va_copy(arguments, *signal->arguments);
        r = sd_bus_emit_signalv(face->bus, signal->path, signal->interface, signal->member, signal->types, arguments);
        va_end(arguments);
        if (r < 0)
                log_debug("Signal %s.%s could not be sent: %s", signal->interface, signal->member, g_strerror(-r));
        face_sent(face, 0);
}

static void emit(Announcer *announcer, const char *interface, const char *member, const char *types, ...) {
        Signal signal = { PATH_ROOT, interface, member, types, NULL };
        va_list arguments;

        va_start(arguments, types);
        signal.arguments = &arguments;
        bus_server_foreach_face(announcer->server, emit_on_face, &signal);
        va_end(arguments);
}

typedef struct ObjectNews {
        const char *path, *interface;
        char **names; /* of changed properties */
} ObjectNews;

static void added_on_face(Face *face, void *userdata) {
        const ObjectNews *news = userdata;

        (void) sd_bus_emit_interfaces_added(face->bus, news->path, news->interface, NULL);
        face_sent(face, 0);
}

static void removed_on_face(Face *face, void *userdata) {
        const ObjectNews *news = userdata;

        (void) sd_bus_emit_interfaces_removed(face->bus, news->path, news->interface, NULL);
        face_sent(face, 0);
}

static void changed_on_face(Face *face, void *userdata) {
        const ObjectNews *news = userdata;

        (void) sd_bus_emit_properties_changed_strv(face->bus, news->path, news->interface, news->names);
        face_sent(face, 0);
}

static void object_added(Announcer *announcer, const char *path, const char *interface) {
        ObjectNews news = { path, interface, NULL };

        bus_server_foreach_face(announcer->server, added_on_face, &news);
}

static void object_removed(Announcer *announcer, const char *path, const char *interface) {
        ObjectNews news = { path, interface, NULL };

        bus_server_foreach_face(announcer->server, removed_on_face, &news);
}

static void object_changed(Announcer *announcer, const char *path, const char *interface, char **names) {
        ObjectNews news = { path, interface, names };

        if (names[0])
                bus_server_foreach_face(announcer->server, changed_on_face, &news);
}

/* ---- the end of a turn ---- */

static uint64_t announcer_now(const Announcer *announcer) {
        uint64_t now = 0;

        (void) sd_event_now(announcer->server->event, CLOCK_MONOTONIC, &now);
        return now;
}

/* At once after a pause, else with the next round: a plugin whose host comes and goes in a loop costs the bus no more than
 * ten rounds a second. */
static void schedule(Announcer *announcer) {
        int waits = SD_EVENT_OFF;

        (void) sd_event_source_get_enabled(announcer->flush, &waits);
        if (waits != SD_EVENT_OFF)
                return;
        (void) sd_event_source_set_time(announcer->flush, announcer->flush_usec + CHANGED_SIGNAL_MSEC * UINT64_C(1000));
        (void) sd_event_source_set_enabled(announcer->flush, SD_EVENT_ONESHOT);
}

static void flush_plugin(Announcer *announcer, Plugin *plugin, PluginNews news) {
        Service *service = announcer->server->service;
        const char *id = plugin_get_id(plugin);
        g_autofree char *path = path_of_plugin(id), *reason = NULL;
        g_autofree char **names = NULL;
        PluginFacts *facts = plugin_facts_take(service, plugin);

        names = plugin_facts_compare(g_hash_table_lookup(announcer->facts, id), facts);
        if (news & NEWS_ADDED)
                object_added(announcer, path, INTERFACE_PLUGIN);
        else if (names[0])
                object_changed(announcer, path, INTERFACE_PLUGIN, names);

        if (names[0]) {
                reason = plugin_fact_find("Failure")->text(service, plugin);
                emit(announcer, INTERFACE_PLUGINS, "Changed", "sss", id,
                     plugin_label_to_string(plugin_get_label(plugin)), reason ?: "");
        }
        g_hash_table_replace(announcer->facts, g_strdup(id), facts);
}

static void flush_plugins(Announcer *announcer) {
        g_autoptr(GHashTable) news = announcer->news;
        GHashTableIter iter;
        void *plugin, *kinds;

        announcer->news = g_hash_table_new_full(NULL, NULL, drop_plugin, NULL);
        g_hash_table_iter_init(&iter, news);
        while (g_hash_table_iter_next(&iter, &plugin, &kinds))
                flush_plugin(announcer, plugin, GPOINTER_TO_UINT(kinds));
}

static void flush_registrations(Announcer *announcer) {
        static const char *const interfaces[_REGISTRATION_KIND_MAX] = {
                [REGISTRATION_TOOL] = INTERFACE_TOOLS,
                [REGISTRATION_COMMAND] = INTERFACE_COMMANDS,
                [REGISTRATION_HOOK] = INTERFACE_HOOKS,
        };

        for (int i = 0; i < _REGISTRATION_KIND_MAX; i++)
                if (announcer->registrations[i]) {
                        announcer->registrations[i] = false;
                        emit(announcer, interfaces[i], "Changed", NULL);
                }
}

static int on_flush(sd_event_source *source, uint64_t usec, void *userdata) {
        Announcer *announcer = userdata;

        (void) source;
        (void) usec;

        announcer->flush_usec = announcer_now(announcer);
        flush_plugins(announcer);
        flush_registrations(announcer);
        if (announcer->grants)
                emit(announcer, INTERFACE_GRANTS, "Changed", NULL);
        if (announcer->prompt)
                emit(announcer, INTERFACE_PROMPT, "Changed", "t", announcer->prompt_revision);
        if (announcer->skills)
                emit(announcer, INTERFACE_SKILLS, "Changed", NULL);
        announcer->grants = announcer->prompt = announcer->skills = false;
        return 0;
}

/* ---- what the service tells ---- */

static void note_plugin(Announcer *announcer, Plugin *plugin, PluginNews kind) {
        unsigned kinds = GPOINTER_TO_UINT(g_hash_table_lookup(announcer->news, plugin));

        if (kinds == 0)
                g_hash_table_insert(announcer->news, plugin_ref(plugin), GUINT_TO_POINTER(kind));
        else
                g_hash_table_insert(announcer->news, plugin_ref(plugin), GUINT_TO_POINTER(kinds | kind));
        schedule(announcer);
}

static void on_plugin_added(Plugin *plugin, void *userdata) {
        note_plugin(userdata, plugin, NEWS_ADDED);
}

static void on_plugin_changed(Plugin *plugin, void *userdata) {
        note_plugin(userdata, plugin, NEWS_CHANGED);
}

static void on_plugin_removed(Plugin *plugin, void *userdata) {
        Announcer *announcer = userdata;
        const char *id = plugin_get_id(plugin);
        g_autofree char *path = path_of_plugin(id);
        unsigned kinds = GPOINTER_TO_UINT(g_hash_table_lookup(announcer->news, plugin));

        if (!(kinds & NEWS_ADDED)) {
                object_removed(announcer, path, INTERFACE_PLUGIN);
                emit(announcer, INTERFACE_PLUGINS, "Changed", "sss", id, "removed", "");
        }
        g_hash_table_remove(announcer->facts, id);
        g_hash_table_remove(announcer->news, plugin);
}

static void on_plugin_failed(Plugin *plugin, const char *stage, const char *reason, void *userdata) {
        emit(userdata, INTERFACE_PLUGINS, "Failed", "sss", plugin_get_id(plugin), stage, reason);
}

static void on_registrations_changed(RegistrationKind kind, void *userdata) {
        Announcer *announcer = userdata;

        announcer->registrations[kind] = true;
        schedule(announcer);
}

static void on_prompt_changed(uint64_t revision, void *userdata) {
        Announcer *announcer = userdata;

        announcer->prompt = true;
        announcer->prompt_revision = revision;
        schedule(announcer);
}

static void on_skills_changed(void *userdata) {
        Announcer *announcer = userdata;

        announcer->skills = true;
        schedule(announcer);
}

static void on_session_opened(Session *session, void *userdata) {
        g_autofree char *path = path_of_number(PATH_SESSION, session->number);

        object_added(userdata, path, INTERFACE_SESSION);
        emit(userdata, INTERFACE_SESSIONS, "Opened", "o", path);
}

static void on_session_changed(Session *session, void *userdata) {
        g_autofree char *path = path_of_number(PATH_SESSION, session->number);
        char *names[] = { (char *) "Mode", (char *) "Posture", (char *) "Core", (char *) "CoreTools", NULL };

        object_changed(userdata, path, INTERFACE_SESSION, names);
}

static void on_session_closed(Session *session, void *userdata) {
        g_autofree char *path = path_of_number(PATH_SESSION, session->number);

        object_removed(userdata, path, INTERFACE_SESSION);
        emit(userdata, INTERFACE_SESSIONS, "Closed", "o", path);
}

static void on_approval_opened(Approval *approval, void *userdata) {
        g_autofree char *path = path_of_number(PATH_APPROVAL, approval_get_id(approval));

        object_added(userdata, path, INTERFACE_APPROVAL);
        emit(userdata, INTERFACE_APPROVALS, "Opened", "to", approval_get_id(approval), path);
        notifier_cards_changed(((Announcer *) userdata)->server->notifier);
}

void announcer_raise_card(Announcer *announcer, uint64_t id) {
        emit(announcer, INTERFACE_APPROVALS, "Raised", "t", id);
}

static void on_approval_closed(Approval *approval, const ApprovalAnswer *answer, void *userdata) {
        g_autofree char *path = path_of_number(PATH_APPROVAL, approval_get_id(approval));

        object_removed(userdata, path, INTERFACE_APPROVAL);
        emit(userdata, INTERFACE_APPROVALS, "Closed", "ts", approval_get_id(approval),
             approval_outcome_to_string(answer->outcome));
        wide_answers_card_closed(((Announcer *) userdata)->server, approval_get_id(approval));
        notifier_cards_changed(((Announcer *) userdata)->server->notifier);
}

static void on_grants_changed(void *userdata) {
        Announcer *announcer = userdata;

        announcer->grants = true;
        schedule(announcer);
}

static int on_record_turn(sd_event_source *source, uint64_t usec, void *userdata) {
        Announcer *announcer = userdata;

        (void) source;
        (void) usec;
        announcer->record_usec = announcer_now(announcer);
        emit(announcer, INTERFACE_DECISIONS, "Recorded", "ss", announcer->record_call, announcer->record_outcome);
        return 0;
}

/* A signal a call would cost the bus, and everybody who listens, as much as the call itself. */
static void on_decision_recorded(const char *call_id, const char *outcome, void *userdata) {
        Announcer *announcer = userdata;
        uint64_t due = announcer->record_usec + RECORDED_SIGNAL_MSEC * 1000;
        int waits = SD_EVENT_OFF;

        g_free(announcer->record_call);
        g_free(announcer->record_outcome);
        announcer->record_call = g_strdup(call_id ?: "");
        announcer->record_outcome = g_strdup(outcome ?: "");

        (void) sd_event_source_get_enabled(announcer->record_timer, &waits);
        if (waits != SD_EVENT_OFF)
                return;
        if (announcer_now(announcer) >= due) {
                (void) on_record_turn(NULL, 0, announcer);
                return;
        }
        (void) sd_event_source_set_time(announcer->record_timer, due);
        (void) sd_event_source_set_enabled(announcer->record_timer, SD_EVENT_ONESHOT);
}

static void policy_problem_changed(Face *face, void *userdata) {
        char *names[] = { (char *) "Problem", NULL };

        (void) userdata;
        (void) sd_bus_emit_properties_changed_strv(face->bus, PATH_ROOT, INTERFACE_POLICY, names);
        face_sent(face, 0);
}

static void on_policy_changed(void *userdata) {
        Announcer *announcer = userdata;

        bus_server_foreach_face(announcer->server, policy_problem_changed, NULL);
        emit(announcer, INTERFACE_POLICY, "Changed", NULL);
}

static void on_status_changed(void *userdata) {
        (void) userdata; /* the counts are read when somebody asks; see EmitsChangedSignal in the XML */
}

const ServiceEvents announcer_events = {
        .plugin_added = on_plugin_added,
        .plugin_changed = on_plugin_changed,
        .plugin_removed = on_plugin_removed,
        .plugin_failed = on_plugin_failed,
        .registrations_changed = on_registrations_changed,
        .prompt_changed = on_prompt_changed,
        .skills_changed = on_skills_changed,
        .session_opened = on_session_opened,
        .session_changed = on_session_changed,
        .session_closed = on_session_closed,
        .approval_opened = on_approval_opened,
        .approval_closed = on_approval_closed,
        .grants_changed = on_grants_changed,
        .decision_recorded = on_decision_recorded,
        .policy_changed = on_policy_changed,
        .status_changed = on_status_changed,
};

int announcer_new(BusServer *server, Announcer **ret) {
        g_autoptr(Announcer) announcer = g_new0(Announcer, 1);
        int r;

        announcer->server = server;
        announcer->news = g_hash_table_new_full(NULL, NULL, drop_plugin, NULL);
        announcer->facts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, drop_facts);

        r = sd_event_add_time(server->event, &announcer->flush, CLOCK_MONOTONIC, 0, 1000, on_flush, announcer);
        if (r >= 0)
                r = sd_event_source_set_enabled(announcer->flush, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time(server->event, &announcer->record_timer, CLOCK_MONOTONIC, 0, 1000, on_record_turn, announcer);
        if (r >= 0)
                r = sd_event_source_set_enabled(announcer->record_timer, SD_EVENT_OFF);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&announcer);
        return 0;
}

Announcer *announcer_free(Announcer *announcer) {
        if (!announcer)
                return NULL;

        sd_event_source_disable_unref(announcer->flush);
        sd_event_source_disable_unref(announcer->record_timer);
        g_free(announcer->record_call);
        g_free(announcer->record_outcome);
        g_hash_table_unref(announcer->news);
        g_hash_table_unref(announcer->facts);
        g_free(announcer);
        return NULL;
}
