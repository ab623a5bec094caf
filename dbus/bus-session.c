/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "dbus/act-record.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "dbus/bus-interfaces.h"
#include "dbus/face.h"
#include "dbus/paths.h"
#include "dbus/personal.h"
#include "service/core-desk.h"
#include "service/selection-view.h"

static Session *session_of_path(const Face *face, const char *path) {
        uint64_t number;

        return path_to_number(path, PATH_SESSION, &number) ? session_table_find(face->service->sessions, number) : NULL;
}

static int session_find_object(
                sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found, sd_bus_error *reterr) {
        Face *face = userdata;
        uint64_t number;

        (void) bus;
        (void) interface;

        if (!path_to_number(path, PATH_SESSION, &number))
                return 0;
        if (!session_table_find(face->service->sessions, number))
                return errors_set(reterr, ERROR_NO_SUCH_SESSION, "There is no such session; it may have ended.");

        *ret_found = face;
        return 1;
}

static void add_path(Session *session, void *userdata) {
        g_ptr_array_add(userdata, path_of_number(PATH_SESSION, session->number));
}

static int session_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret, sd_bus_error *reterr) {
        const Face *face = userdata;
        GPtrArray *paths = g_ptr_array_new();

        (void) bus;
        (void) prefix;
        (void) reterr;

        session_table_foreach(face->service->sessions, add_path, paths);
        g_ptr_array_add(paths, NULL);
        *ret = (char **) g_ptr_array_free(paths, FALSE);
        return 0;
}

static const char *session_text(const Session *session, const char *property) {
        switch (property[0]) {
        case 'I':
                return session->id;
        case 'O':
                return session->client;
        case 'L':
                return session->label;
        case 'W':
                return session->workspace;
        case 'P':
                return posture_to_string(session->posture);
        default:
                return strcmp(property, "Mode") == 0 ? mode_to_string(session->mode) : session->model;
        }
}

static int property_get(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Session *session = session_of_path(userdata, path);

        (void) bus;
        (void) interface;

        if (!session)
                return errors_set(reterr, ERROR_NO_SUCH_SESSION, "The session has ended.");

        return message_append_text(reply, session_text(session, property));
}

static int property_get_plugins(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Session *session = session_of_path(userdata, path);

        (void) bus;
        (void) interface;
        (void) property;

        if (!session)
                return errors_set(reterr, ERROR_NO_SUCH_SESSION, "The session has ended.");

        return sd_bus_message_append_strv(reply, selection_get_plugins(session->selection));
}

static SessionCore *core_of(const Face *face, const Session *session) {
        return core_desk_find_core(face->service->core_desk, session, NULL);
}

static int property_get_core(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Session *session = session_of_path(userdata, path);
        const SessionCore *core = session ? core_of(userdata, session) : NULL;

        (void) bus;
        (void) interface;
        (void) property;

        if (!session)
                return errors_set(reterr, ERROR_NO_SUCH_SESSION, "The session has ended.");
        return sd_bus_message_append(reply, "s", core ? core->kind : "none");
}

static int property_get_core_tools(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Session *session = session_of_path(userdata, path);
        const SessionCore *core = session ? core_of(userdata, session) : NULL;
        int r;

        (void) bus;
        (void) interface;
        (void) property;

        if (!session)
                return errors_set(reterr, ERROR_NO_SUCH_SESSION, "The session has ended.");
        r = sd_bus_message_open_container(reply, 'a', "s");
        for (size_t i = 0; r >= 0 && core && i < core_tools_count(core->tools); i++)
                if (session_core_offers(core, core_tools_get(core->tools, i)))
                        r = sd_bus_message_append(reply, "s", core_tools_get(core->tools, i)->name);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* Only its owner changes a session. */
static int find_own(Face *face, const Caller *caller, sd_bus_message *m, Session **ret, sd_bus_error *reterr) {
        Session *session = session_of_path(face, sd_bus_message_get_path(m));

        if (!session)
                return errors_set(reterr, ERROR_NO_SUCH_SESSION, "The session has ended.");
        if (strcmp(session->client, caller_get_name(caller)) != 0)
                return errors_set(reterr, ERROR_ACCESS_DENIED, "The session belongs to another connection.");

        *ret = session;
        return 0;
}

typedef struct HiddenList {
        sd_bus_message *m;
        int r;
} HiddenList;

static void append_hidden(const Registration *registration, const char *why, void *userdata) {
        HiddenList *list = userdata;
        g_autofree char *sentence = sanitize_line(why, ERROR_TEXT_BYTES_MAX, NULL);

        if (list->r >= 0)
                list->r = sd_bus_message_append(list->m, "(ssss)", registration->kind == REGISTRATION_TOOL ? "tool" : "command",
                                                registration->name, owner_get_plugin_id(registration->owner), sentence);
}

static int handle_hidden(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) answer = NULL;
        HiddenList list = {};
        Session *session;
        int r;

        r = find_own(face, caller, m, &session, reterr);
        if (r >= 0)
                r = sd_bus_message_new_method_return(m, &answer);
        if (r >= 0)
                r = sd_bus_message_open_container(answer, 'a', "(ssss)");
        if (r < 0)
                return r;

        list.m = answer;
        selection_foreach_hidden(session->selection, face->service->registry, append_hidden, &list);
        r = list.r < 0 ? list.r : sd_bus_message_close_container(answer);
        return r < 0 ? r : sd_bus_send(NULL, answer, NULL);
}
BUS_METHOD(hidden)

