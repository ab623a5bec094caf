/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "dbus/options.h"
#include "dbus/registration-list.h"
#include "service/selection-view.h"

typedef struct ListOptions {
        const char *session;
} ListOptions;

static const Option list_options[] = {
        OPTION("session", 'o', ListOptions, session),
};

int registration_list_session(Face *face, Caller *caller, sd_bus_message *m, Session **ret, sd_bus_error *reterr) {
        ListOptions options = {};
        int r;

        r = options_read(m, list_options, G_N_ELEMENTS(list_options), &options, reterr);
        if (r < 0)
                return r;

        *ret = NULL;
        return options.session ? face_find_session(face, caller, options.session, ret, reterr) : 0;
}

Selection *registration_list_selection(const Session *session) {
        static const SelectionLists none;
        static Selection *implicit;

        /* Whoever only looks needs no session of his own yet: he sees what an implicit one would. */
        if (!session && !implicit)
                (void) selection_new(&none, "", &implicit, NULL);
        return session ? session->selection : implicit;
}

typedef struct List {
        sd_bus_message *m;
        int (*append)(sd_bus_message *m, const Registration *registration);
        int r;
} List;

static void append_each(Registration *registration, void *userdata) {
        List *list = userdata;

        if (list->r >= 0)
                list->r = list->append(list->m, registration);
}

int registration_list_reply(
                Face *face, sd_bus_message *m, const Session *session, RegistrationKind kind, const char *type,
                int (*append)(sd_bus_message *m, const Registration *registration)) {
        g_autoptr(sd_bus_message) answer = NULL;
        List list = { .append = append };
        int r;

        r = sd_bus_message_new_method_return(m, &answer);
        if (r >= 0)
                r = sd_bus_message_open_container(answer, 'a', type);
        if (r < 0)
                return r;

        list.m = answer;
        selection_foreach(registration_list_selection(session), face->service->registry, kind, append_each, &list);
        if (list.r >= 0)
                list.r = sd_bus_message_close_container(answer);
        if (list.r >= 0)
                list.r = sd_bus_send(NULL, answer, NULL);
        return list.r < 0 ? list.r : 1;
}
