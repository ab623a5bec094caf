/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/bus-interfaces.h"
#include "dbus/options.h"
#include "dbus/paths.h"
#include "dbus/reply.h"
#include "dbus/server.h"
#include "service/policy-explain.h"
#include "service/policy-view.h"

/* A question that waits until the rules of a workspace were read. */
typedef struct Look {
        BusServer *server;
        Reply *reply;
        OverlayWait *wait;
        char *tool, *arguments, *from, *mode, *posture; /* @tool is NULL for Show */
        uint64_t session; /* its number; 0: none */
} Look;

void bus_policy_look_free(void *pointer) {
        Look *look = pointer;

        overlay_wait_free(look->wait);
        reply_free(look->reply);
        g_free(look->tool);
        g_free(look->arguments);
        g_free(look->from);
        g_free(look->mode);
        g_free(look->posture);
        g_free(look);
}

static int look_answer(const Look *look, Session *session, char **ret_json, sd_bus_error *reterr) {
        const ExplainRequest request = {
                .tool = look->tool,
                .arguments = look->arguments,
                .from = look->from,
                .session = session,
                .mode = look->mode,
                .posture = look->posture,
        };

        if (look->tool)
                return policy_explain(look->server->service, &request, ret_json, reterr);
        *ret_json = policy_view_write(look->server->service, session);
        return 0;
}

static void look_finish(Look *look, Session *session) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;

        if (look->session > 0 && !session)
                reply_fail(look->reply, ERROR_NO_SUCH_SESSION, "The session has ended.");
        else if (look_answer(look, session, &json, &error) < 0)
                reply_fail(look->reply, error.name ?: ERROR_IO, error.message);
        else if (strlen(json) > BUS_MESSAGE_BYTES_MAX)
                reply_fail(look->reply, ERROR_TOO_LARGE, "There are too many rules to show them in one message.");
        else
                reply_text(look->reply, json);
        g_ptr_array_remove_fast(look->server->looks, look);
}

static void look_go_on(void *userdata) {
        Look *look = userdata;
        Service *service = look->server->service;
        Session *session = look->session > 0 ? session_table_find(service->sessions, look->session) : NULL;

        look->wait = overlay_wait_free(look->wait);
        if (session)
                policy_view_wait(service, session, look_go_on, look, &look->wait);
        if (!look->wait)
                look_finish(look, session);
}

static int look_begin(Face *face, Caller *caller, sd_bus_message *m, Look *look, sd_bus_error *reterr) {
        int r = reply_new(caller, m, look->arguments ? strlen(look->arguments) : 0, &look->reply, reterr);

        if (r < 0) {
                bus_policy_look_free(look);
                return r;
        }
        look->server = face->server;
        g_ptr_array_add(face->server->looks, look);
        look_go_on(look);
        return 1;
}

void bus_policy_drop(BusServer *server, const Caller *caller) {
        for (size_t i = server->looks->len; i > 0; i--)
                if (!caller || reply_get_caller(((Look *) g_ptr_array_index(server->looks, i - 1))->reply) == caller)
                        g_ptr_array_remove_index_fast(server->looks, (unsigned) i - 1);
}

/* Anybody may look under which rules anybody's session stands: it is listed with posture and mode already. */
static int read_session(const Face *face, const char *path, uint64_t *ret, sd_bus_error *reterr) {
        if (!path)
                return 0;
        if (!path_to_number(path, PATH_SESSION, ret) || !session_table_find(face->service->sessions, *ret))
                return errors_set(reterr, ERROR_NO_SUCH_SESSION, "There is no session '%.128s'.", path);
        return 0;
}

typedef struct LookOptions {
        const char *session, *from, *mode, *posture;
} LookOptions;

static const Option show_options[] = {
        OPTION("session", 'o', LookOptions, session),
};

static int handle_show(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        LookOptions options = {};
        uint64_t session = 0;
        Look *look;
        int r;

        r = options_read(m, show_options, G_N_ELEMENTS(show_options), &options, reterr);
        if (r >= 0)
                r = read_session(face, options.session, &session, reterr);
        if (r < 0)
                return r;

        look = g_new0(Look, 1);
        look->session = session;
        return look_begin(face, caller, m, look, reterr);
}
BUS_METHOD(show)

static const Option explain_options[] = {
        OPTION("session", 'o', LookOptions, session),
        OPTION("from", 's', LookOptions, from),
        OPTION("mode", 's', LookOptions, mode),
        OPTION("posture", 's', LookOptions, posture),
};

static int handle_explain(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const char *tool, *arguments;
        LookOptions options = {};
        uint64_t session = 0;
        Look *look;
        int r;

        r = message_read(m, reterr, "ss", &tool, &arguments);
        if (r >= 0)
                r = options_read(m, explain_options, G_N_ELEMENTS(explain_options), &options, reterr);
        if (r >= 0)
                r = read_session(face, options.session, &session, reterr);
        if (r < 0)
                return r;
        if (strlen(arguments) > CALL_ARGUMENTS_BYTES_MAX || strlen(tool) > OPTION_TEXT_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "Arguments may have at most %zu bytes.", CALL_ARGUMENTS_BYTES_MAX);

        look = g_new0(Look, 1);
        *look = (Look) {
                .tool = g_strdup(tool),
                .arguments = g_strdup(arguments),
                .from = g_strdup(options.from),
                .mode = g_strdup(options.mode),
                .posture = g_strdup(options.posture),
                .session = session,
        };
        return look_begin(face, caller, m, look, reterr);
}
BUS_METHOD(explain)

typedef struct CheckOptions {
        const char *kind;
} CheckOptions;

static const Option check_options[] = {
        OPTION("kind", 's', CheckOptions, kind),
};

static int handle_check(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        CheckOptions options = { .kind = "permissions" };
        g_autofree char *json = NULL;
        const char *text;
        int r;

        (void) face;
        (void) caller;

        r = message_read(m, reterr, "s", &text);
        if (r >= 0)
                r = options_read(m, check_options, G_N_ELEMENTS(check_options), &options, reterr);
        if (r < 0)
                return r;
        if (strlen(text) > PERMISSIONS_FILE_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "A file of rules may have at most %zu bytes.", PERMISSIONS_FILE_BYTES_MAX);

        r = policy_check(options.kind, text, strlen(text), &json, reterr);
        return r < 0 ? r : message_reply_json(m, json, reterr);
}
BUS_METHOD(check)

static int property_get_problem(
                sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                void *userdata, sd_bus_error *reterr) {
        const Face *face = userdata;

        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) reterr;

        return message_append_text(reply, permissions_get_error(face->service->permissions));
}

static const sd_bus_vtable policy_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Problem", "s", property_get_problem, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_METHOD_WITH_ARGS("Show",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_RESULT("s", policy),
                                method_show,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Check",
                                SD_BUS_ARGS("s", text, "a{sv}", options),
                                SD_BUS_RESULT("s", report),
                                method_check,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Explain",
                                SD_BUS_ARGS("s", tool, "s", arguments, "a{sv}", options),
                                SD_BUS_RESULT("s", report),
                                method_explain,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_NO_ARGS, 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_policy = {
        .path = PATH_ROOT,
        .name = INTERFACE_POLICY,
        .vtable = policy_vtable,
};
