/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/limits.h"
#include "dbus/bus-interfaces.h"
#include "dbus/face.h"
#include "dbus/options.h"
#include "dbus/paths.h"

typedef struct SnapshotOptions {
        const char *session;
        const char *model;
        const char *cwd;
} SnapshotOptions;

static const Option snapshot_options[] = {
        OPTION("session", 'o', SnapshotOptions, session),
        OPTION("model", 's', SnapshotOptions, model),
        OPTION("cwd", 's', SnapshotOptions, cwd),
};

static int handle_snapshot(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        SnapshotOptions options = {};
        g_autofree char *json = NULL;
        Session *session;
        int r;

        r = options_read(m, snapshot_options, G_N_ELEMENTS(snapshot_options), &options, reterr);
        if (r >= 0)
                r = face_find_session(face, caller, options.session, &session, reterr);
        if (r < 0)
                return r;

        json = service_snapshot_prompt(face->service, session, options.model, options.cwd);
        return message_reply_json(m, json, reterr);
}
BUS_METHOD(snapshot)

static const sd_bus_vtable prompt_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Snapshot",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_RESULT("s", snapshot),
                                method_snapshot,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_ARGS("t", revision), 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_prompt = {
        .path = PATH_ROOT,
        .name = INTERFACE_PROMPT,
        .vtable = prompt_vtable,
};
