/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "dbus/bus-call.h"
#include "dbus/bus-interfaces.h"
#include "dbus/memfd.h"
#include "dbus/paths.h"
#include "dbus/registration-list.h"
#include "service/selection-view.h"

/* ---- looking ---- */

static int append_tool(sd_bus_message *m, const Registration *tool) {
        g_autofree char *description = sanitize_line(tool->description ?: "", LIST_TEXT_BYTES_MAX, NULL);

        return sd_bus_message_append(m, "(sss)", tool->name, owner_get_plugin_id(tool->owner), description);
}

static int handle_list(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        Session *session;
        int r;

        r = registration_list_session(face, caller, m, &session, reterr);
        if (r < 0)
                return r;

        return registration_list_reply(face, m, session, REGISTRATION_TOOL, "(sss)", append_tool);
}
BUS_METHOD(list)

static char *tool_to_json(const Registration *tool) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "name", tool->name);
        jwriter_member_string(&writer, "plugin", owner_get_plugin_id(tool->owner));
        jwriter_member_string(&writer, "description", tool->description);
        jwriter_member_raw(&writer, "input_schema", tool->schema_text ?: "{}");
        /* A plugin's tool always needs approval, whatever it says of itself (contract 5.4). */
        jwriter_member_string(&writer, "approval", requirement_to_string(REQUIREMENT_REQUIRED));
        /* Nor is it taken for one that only reads or that may run beside others (4.1). */
        jwriter_member_boolean(&writer, "read_only", false);
        jwriter_member_boolean(&writer, "parallel", false);
        jwriter_member_string(&writer, "loading", "deferred");
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

static int handle_describe(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        Registration *tool;
        Session *session;
        const char *name;
        int r;

        r = message_read(m, reterr, "s", &name);
        if (r >= 0)
                r = registration_list_session(face, caller, m, &session, reterr);
        if (r < 0)
                return r;

        r = selection_find(registration_list_selection(session), face->service->registry, REGISTRATION_TOOL, name, &tool, reterr);
        if (r == -ENODATA)
                return errors_set(reterr, ERROR_NO_SUCH_TOOL, "There is no tool '%.128s'.", name);
        if (r < 0)
                return r;

        json = tool_to_json(tool);
        return message_reply_json(m, json, reterr);
}
BUS_METHOD(describe)

/* ---- judging ---- */

static char *verdict_to_json(bool schema_ok, bool judged, bool valid, const char *reason) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_boolean(&writer, "schema_ok", schema_ok);
        if (judged)
                jwriter_member_boolean(&writer, "valid", valid);
        if (reason)
                jwriter_member_string(&writer, "reason", reason);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

static char *check_instance(const Schema *schema, const char *text) {
        g_autofree char *reason = NULL;
        g_autoptr(Jdoc) doc = NULL;
        JdocError error = {};
        bool valid;

        if (jdoc_parse(text, strlen(text), NULL, &doc, &error) < 0) {
                reason = g_strdup_printf("no strict JSON: %s at line %zu, column %zu", error.message, error.line, error.column);
                return verdict_to_json(true, true, false, reason);
        }
        valid = schema_validate(schema, jdoc_root(doc)) == SCHEMA_VALID;
        reason = valid ? NULL : schema_explain(schema, jdoc_root(doc));
        return verdict_to_json(true, true, valid, reason);
}

static int handle_check_schema(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_auto(sd_bus_error) why = SD_BUS_ERROR_NULL;
        g_autoptr(Schema) schema = NULL;
        const char *text, *instance;
        g_autofree char *json = NULL;
        int r;

        (void) face;
        (void) caller;

        r = message_read(m, reterr, "ss", &text, &instance);
        if (r < 0)
                return r;
        if (strlen(text) > BUS_MESSAGE_BYTES_MAX || strlen(instance) > BUS_MESSAGE_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "A schema or an instance may have at most %zu bytes here.",
                                  BUS_MESSAGE_BYTES_MAX);

        if (registration_compile_schema(text, strlen(text), &schema, &why) < 0)
                json = verdict_to_json(false, false, false, why.message);
        else
                json = instance[0] ? check_instance(schema, instance) : verdict_to_json(true, false, false, NULL);
        return message_reply_json(m, json, reterr);
}
BUS_METHOD(check_schema)

/* ---- calling ---- */

static int call_with_text(Face *face, Caller *caller, sd_bus_message *m, BusCallForm form, sd_bus_error *reterr) {
        BusCallInput input = { .form = form };
        int r;

        r = message_read(m, reterr, "ss", &input.name, &input.text);
        if (r < 0)
                return r;

        input.size = strlen(input.text);
        return bus_call_begin(face, caller, m, &input, reterr);
}

static int handle_call(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        return call_with_text(face, caller, m, BUS_CALL_STRING, reterr);
}
BUS_METHOD(call)

static int handle_start(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        return call_with_text(face, caller, m, BUS_CALL_REQUEST, reterr);
}
BUS_METHOD(start)

static int handle_call_bytes(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        BusCallInput input = { .form = BUS_CALL_BYTES };
        const void *data;
        int r;

        r = message_read(m, reterr, "s", &input.name);
        if (r < 0)
                return r;
        r = sd_bus_message_read_array(m, 'y', &data, &input.size);
        if (r < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The arguments can't be read.");

        input.text = input.size > 0 ? data : "";
        return bus_call_begin(face, caller, m, &input, reterr);
}
BUS_METHOD(call_bytes)

static int handle_call_fd(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_auto(MemfdView) view = {};
        BusCallInput input = { .form = BUS_CALL_FD };
        int fd, r;

        r = message_read(m, reterr, "sh", &input.name, &fd);
        if (r >= 0)
                r = memfd_check_room(reterr);
        if (r >= 0)
                r = memfd_map(fd, &view, reterr);
        if (r < 0)
                return r;

        input.text = view.data ?: "";
        input.size = view.size;
        return bus_call_begin(face, caller, m, &input, reterr);
}
BUS_METHOD(call_fd)

static const sd_bus_vtable tools_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("List",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_RESULT("a(sss)", tools),
                                method_list,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Describe",
                                SD_BUS_ARGS("s", name, "a{sv}", options),
                                SD_BUS_RESULT("s", tool),
                                method_describe,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Call",
                                SD_BUS_ARGS("s", name, "s", arguments, "a{sv}", options),
                                SD_BUS_RESULT("s", result),
                                method_call,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("CallBytes",
                                SD_BUS_ARGS("s", name, "ay", arguments, "a{sv}", options),
                                SD_BUS_RESULT("ay", result),
                                method_call_bytes,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("CallFd",
                                SD_BUS_ARGS("s", name, "h", arguments, "a{sv}", options),
                                SD_BUS_RESULT("h", result),
                                method_call_fd,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Start",
                                SD_BUS_ARGS("s", name, "s", arguments, "a{sv}", options),
                                SD_BUS_RESULT("o", request),
                                method_start,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("CheckSchema",
                                SD_BUS_ARGS("s", schema, "s", instance),
                                SD_BUS_RESULT("s", result),
                                method_check_schema,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_NO_ARGS, 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_tools = {
        .path = PATH_ROOT,
        .name = INTERFACE_TOOLS,
        .vtable = tools_vtable,
};
