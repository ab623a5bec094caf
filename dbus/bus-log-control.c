/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/log.h"
#include "dbus/bus-interfaces.h"
#include "dbus/face.h"
#include "dbus/paths.h"

/* org.freedesktop.LogControl1: what `systemctl service-log-level` and `service-log-target` use. */

static int property_get_level(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) userdata;
        (void) reterr;

        return sd_bus_message_append(reply, "s", log_level_to_string(log_get_level()));
}

static int property_set_level(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *value,
                void *userdata, sd_bus_error *reterr) {
        const char *word;
        int level, r;

        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) userdata;

        r = message_read(value, reterr, "s", &word);
        if (r < 0)
                return r;
        level = log_level_from_string(word);
        if (level < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "There is no log level '%.64s'.", word);

        log_set_level(level);
        return 0;
}

static int property_get_target(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) userdata;
        (void) reterr;

        return sd_bus_message_append(reply, "s", log_target_to_string(log_get_target()));
}

static int property_set_target(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *value,
                void *userdata, sd_bus_error *reterr) {
        const char *word;
        LogTarget target;
        int r;

        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) userdata;

        r = message_read(value, reterr, "s", &word);
        if (r < 0)
                return r;
        target = log_target_from_string(word);
        if (target < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "There is no log target '%.64s'.", word);

        log_set_target(target);
        return 0;
}

static int property_get_identifier(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) userdata;
        (void) reterr;

        return sd_bus_message_append(reply, "s", program_invocation_short_name);
}

static const sd_bus_vtable log_control_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", property_get_level, property_set_level, 0, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_WRITABLE_PROPERTY("LogTarget", "s", property_get_target, property_set_target, 0, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("SyslogIdentifier", "s", property_get_identifier, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_VTABLE_END,
};

/* The path that systemctl asks at. */
const BusInterface bus_log_control = {
        .path = PATH_LOG_CONTROL,
        .name = INTERFACE_LOG_CONTROL,
        .vtable = log_control_vtable,
};

/* And beside everything else, where a person looks. */
const BusInterface bus_log_control_root = {
        .path = PATH_ROOT,
        .name = INTERFACE_LOG_CONTROL,
        .vtable = log_control_vtable,
};
