/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/errors.h"
#include "dbus/bus-act.h"
#include "dbus/bus-interfaces.h"
#include "dbus/channel.h"
#include "dbus/paths.h"

static int property_get_features(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Face *face = userdata;
        int r;

        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) reterr;

        r = sd_bus_message_open_container(reply, 'a', "s");
        if (r >= 0)
                r = sd_bus_message_append(reply, "s", "direct-channel");
        if (r >= 0 && face->service->config->extension_host)
                r = sd_bus_message_append(reply, "s", "native");
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int property_get_health(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Face *face = userdata;
        g_autofree char *health = service_health(face->service);

        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) reterr;

        return message_append_text(reply, health);
}

static int property_get_count(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Face *face = userdata;
        ServiceCounts counts = {};
        unsigned count;

        (void) bus;
        (void) path;
        (void) interface;
        (void) reterr;

        service_count(face->service, &counts);
        switch (property[0]) {
        case 'P':
                count = counts.plugins;
                break;
        case 'H':
                count = counts.hosts;
                break;
        default:
                count = property[1] == 'c' ? counts.active : counts.approvals;
        }
        return sd_bus_message_append(reply, "u", count);
}

static int property_get_version(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) userdata;
        (void) reterr;

        return sd_bus_message_append(reply, "s", PROJECT_VERSION);
}

static int handle_reload(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        BusAct *act;
        int r;

        r = bus_act_new(face, caller, m, &act, reterr);
        if (r < 0)
                return r;

        service_reload(face->service, bus_act_done, act);
        return 1;
}
BUS_METHOD(reload)

static int handle_describe(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = service_describe(face->service);

        (void) caller;

        return message_reply_json(m, json, reterr);
}
BUS_METHOD(describe)

static int handle_doctor(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        BusAct *act;
        int r;

        r = bus_act_new(face, caller, m, &act, reterr);
        if (r < 0)
                return r;

        r = service_doctor(face->service, bus_act_report, act, reterr);
        if (r < 0) {
                bus_act_withdraw(act);
                return r;
        }
        return 1;
}
BUS_METHOD(doctor)

static int handle_open_channel(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        r = channel_open(face->server, caller, &fd, reterr);
        if (r < 0)
                return r;

        return sd_bus_reply_method_return(m, "h", fd);
}
BUS_METHOD(open_channel)

static const sd_bus_vtable root_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Version", "s", property_get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Features", "as", property_get_features, 0, 0),
        SD_BUS_PROPERTY("Health", "s", property_get_health, 0, 0),
        SD_BUS_PROPERTY("PluginCount", "u", property_get_count, 0, 0),
        SD_BUS_PROPERTY("ActiveCount", "u", property_get_count, 0, 0),
        SD_BUS_PROPERTY("HostCount", "u", property_get_count, 0, 0),
        SD_BUS_PROPERTY("ApprovalCount", "u", property_get_count, 0, 0),
        SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_reload, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Describe",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("s", description),
                                method_describe,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Doctor",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("s", report),
                                method_doctor,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("OpenChannel",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("h", channel),
                                method_open_channel,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_root = {
        .path = PATH_ROOT,
        .name = INTERFACE_ROOT,
        .vtable = root_vtable,
};
