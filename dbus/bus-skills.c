/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "dbus/bus-interfaces.h"
#include "dbus/memfd.h"
#include "dbus/options.h"
#include "dbus/paths.h"
#include "dbus/registration-list.h"

typedef struct List {
        sd_bus_message *m;
        int r;
} List;

static void append_skill(const SkillRoot *root, const Skill *skill, void *userdata) {
        g_autofree char *description = sanitize_line(skill->matter->description, LIST_TEXT_BYTES_MAX, NULL);
        g_autofree char *hint = sanitize_line(skill->matter->argument_hint ?: "", LIST_TEXT_BYTES_MAX, NULL);
        List *list = userdata;

        if (list->r >= 0)
                list->r = sd_bus_message_append(list->m, "(ssssbb)", skill->qualified, owner_get_plugin_id(root->owner), description,
                                                hint, (int) skill->matter->model, (int) skill->matter->user);
}

static int handle_list(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) answer = NULL;
        Session *session;
        List list = {};
        int r;

        r = registration_list_session(face, caller, m, &session, reterr);
        if (r >= 0)
                r = sd_bus_message_new_method_return(m, &answer);
        if (r >= 0)
                r = sd_bus_message_open_container(answer, 'a', "(ssssbb)");
        if (r < 0)
                return r;

        list.m = answer;
        skill_registry_foreach(registry_get_skills(face->service->registry), registration_list_selection(session), append_skill, &list);
        r = list.r < 0 ? list.r : sd_bus_message_close_container(answer);
        return r < 0 ? r : sd_bus_send(NULL, answer, NULL);
}
BUS_METHOD(list)

static int handle_describe(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        Session *session;
        const char *name;
        int r;

        r = message_read(m, reterr, "s", &name);
        if (r >= 0)
                r = registration_list_session(face, caller, m, &session, reterr);
        if (r >= 0)
                r = service_describe_skill(face->service, session, name, &json, reterr);
        return r < 0 ? r : message_reply_json(m, json, reterr);
}
BUS_METHOD(describe)

typedef struct LoadOptions {
        const char *session;
        const char *receipt;
        const char *chosen_by;
} LoadOptions;

static const Option load_options[] = {
        OPTION("session", 'o', LoadOptions, session),
        OPTION("receipt", 's', LoadOptions, receipt),
        OPTION("chosen-by", 's', LoadOptions, chosen_by),
};

static int load_skill(Face *face, Caller *caller, sd_bus_message *m, char **ret_json, sd_bus_error *reterr) {
        LoadOptions options = {};
        Session *session = NULL;
        SkillLoad load = {};
        int r;

        r = message_read(m, reterr, "s", &load.name);
        if (r >= 0)
                r = options_read(m, load_options, G_N_ELEMENTS(load_options), &options, reterr);
        if (r >= 0 && options.session)
                r = face_find_session(face, caller, options.session, &session, reterr);
        if (r < 0)
                return r;
        if (options.chosen_by && strcmp(options.chosen_by, "model") != 0 && strcmp(options.chosen_by, "user") != 0)
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option 'chosen-by' is \"model\" or \"user\".");

        load.receipt = options.receipt;
        load.by_model = g_strcmp0(options.chosen_by, "model") == 0;
        return service_load_skill(face->service, session, &load, ret_json, reterr);
}

static int handle_load(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        int r;

        r = load_skill(face, caller, m, &json, reterr);
        return r < 0 ? r : message_reply_json(m, json, reterr);
}
BUS_METHOD(load)

static int handle_load_fd(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        _cleanup_close_ int fd = -EBADF;
        int r;

        r = memfd_check_room(reterr);
        if (r >= 0)
                r = load_skill(face, caller, m, &json, reterr);
        if (r < 0)
                return r;

        fd = memfd_seal("codewhale-skill", json, strlen(json));
        return fd < 0 ? fd : sd_bus_reply_method_return(m, "h", fd);
}
BUS_METHOD(load_fd)

static const sd_bus_vtable skills_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("List",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_RESULT("a(ssssbb)", skills),
                                method_list,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Describe",
                                SD_BUS_ARGS("s", name, "a{sv}", options),
                                SD_BUS_RESULT("s", skill),
                                method_describe,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Load",
                                SD_BUS_ARGS("s", name, "a{sv}", options),
                                SD_BUS_RESULT("s", skill),
                                method_load,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("LoadFd",
                                SD_BUS_ARGS("s", name, "a{sv}", options),
                                SD_BUS_RESULT("h", skill),
                                method_load_fd,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_NO_ARGS, 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_skills = {
        .path = PATH_ROOT,
        .name = INTERFACE_SKILLS,
        .vtable = skills_vtable,
};
