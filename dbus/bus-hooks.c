/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "dbus/bus-interfaces.h"
#include "dbus/paths.h"
#include "dbus/registration-list.h"

static int append_hook(sd_bus_message *m, const Registration *hook) {
        g_autofree char *label = sanitize_line(hook->description ?: "", HOOK_LABEL_BYTES_MAX, NULL);

        return sd_bus_message_append(m, "(ssst)", hook->name, owner_get_plugin_id(hook->owner), label, hook->handle);
}

static int handle_list(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        Session *session;
        int r;

        r = registration_list_session(face, caller, m, &session, reterr);
        if (r < 0)
                return r;

        return registration_list_reply(face, m, session, REGISTRATION_HOOK, "(ssst)", append_hook);
}
BUS_METHOD(list)

static const sd_bus_vtable hooks_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("List",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_RESULT("a(ssst)", hooks),
                                method_list,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_NO_ARGS, 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_hooks = {
        .path = PATH_ROOT,
        .name = INTERFACE_HOOKS,
        .vtable = hooks_vtable,
};
