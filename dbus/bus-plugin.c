/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "dbus/bus-interfaces.h"
#include "dbus/face.h"
#include "dbus/paths.h"
#include "dbus/plugin-facts.h"
#include "dbus/plugin-numbers.h"

/* Ids only: the object of a plugin does not move when another one takes its name. */
static Plugin *plugin_of_path(const Service *service, const char *path) {
        g_autofree char *id = path_to_plugin(path);

        for (size_t i = 0; id && i < plugin_set_count(service->plugins); i++) {
                Plugin *plugin = plugin_set_get(service->plugins, i);

                if (strcmp(plugin_get_id(plugin), id) == 0)
                        return plugin;
        }
        return NULL;
}

static int plugin_find_object(
                sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found, sd_bus_error *reterr) {
        Face *face = userdata;
        g_autofree char *id = path_to_plugin(path);

        (void) bus;
        (void) interface;

        if (!id)
                return 0;
        if (!plugin_of_path(face->service, path))
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "There is no plugin '%s'.", id);

        *ret_found = face;
        return 1;
}

static int plugin_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret, sd_bus_error *reterr) {
        const Face *face = userdata;
        size_t n = plugin_set_count(face->service->plugins);
        char **paths = g_new0(char *, n + 1);

        (void) bus;
        (void) prefix;
        (void) reterr;

        for (size_t i = 0; i < n; i++)
                paths[i] = path_of_plugin(plugin_get_id(plugin_set_get(face->service->plugins, i)));

        *ret = paths;
        return 0;
}

static int property_get_fact(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Face *face = userdata;
        Plugin *plugin = plugin_of_path(face->service, path);

        (void) bus;
        (void) interface;

        if (!plugin)
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "The plugin is gone.");

        return plugin_fact_append(plugin_fact_find(property), face->service, plugin, reply);
}

/* What a writer of the host makes, or {} while there is no host. */
static char *host_json(const Service *service, const Plugin *plugin, void (*write)(const Host *, JWriter *)) {
        const Host *host = host_table_find(service->hosts, plugin);
        g_auto(JWriter) writer = {};

        if (!host)
                return g_strdup("{}");

        jwriter_init(&writer);
        write(host, &writer);
        return jwriter_steal(&writer, NULL);
}

static int property_get_limits(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Face *face = userdata;
        Plugin *plugin = plugin_of_path(face->service, path);
        g_autofree char *json = NULL;

        (void) bus;
        (void) interface;
        (void) property;

        if (!plugin)
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "The plugin is gone.");

        json = host_json(face->service, plugin, host_write_limits);
        return message_append_text(reply, json);
}

static int property_get_number(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Face *face = userdata;
        Plugin *plugin = plugin_of_path(face->service, path);

        (void) bus;
        (void) interface;

        if (!plugin)
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "The plugin is gone.");

        return plugin_number_append(property, face->service, plugin, reply);
}

typedef struct TextList {
        sd_bus_message *m;
        int r;
} TextList;

static void append_text(const char *text, void *userdata) {
        TextList *list = userdata;

        if (list->r >= 0)
                list->r = message_append_text(list->m, text);
}

static void append_diagnostics(const Diagnostics *diagnostics, TextList *list) {
        for (size_t i = 0; diagnostics && i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *diagnostic = diagnostics_get(diagnostics, i);
                g_autofree char *text = NULL;

                text = g_strconcat(diagnostic_code_to_string(diagnostic->code), ": ", diagnostic->message,
                                diagnostic->path ? " (" : NULL, diagnostic->path, ")", NULL);
                append_text(text, list);
        }
}

static int property_get_diagnostics(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Face *face = userdata;
        Plugin *plugin = plugin_of_path(face->service, path);
        TextList list = { .m = reply };
        const Host *host;

        (void) bus;
        (void) interface;
        (void) property;

        if (!plugin)
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "The plugin is gone.");

        list.r = sd_bus_message_open_container(reply, 'a', "s");
        append_diagnostics(plugin_get_diagnostics(plugin), &list);
        host = host_table_find(face->service->hosts, plugin);
        if (host)
                host_foreach_diagnostic(host, append_text, &list);
        return list.r < 0 ? list.r : sd_bus_message_close_container(reply);
}

static int handle_describe(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        Plugin *plugin = plugin_of_path(face->service, sd_bus_message_get_path(m));
        g_autofree char *json = NULL;

        (void) caller;

        if (!plugin)
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "The plugin is gone.");

        json = service_describe_plugin(face->service, plugin);
        return message_reply_json(m, json, reterr);
}
BUS_METHOD(describe)

static int handle_usage(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        Plugin *plugin = plugin_of_path(face->service, sd_bus_message_get_path(m));
        g_autofree char *json = NULL;

        (void) caller;

        if (!plugin)
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "The plugin is gone.");

        json = host_json(face->service, plugin, host_write_usage);
        return message_reply_json(m, json, reterr);
}
BUS_METHOD(usage)

#define CONST_FACT(name) SD_BUS_PROPERTY(name, "s", property_get_fact, 0, SD_BUS_VTABLE_PROPERTY_CONST)
#define NUMBER(name) SD_BUS_PROPERTY(name, "t", property_get_number, 0, 0)
#define FACT(name, type) SD_BUS_PROPERTY(name, type, property_get_fact, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)

static const sd_bus_vtable plugin_vtable[] = {
        SD_BUS_VTABLE_START(0),
        CONST_FACT("Id"),
        CONST_FACT("Name"),
        CONST_FACT("Scope"),
        CONST_FACT("Root"),
        FACT("Version", "s"),
        FACT("State", "s"),
        FACT("Trust", "s"),
        FACT("Enabled", "b"),
        FACT("Generation", "t"),
        FACT("ContentHash", "s"),
        FACT("CapabilityHash", "s"),
        FACT("HostState", "s"),
        FACT("Activation", "s"),
        FACT("Failure", "s"),
        FACT("Unit", "s"),
        FACT("Sandbox", "s"),
        FACT("Lock", "s"),
        SD_BUS_PROPERTY("Limits", "s", property_get_limits, 0, 0),
        NUMBER("MemoryCurrent"),
        NUMBER("MemoryMax"),
        NUMBER("TasksCurrent"),
        NUMBER("TasksMax"),
        NUMBER("CPUUsageUSec"),
        NUMBER("SinceUSec"),
        NUMBER("Calls"),
        NUMBER("Failures"),
        NUMBER("Pending"),
        SD_BUS_PROPERTY("Diagnostics", "as", property_get_diagnostics, 0, 0),
        SD_BUS_METHOD_WITH_ARGS("Describe",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("s", description),
                                method_describe,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Usage",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("s", usage),
                                method_usage,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_plugin = {
        .path = PATH_PLUGIN,
        .name = INTERFACE_PLUGIN,
        .vtable = plugin_vtable,
        .find = plugin_find_object,
        .enumerate = plugin_enumerate,
};
