/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "dbus/bus-interfaces.h"
#include "dbus/face.h"
#include "dbus/paths.h"
#include "storage/record-store.h"

static int read_plugin(Face *face, sd_bus_message *m, Plugin **ret, sd_bus_error *reterr) {
        const char *word;
        int r;

        r = message_read(m, reterr, "s", &word);
        if (r < 0)
                return r;

        return face_find_plugin(face, word, ret, reterr);
}

static int read_record(Face *face, sd_bus_message *m, Plugin **ret, const char **ret_key, sd_bus_error *reterr) {
        const char *word;
        int r;

        r = message_read(m, reterr, "ss", &word, ret_key);
        if (r < 0)
                return r;

        return face_find_plugin(face, word, ret, reterr);
}

static int append_record(sd_bus_message *m, const RecordInfo *record) {
        int r;

        /* One whose key can't be told any more shows in Usage. */
        if (!record->key)
                return 0;

        r = sd_bus_message_open_container(m, 'r', "st");
        if (r >= 0)
                r = message_append_text(m, record->key);
        if (r >= 0)
                r = sd_bus_message_append(m, "t", (uint64_t) record->value_bytes);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int reply_records(sd_bus_message *m, const GPtrArray *records) {
        g_autoptr(sd_bus_message) answer = NULL;
        int r;

        r = sd_bus_message_new_method_return(m, &answer);
        if (r >= 0)
                r = sd_bus_message_open_container(answer, 'a', "(st)");
        for (size_t i = 0; r >= 0 && i < records->len; i++)
                r = append_record(answer, g_ptr_array_index(records, i));
        if (r >= 0)
                r = sd_bus_message_close_container(answer);
        return r < 0 ? r : sd_bus_send(NULL, answer, NULL);
}

static int handle_list(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autoptr(GPtrArray) records = NULL;
        Plugin *plugin;
        int r;

        (void) caller;

        r = read_plugin(face, m, &plugin, reterr);
        if (r >= 0)
                r = service_storage_list(face->service, plugin, &records, reterr);
        if (r < 0)
                return r;

        return reply_records(m, records);
}
BUS_METHOD(list)

static int handle_get(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        const char *key;
        Plugin *plugin;
        int r;

        (void) caller;

        r = read_record(face, m, &plugin, &key, reterr);
        if (r >= 0)
                r = service_storage_get(face->service, plugin, key, &json, reterr);
        if (r < 0)
                return r;

        return message_reply_json(m, json, reterr);
}
BUS_METHOD(get)

static int handle_delete(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        bool deleted = false;
        const char *key;
        Plugin *plugin;
        int r;

        (void) caller;

        r = read_record(face, m, &plugin, &key, reterr);
        if (r >= 0)
                r = service_storage_delete(face->service, plugin, key, &deleted, reterr);
        if (r < 0)
                return r;

        return sd_bus_reply_method_return(m, "b", (int) deleted);
}
BUS_METHOD(delete)

static int handle_repair(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        unsigned moved = 0;
        Plugin *plugin;
        int r;

        (void) caller;

        r = read_plugin(face, m, &plugin, reterr);
        if (r >= 0)
                r = service_storage_repair(face->service, plugin, &moved, reterr);
        return r < 0 ? r : sd_bus_reply_method_return(m, "u", moved);
}
BUS_METHOD(repair)

static int handle_usage(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        Plugin *plugin;
        int r;

        (void) caller;

        r = read_plugin(face, m, &plugin, reterr);
        if (r >= 0)
                r = service_storage_usage(face->service, plugin, &json, reterr);
        if (r < 0)
                return r;

        return message_reply_json(m, json, reterr);
}
BUS_METHOD(usage)

static const sd_bus_vtable storage_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("List",
                                SD_BUS_ARGS("s", plugin),
                                SD_BUS_RESULT("a(st)", keys),
                                method_list,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Get",
                                SD_BUS_ARGS("s", plugin, "s", key),
                                SD_BUS_RESULT("s", value),
                                method_get,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Delete",
                                SD_BUS_ARGS("s", plugin, "s", key),
                                SD_BUS_RESULT("b", deleted),
                                method_delete,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Repair",
                                SD_BUS_ARGS("s", plugin),
                                SD_BUS_RESULT("u", moved),
                                method_repair,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Usage",
                                SD_BUS_ARGS("s", plugin),
                                SD_BUS_RESULT("s", usage),
                                method_usage,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_storage = {
        .path = PATH_ROOT,
        .name = INTERFACE_STORAGE,
        .vtable = storage_vtable,
};
