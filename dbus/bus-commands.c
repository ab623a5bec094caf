/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "dbus/bus-call.h"
#include "dbus/bus-interfaces.h"
#include "dbus/paths.h"
#include "dbus/registration-list.h"

static int append_command(sd_bus_message *m, const Registration *command) {
        g_autofree char *description = sanitize_line(command->description ?: "", LIST_TEXT_BYTES_MAX, NULL);
        g_autofree char *hint = sanitize_line(command->hint ?: "", COMMAND_HINT_BYTES_MAX, NULL);

        return sd_bus_message_append(m, "(ssss)", command->name, owner_get_plugin_id(command->owner), description, hint);
}

static int handle_list(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        Session *session;
        int r;

        r = registration_list_session(face, caller, m, &session, reterr);
        if (r < 0)
                return r;

        return registration_list_reply(face, m, session, REGISTRATION_COMMAND, "(ssss)", append_command);
}
BUS_METHOD(list)

static int run_command(Face *face, Caller *caller, sd_bus_message *m, BusCallForm form, sd_bus_error *reterr) {
        BusCallInput input = { .form = form, .command = true };
        int r;

        r = message_read(m, reterr, "ss", &input.name, &input.text);
        if (r < 0)
                return r;

        input.size = strlen(input.text);
        return bus_call_begin(face, caller, m, &input, reterr);
}

static int handle_run(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        return run_command(face, caller, m, BUS_CALL_STRING, reterr);
}
BUS_METHOD(run)

static int handle_start(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        return run_command(face, caller, m, BUS_CALL_REQUEST, reterr);
}
BUS_METHOD(start)

static const sd_bus_vtable commands_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("List",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_RESULT("a(ssss)", commands),
                                method_list,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Run",
                                SD_BUS_ARGS("s", name, "s", input, "a{sv}", options),
                                SD_BUS_RESULT("s", result),
                                method_run,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Start",
                                SD_BUS_ARGS("s", name, "s", input, "a{sv}", options),
                                SD_BUS_RESULT("o", request),
                                method_start,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_NO_ARGS, 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_commands = {
        .path = PATH_ROOT,
        .name = INTERFACE_COMMANDS,
        .vtable = commands_vtable,
};
