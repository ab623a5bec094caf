/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "service/core-desk.h"
#include "service/host-launch.h"
#include "service/service.h"
#include "storage/record-store.h"

/* The service in JSON and in one line, and what its plugins stored: for people and programs that look. */

void service_count(const Service *service, ServiceCounts *ret) {
        *ret = (ServiceCounts) {
                .plugins = (unsigned) plugin_set_count(service->plugins),
                .hosts = host_table_count_running(service->hosts),
                .approvals = approval_table_count(service->approvals),
        };
        for (size_t i = 0; i < plugin_set_count(service->plugins); i++)
                ret->active += plugin_get_label(plugin_set_get(service->plugins, i)) == PLUGIN_ACTIVE;
}

char *service_health(const Service *service) {
        const Diagnostic *error = diagnostics_first_error(plugin_set_get_diagnostics(service->plugins));

        if (service->config->error)
                return g_strdup(service->config->error);
        if (permissions_get_error(service->permissions))
                return g_strdup(permissions_get_error(service->permissions));
        if (!service->decisions)
                return g_strdup_printf("Decisions can't be recorded in %s, so no call runs.",
                                       codewhale_home_get_path(service->home, HOME_DECISIONS));
        if (service->manager_lost)
                return g_strdup_printf("systemd's manager can't be reached: %s", service->manager_lost);
        if (error)
                return g_strdup_printf("%s: %s", diagnostic_code_to_string(error->code), error->message);
        if (!service->config->extension_host)
                return g_strdup("Native extensions are off: set extension_host = true under [features] in config.toml.");
        return g_strdup("ok");
}

char *service_describe(const Service *service) {
        g_autofree char *health = service_health(service);
        g_auto(JWriter) writer = {};
        ServiceCounts counts;

        service_count(service, &counts);
        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "version", PROJECT_VERSION);
        jwriter_member_string(&writer, "health", health);
        jwriter_member_string(&writer, "home", codewhale_home_get_path(service->home, HOME_ROOT));
        jwriter_member_boolean(&writer, "extension_host", service->config->extension_host);
        jwriter_member_string(&writer, "posture", posture_to_string(service->config->posture));
        jwriter_member_uint(&writer, "plugins", counts.plugins);
        jwriter_member_uint(&writer, "active", counts.active);
        jwriter_member_uint(&writer, "hosts", counts.hosts);
        jwriter_member_uint(&writer, "approvals", counts.approvals);
        jwriter_member_uint(&writer, "calls", service->invocations->len);
        jwriter_member_uint(&writer, "tickets", core_desk_count_tickets(service->core_desk));
        jwriter_member_uint(&writer, "tools", registry_count(service->registry, REGISTRATION_TOOL, NULL));
        jwriter_member_uint(&writer, "commands", registry_count(service->registry, REGISTRATION_COMMAND, NULL));
        jwriter_member_uint(&writer, "hooks", registry_count(service->registry, REGISTRATION_HOOK, NULL));
        jwriter_key(&writer, "runtime");
        runtime_selector_describe(service->runtime, &writer);
        jwriter_key(&writer, "diagnostics");
        diagnostics_write(plugin_set_get_diagnostics(service->plugins), &writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

typedef struct NameList {
        JWriter *writer;
        const Plugin *plugin;
} NameList;

static void write_name(Registration *registration, void *userdata) {
        NameList *list = userdata;

        if (owner_get_plugin(registration->owner) == list->plugin)
                jwriter_string(list->writer, registration->name);
}

static void write_registrations(const Service *service, const Plugin *plugin, JWriter *writer) {
        static const struct {
                const char *key;
                RegistrationKind kind;
        } kinds[] = {
                { "tools", REGISTRATION_TOOL }, { "commands", REGISTRATION_COMMAND }, { "hooks", REGISTRATION_HOOK },
        };
        NameList list = { writer, plugin };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                jwriter_key(writer, kinds[i].key);
                jwriter_begin_array(writer);
                registry_foreach(service->registry, kinds[i].kind, write_name, &list);
                jwriter_end_array(writer);
        }
}

