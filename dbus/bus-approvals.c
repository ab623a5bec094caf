/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/act-record.h"
#include "dbus/approval-answer.h"
#include "dbus/bus-interfaces.h"
#include "dbus/options.h"
#include "dbus/paths.h"

typedef struct RegisterOptions {
        const char *label;
} RegisterOptions;

static const Option register_options[] = {
        { "label", 's', offsetof(RegisterOptions, label), SESSION_LABEL_BYTES_MAX },
};

static int handle_register(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const Actor who = caller_actor(caller);
        RegisterOptions options = {};
        int r;

        r = options_read(m, register_options, G_N_ELEMENTS(register_options), &options, reterr);
        if (r < 0)
                return r;

        r = approval_table_register(face->service->approvals, &who, options.label, reterr);
        if (r < 0)
                return r;
        return message_reply_empty(m);
}
BUS_METHOD(register)

static int handle_unregister(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        (void) reterr;

        approval_table_unregister(face->service->approvals, caller_get_name(caller));
        return message_reply_empty(m);
}
BUS_METHOD(unregister)

typedef struct List {
        sd_bus_message *m;
        int r;
} List;

static void append_approval(Approval *approval, void *userdata) {
        g_autofree char *path = path_of_number(PATH_APPROVAL, approval_get_id(approval));
        List *list = userdata;

        if (list->r >= 0)
                list->r = sd_bus_message_append(list->m, "(to)", approval_get_id(approval), path);
}

static int handle_list(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) answer = NULL;
        List list = {};

        (void) caller;
        (void) reterr;

        list.r = sd_bus_message_new_method_return(m, &answer);
        if (list.r >= 0)
                list.r = sd_bus_message_open_container(answer, 'a', "(to)");
        list.m = answer;
        approval_table_foreach(face->service->approvals, append_approval, &list);
        if (list.r >= 0)
                list.r = sd_bus_message_close_container(answer);
        return list.r < 0 ? list.r : sd_bus_send(NULL, answer, NULL);
}
BUS_METHOD(list)

static void append_approver(const Approver *approver, void *userdata) {
        List *list = userdata;

        if (list->r >= 0)
                list->r = sd_bus_message_append(list->m, "(ssss)", approver->who.name, approver->who.exe ?: "",
                                                approver->who.unit ?: "", approver->label);
}

static int handle_list_approvers(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) answer = NULL;
        List list = {};

        (void) caller;
        (void) reterr;

        list.r = sd_bus_message_new_method_return(m, &answer);
        if (list.r >= 0)
                list.r = sd_bus_message_open_container(answer, 'a', "(ssss)");
        list.m = answer;
        approval_table_foreach_approver(face->service->approvals, append_approver, &list);
        if (list.r >= 0)
                list.r = sd_bus_message_close_container(answer);
        return list.r < 0 ? list.r : sd_bus_send(NULL, answer, NULL);
}
BUS_METHOD(list_approvers)

static int handle_describe(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        const Approval *approval;
        uint64_t id;
        int r;

        (void) caller;

        r = message_read(m, reterr, "t", &id);
        if (r < 0)
                return r;
        approval = approval_table_find(face->service->approvals, id);
        if (!approval)
                return errors_set(reterr, ERROR_NO_SUCH_APPROVAL, "There is no open card %" G_GUINT64_FORMAT ".", id);

        json = approval_to_json(approval);
        return message_reply_json(m, json, reterr);
}
BUS_METHOD(describe)

static int handle_answer(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        uint64_t id;
        int r;

        r = message_read(m, reterr, "t", &id);
        if (r < 0)
                return r;

        return approval_answer_call(face, caller, m, id, reterr);
}
BUS_METHOD(answer)

static const sd_bus_vtable approvals_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Register",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_NO_RESULT,
                                method_register,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Unregister",
                                SD_BUS_NO_ARGS,
                                SD_BUS_NO_RESULT,
                                method_unregister,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListApprovers",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("a(ssss)", approvers),
                                method_list_approvers,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("List",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("a(to)", approvals),
                                method_list,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Describe",
                                SD_BUS_ARGS("t", id),
                                SD_BUS_RESULT("s", card),
                                method_describe,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Answer",
                                SD_BUS_ARGS("t", id, "s", decision, "s", digest, "a{sv}", options),
                                SD_BUS_NO_RESULT,
                                method_answer,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Opened", SD_BUS_ARGS("t", id, "o", approval), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Closed", SD_BUS_ARGS("t", id, "s", outcome), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Raised", SD_BUS_ARGS("t", id), 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_approvals = {
        .path = PATH_ROOT,
        .name = INTERFACE_APPROVALS,
        .vtable = approvals_vtable,
};