static int handle_close(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        Session *session = NULL;
        int r;

        r = find_own(face, caller, m, &session, reterr);
        if (r < 0)
                return r;

        session_close(session);
        return message_reply_empty(m);
}
BUS_METHOD(close)

static void record_change(Face *face, const Caller *caller, const Session *session, const char *what, const char *from) {
        const char *to = what[0] == 'm' ? mode_to_string(session->mode) : posture_to_string(session->posture);
        g_autofree char *note = g_strdup_printf("From %s %s to %s.", what, from, to);
        g_autoptr(ActRecord) record = act_record_new(caller, &(ActSubject) {
                .kind = "posture", .word = "changed", .session = session->id, .note = note,
        });

        act_record_end(record, face->service, NULL, NULL);
}

static int read_change(
                Face *face, const Caller *caller, sd_bus_message *m, const char **ret_word, Session **ret, sd_bus_error *reterr) {
        int r = message_read(m, reterr, "s", ret_word);

        return r < 0 ? r : find_own(face, caller, m, ret, reterr);
}

static int handle_set_posture(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const char *word, *before;
        Session *session;
        Posture posture;
        BusAct *act;
        int r;

        r = read_change(face, caller, m, &word, &session, reterr);
        if (r < 0)
                return r;

        posture = posture_from_string(word);
        if (posture >= 0 && posture_is_raise(session->posture, posture)) {
                r = bus_act_new(face, caller, m, &act, reterr);
                if (r < 0)
                        return r;
                personal_raise(face, caller, session, posture, act);
                return 1;
        }
        before = posture_to_string(session->posture);
        r = session_set_posture(session, word, reterr);
        if (r < 0)
                return r;
        record_change(face, caller, session, "posture", before);
        return message_reply_empty(m);
}
BUS_METHOD(set_posture)

static int handle_set_mode(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const char *word, *before;
        Session *session;
        BusAct *act;
        Mode mode;
        int r;

        r = read_change(face, caller, m, &word, &session, reterr);
        if (r < 0)
                return r;

        mode = mode_from_string(word);
        if (mode >= 0 && mode_is_raise(session->posture, session->mode, mode)) {
                r = bus_act_new(face, caller, m, &act, reterr);
                if (r < 0)
                        return r;
                personal_raise_mode(face, caller, session, mode, act);
                return 1;
        }
        before = mode_to_string(session->mode);
        r = session_set_mode(session, word, reterr);
        if (r < 0)
                return r;
        record_change(face, caller, session, "mode", before);
        return message_reply_empty(m);
}
BUS_METHOD(set_mode)

static const sd_bus_vtable session_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Id", "s", property_get, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Owner", "s", property_get, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Label", "s", property_get, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Workspace", "s", property_get, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Mode", "s", property_get, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Posture", "s", property_get, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Model", "s", property_get, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Core", "s", property_get_core, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("CoreTools", "as", property_get_core_tools, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Plugins", "as", property_get_plugins, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_METHOD_WITH_ARGS("Hidden",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("a(ssss)", hidden),
                                method_hidden,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Close", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_close, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("SetPosture",
                                SD_BUS_ARGS("s", posture),
                                SD_BUS_NO_RESULT,
                                method_set_posture,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("SetMode",
                                SD_BUS_ARGS("s", mode),
                                SD_BUS_NO_RESULT,
                                method_set_mode,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_session = {
        .path = PATH_SESSION,
        .name = INTERFACE_SESSION,
        .vtable = session_vtable,
        .find = session_find_object,
        .enumerate = session_enumerate,
};