char *service_describe_plugin(const Service *service, Plugin *plugin) {
        const Host *host = host_table_find(service->hosts, plugin);
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_key(&writer, "plugin");
        plugin_describe(plugin, &writer);
        jwriter_key(&writer, "host");
        jwriter_begin_object(&writer);
        if (host)
                host_write(host, &writer);
        else
                jwriter_member_string(&writer, "state", host_state_to_string(HOST_DISABLED));
        jwriter_end_object(&writer);
        write_registrations(service, plugin, &writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

/* ---- storage ---- */

static int storage_refuse(int r, const char *what, sd_bus_error *reterr) {
        const char *name = r == -EINVAL ? ERROR_INVALID_ARGUMENTS : r == -EBADMSG ? ERROR_CORRUPT : ERROR_IO;

        return errors_set(reterr, name, "%s: %s.", what,
                          r == -EBADMSG ? "the record is damaged; delete it to recover" : g_strerror(-r));
}

static int storage_open(Service *service, Plugin *plugin, RecordStore **ret, sd_bus_error *reterr) {
        _cleanup_close_ int directory = host_data_open(service->home, plugin);
        int r = directory < 0 ? directory : record_store_open(directory, ret);

        return r < 0 ? storage_refuse(r, "The plugin's storage can't be opened", reterr) : 0;
}

int service_storage_list(Service *service, Plugin *plugin, GPtrArray **ret, sd_bus_error *reterr) {
        g_autoptr(RecordStore) store = NULL;
        int r = storage_open(service, plugin, &store, reterr);

        if (r < 0)
                return r;
        r = record_store_list(store, ret);
        return r < 0 ? storage_refuse(r, "The plugin's storage can't be listed", reterr) : 0;
}

int service_storage_get(Service *service, Plugin *plugin, const char *key, char **ret_json, sd_bus_error *reterr) {
        g_autoptr(RecordStore) store = NULL;
        size_t size;
        int r = storage_open(service, plugin, &store, reterr);

        if (r < 0)
                return r;
        r = record_store_get(store, key, strlen(key), ret_json, &size, NULL);
        if (r == 0)
                return errors_set(reterr, ERROR_NO_SUCH_KEY, "%s has stored nothing under '%s'.", plugin_get_name(plugin), key);
        return r < 0 ? storage_refuse(r, "The record can't be read", reterr) : 0;
}

int service_storage_delete(Service *service, Plugin *plugin, const char *key, bool *ret_deleted, sd_bus_error *reterr) {
        g_autoptr(RecordStore) store = NULL;
        int r = storage_open(service, plugin, &store, reterr);

        if (r < 0)
                return r;
        r = record_store_delete(store, key, strlen(key));
        if (r < 0)
                return storage_refuse(r, "The record can't be deleted", reterr);
        *ret_deleted = r > 0;
        return 0;
}

int service_storage_repair(Service *service, Plugin *plugin, unsigned *ret_moved, sd_bus_error *reterr) {
        g_autoptr(RecordStore) store = NULL;
        int r = storage_open(service, plugin, &store, reterr);

        if (r < 0)
                return r;
        r = record_store_repair(store);
        if (r < 0)
                return storage_refuse(r, "The damaged records can't be moved", reterr);
        *ret_moved = (unsigned) r;
        return 0;
}

int service_storage_usage(Service *service, Plugin *plugin, char **ret_json, sd_bus_error *reterr) {
        g_autoptr(RecordStore) store = NULL;
        g_autoptr(GPtrArray) records = NULL;
        g_auto(JWriter) writer = {};
        RecordUsage usage;
        int r = storage_open(service, plugin, &store, reterr);

        if (r < 0)
                return r;
        r = record_store_usage(store, &usage);
        if (r >= 0)
                r = record_store_list(store, &records);
        if (r < 0)
                return storage_refuse(r, "The plugin's storage can't be read", reterr);

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "keys", usage.keys);
        jwriter_member_uint(&writer, "bytes", usage.value_bytes);
        jwriter_member_uint(&writer, "keys_max", usage.keys_max);
        jwriter_member_uint(&writer, "bytes_max", usage.bytes_max);
        jwriter_key(&writer, "damaged");
        jwriter_begin_array(&writer);
        for (size_t i = 0; i < records->len; i++) {
                const RecordInfo *record = g_ptr_array_index(records, i);

                if (record->corrupt)
                        jwriter_string(&writer, record->file);
        }
        jwriter_end_array(&writer);
        jwriter_end_object(&writer);
        *ret_json = jwriter_steal(&writer, NULL);
        return 0;
}
