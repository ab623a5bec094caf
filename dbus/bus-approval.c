/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/errors.h"
#include "dbus/approval-answer.h"
#include "dbus/bus-interfaces.h"
#include "dbus/memfd.h"
#include "dbus/paths.h"

static Approval *approval_of_path(const Face *face, const char *path) {
        uint64_t id;

        return path_to_number(path, PATH_APPROVAL, &id) ? approval_table_find(face->service->approvals, id) : NULL;
}

static int gone(sd_bus_error *reterr) {
        return errors_set(reterr, ERROR_NO_SUCH_APPROVAL, "There is no such card; it may be decided.");
}

static int approval_find_object(
                sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found, sd_bus_error *reterr) {
        uint64_t id;

        (void) bus;
        (void) interface;

        if (!path_to_number(path, PATH_APPROVAL, &id))
                return 0;
        if (!approval_of_path(userdata, path))
                return gone(reterr);

        *ret_found = userdata;
        return 1;
}

static void add_path(Approval *approval, void *userdata) {
        g_ptr_array_add(userdata, path_of_number(PATH_APPROVAL, approval_get_id(approval)));
}

static int approval_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret, sd_bus_error *reterr) {
        const Face *face = userdata;
        GPtrArray *paths = g_ptr_array_new();

        (void) bus;
        (void) prefix;
        (void) reterr;

        approval_table_foreach(face->service->approvals, add_path, paths);
        g_ptr_array_add(paths, NULL);
        *ret = (char **) g_ptr_array_free(paths, FALSE);
        return 0;
}

static int property_get_id(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Approval *approval = approval_of_path(userdata, path);

        (void) bus;
        (void) interface;
        (void) property;

        return approval ? sd_bus_message_append(reply, "t", approval_get_id(approval)) : gone(reterr);
}

static int property_get_text(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Approval *approval = approval_of_path(userdata, path);

        (void) bus;
        (void) interface;

        if (!approval)
                return gone(reterr);

        switch (property[0]) {
        case 'K':
                return message_append_text(reply, approval_get_kind(approval));
        case 'T':
                return message_append_text(reply, approval_get_title(approval));
        default:
                return message_append_text(reply, approval_get_digest(approval));
        }
}

static int property_get_card(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Approval *approval = approval_of_path(userdata, path);
        g_autofree char *json = approval ? approval_to_json(approval) : NULL;

        (void) bus;
        (void) interface;
        (void) property;

        return json ? message_append_text(reply, json) : gone(reterr);
}

static int handle_answer(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        uint64_t id;

        if (!path_to_number(sd_bus_message_get_path(m), PATH_APPROVAL, &id))
                return gone(reterr);

        return approval_answer_call(face, caller, m, id, reterr);
}
BUS_METHOD(answer)

static int handle_open_arguments(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const Approval *approval = approval_of_path(face, sd_bus_message_get_path(m));
        _cleanup_close_ int fd = -EBADF;
        const char *arguments;
        size_t size;
        int r;

        (void) caller;

        if (!approval)
                return gone(reterr);
        r = memfd_check_room(reterr);
        if (r < 0)
                return r;

        arguments = approval_get_arguments(approval, &size);
        fd = memfd_seal("codewhale-arguments", arguments ?: "", arguments ? size : 0);
        return fd < 0 ? fd : sd_bus_reply_method_return(m, "h", fd);
}
BUS_METHOD(open_arguments)

static const sd_bus_vtable approval_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Id", "t", property_get_id, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Kind", "s", property_get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Title", "s", property_get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Digest", "s", property_get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        /* Not in GetAll and GetManagedObjects: a thousand open cards would make a message of many megabytes. */
        SD_BUS_PROPERTY("Card", "s", property_get_card, 0, SD_BUS_VTABLE_PROPERTY_CONST | SD_BUS_VTABLE_PROPERTY_EXPLICIT),
        SD_BUS_METHOD_WITH_ARGS("Answer",
                                SD_BUS_ARGS("s", decision, "s", digest, "a{sv}", options),
                                SD_BUS_NO_RESULT,
                                method_answer,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("OpenArguments",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("h", arguments),
                                method_open_arguments,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_approval = {
        .path = PATH_APPROVAL,
        .name = INTERFACE_APPROVAL,
        .vtable = approval_vtable,
        .find = approval_find_object,
        .enumerate = approval_enumerate,
};
