/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/bus-interfaces.h"
#include "dbus/client-core.h"
#include "dbus/face.h"
#include "dbus/options.h"
#include "dbus/paths.h"
#include "service/selection-view.h"

static const Option open_options[] = {
        OPTION("label", 's', SessionOptions, label),
        OPTION("workspace", 's', SessionOptions, workspace),
        OPTION("mode", 's', SessionOptions, mode),
        OPTION("posture", 's', SessionOptions, posture),
        OPTION("model", 's', SessionOptions, model),
        OPTION("plugins", 'a', SessionOptions, lists.plugins),
        OPTION("native-tools", 'a', SessionOptions, lists.native_tools),
        OPTION("script-tools", 'a', SessionOptions, lists.script_tools),
        OPTION("builtin-commands", 'a', SessionOptions, lists.builtin_commands),
        OPTION("markdown-commands", 'a', SessionOptions, lists.markdown_commands),
};

static int handle_open(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        SessionOptions options = {};
        g_autofree char *path = NULL;
        Session *session;
        int r;

        r = options_read(m, open_options, G_N_ELEMENTS(open_options), &options, reterr);
        if (r >= 0)
                r = session_open(face->service->sessions, face->service->registry, caller_get_name(caller), &options, &session,
                                 reterr);
        selection_lists_done(&options.lists);
        if (r < 0)
                return r;

        path = path_of_number(PATH_SESSION, session->number);
        return sd_bus_reply_method_return(m, "o", path);
}
BUS_METHOD(open)

typedef struct List {
        sd_bus_message *m;
        int r;
} List;

static void append_session(Session *session, void *userdata) {
        g_autofree char *path = path_of_number(PATH_SESSION, session->number);
        List *list = userdata;

        if (list->r < 0)
                return;
        list->r = sd_bus_message_append(
                        list->m, "(ossss)", path, session->label, session->workspace, mode_to_string(session->mode),
                        posture_to_string(session->posture));
}

static int handle_list(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) answer = NULL;
        List list = {};

        (void) caller;
        (void) reterr;

        list.r = sd_bus_message_new_method_return(m, &answer);
        if (list.r >= 0)
                list.r = sd_bus_message_open_container(answer, 'a', "(ossss)");
        list.m = answer;
        session_table_foreach(face->service->sessions, append_session, &list);
        if (list.r >= 0)
                list.r = sd_bus_message_close_container(answer);
        return list.r < 0 ? list.r : sd_bus_send(NULL, answer, NULL);
}
BUS_METHOD(list)

/* ---- cores ---- */

/* "/" stands for the implicit session. */
static int find_session(Face *face, Caller *caller, const char *path, Session **ret, sd_bus_error *reterr) {
        return face_find_session(face, caller, strcmp(path, "/") == 0 ? NULL : path, ret, reterr);
}

/* From now on no plugin may take one of these names (contract 5.2), also when this core is gone again. */
static int reserve_names(Face *face, const CoreTools *tools, sd_bus_error *reterr) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        for (size_t i = 0; i < core_tools_count(tools); i++)
                g_ptr_array_add(names, core_tools_get(tools, i)->name);
        g_ptr_array_add(names, NULL);
        if (registry_know_tools(face->service->registry, (const char *const *) names->pdata) < 0)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "Sessions have reported %u names of tools of their own already.", TOOLS_MAX);
        return 0;
}

static int handle_register_core(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const char *path, *object, *text;
        g_autoptr(CoreTools) tools = NULL;
        Session *session;
        int r;

        r = message_read(m, reterr, "oos", &path, &object, &text);
        if (r >= 0)
                r = options_read_none(m, reterr);
        if (r >= 0)
                r = find_session(face, caller, path, &session, reterr);
        if (r >= 0)
                r = core_tools_read(text, &tools, reterr);
        if (r < 0)
                return r;
        /* A channel may close while the session lives on. */
        if (face->caller)
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "A core is registered over the bus, not over a direct channel.");

        r = reserve_names(face, tools, reterr);
        if (r < 0)
                return r;
        session_set_core(session, client_core_new(face->bus, caller_get_name(caller), object, tools));
        return message_reply_empty(m);
}
BUS_METHOD(register_core)

static int handle_unregister_core(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const char *path;
        Session *session;
        int r;

        r = message_read(m, reterr, "o", &path);
        if (r >= 0)
                r = find_session(face, caller, path, &session, reterr);
        if (r < 0)
                return r;

        session_set_core(session, NULL);
        return message_reply_empty(m);
}
BUS_METHOD(unregister_core)

static const sd_bus_vtable sessions_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Open",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_RESULT("o", session),
                                method_open,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("List",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("a(ossss)", sessions),
                                method_list,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("RegisterCore",
                                SD_BUS_ARGS("o", session, "o", object, "s", tools, "a{sv}", options),
                                SD_BUS_NO_RESULT,
                                method_register_core,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("UnregisterCore",
                                SD_BUS_ARGS("o", session),
                                SD_BUS_NO_RESULT,
                                method_unregister_core,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Opened", SD_BUS_ARGS("o", session), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Closed", SD_BUS_ARGS("o", session), 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_sessions = {
        .path = PATH_ROOT,
        .name = INTERFACE_SESSIONS,
        .vtable = sessions_vtable,
};
