/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "dbus/bus-act.h"
#include "dbus/bus-interfaces.h"
#include "dbus/bus-job.h"
#include "dbus/client-workspace.h"
#include "dbus/options.h"
#include "dbus/paths.h"
#include "dbus/personal.h"
#include "dbus/plugin-jobs.h"
#include "dbus/server.h"

/* ---- looking ---- */

typedef struct ListOptions {
        const char *workspace;
} ListOptions;

static const Option list_options[] = {
        OPTION("workspace", 's', ListOptions, workspace),
};

static int append_plugin(sd_bus_message *m, const Plugin *plugin) {
        g_autofree char *path = path_of_plugin(plugin_get_id(plugin));
        int r = sd_bus_message_open_container(m, 'r', "sosss");

        if (r >= 0)
                r = sd_bus_message_append(m, "so", plugin_get_id(plugin), path);
        if (r >= 0)
                r = message_append_text(m, plugin_get_name(plugin));
        if (r >= 0)
                r = message_append_text(m, plugin_get_version(plugin));
        if (r >= 0)
                r = sd_bus_message_append(m, "s", plugin_label_to_string(plugin_get_label(plugin)));
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_plugins(sd_bus_message *answer, const PluginSet *plugins) {
        int r = sd_bus_message_open_container(answer, 'a', "(sosss)");

        for (size_t i = 0; r >= 0 && i < plugin_set_count(plugins); i++)
                r = append_plugin(answer, plugin_set_get(plugins, i));
        return r < 0 ? r : sd_bus_message_close_container(answer);
}

static int list_now(Face *face, sd_bus_message *m) {
        g_autoptr(sd_bus_message) answer = NULL;
        int r;

        r = sd_bus_message_new_method_return(m, &answer);
        if (r >= 0)
                r = append_plugins(answer, face->service->plugins);
        return r < 0 ? r : sd_bus_send(NULL, answer, NULL);
}

static void on_workspace_read(PluginJob *plugin_job, int r, const sd_bus_error *error, void *userdata) {
        g_autoptr(sd_bus_message) answer = NULL;
        BusJob *job = userdata;

        (void) plugin_job;
        if (r >= 0)
                r = reply_begin(job->reply, &answer);
        if (r >= 0)
                r = append_plugins(answer, job->server->service->plugins);
        bus_job_finish_with(job, r, error, answer);
}

static int list_after_reading(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        BusJob *job;
        int r;

        r = bus_job_new(face, caller, m, NULL, &job, reterr);
        if (r < 0)
                return r;

        bus_job_run(job, plugin_job_reload(face->service->plugins, face->service->event, on_workspace_read, job));
        return 1;
}

static int handle_list(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        ListOptions options = {};
        int r;

        r = options_read(m, list_options, G_N_ELEMENTS(list_options), &options, reterr);
        if (r < 0)
                return r;
        if (options.workspace) {
                r = client_workspace_keep(face->server, caller, options.workspace, reterr);
                if (r < 0)
                        return r;
                if (r > 0)
                        return list_after_reading(face, caller, m, reterr);
        }

        return list_now(face, m);
}
BUS_METHOD(list)

/* Most methods begin by naming a plugin. */
static int read_plugin(Face *face, sd_bus_message *m, Plugin **ret, sd_bus_error *reterr) {
        const char *word;
        int r;

        r = message_read(m, reterr, "s", &word);
        if (r < 0)
                return r;

        return face_find_plugin(face, word, ret, reterr);
}

static int read_plugin_alone(Face *face, sd_bus_message *m, Plugin **ret, sd_bus_error *reterr) {
        int r = read_plugin(face, m, ret, reterr);

        return r < 0 ? r : options_read_none(m, reterr);
}

static int handle_describe(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        Plugin *plugin;
        int r;

        (void) caller;

        r = read_plugin(face, m, &plugin, reterr);
        if (r < 0)
                return r;

        json = service_describe_plugin(face->service, plugin);
        return message_reply_json(m, json, reterr);
}
BUS_METHOD(describe)

/* ---- what takes a while (plugin-jobs.c) ---- */

#define JOB_METHOD(verb)                                                                                \
        static int method_##verb(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {             \
                return face_dispatch(userdata, m, plugin_jobs_##verb, reterr);                          \
        }
JOB_METHOD(validate)
JOB_METHOD(preview)
JOB_METHOD(review)
JOB_METHOD(install)
JOB_METHOD(update)

/* ---- changing ---- */

typedef struct ActOptions {
        const char *handle_token;
} ActOptions;

static const Option act_options[] = {
        OPTION("handle-token", 's', ActOptions, handle_token),
};

/* Begins an act, with a request object where there is a token for one. */
static int new_act(Face *face, Caller *caller, sd_bus_message *m, const ActOptions *options, BusAct **ret, sd_bus_error *reterr) {
        BusAct *act;
        int r;

        r = bus_act_new(face, caller, m, &act, reterr);
        if (r < 0)
                return r;
        r = bus_act_show(act, face, caller, options->handle_token, reterr);
        if (r < 0) {
                bus_act_withdraw(act);
                return r;
        }
        *ret = act;
        return 0;
}

static int handle_trust(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const char *word, *token;
        ActOptions options = {};
        Plugin *plugin;
        BusAct *act;
        int r;

        r = message_read(m, reterr, "ss", &word, &token);
        if (r >= 0)
                r = options_read(m, act_options, G_N_ELEMENTS(act_options), &options, reterr);
        if (r >= 0)
                r = face_find_plugin(face, word, &plugin, reterr);
        /* Nobody is bothered for a token that can't be right. */
        if (r >= 0)
                r = plugin_check_token(plugin, token, reterr);
        if (r >= 0)
                r = new_act(face, caller, m, &options, &act, reterr);
        if (r < 0)
                return r;

        personal_trust(face, caller, plugin, token, act);
        return 1;
}
BUS_METHOD(trust)

typedef int (*Transition)(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata, sd_bus_error *reterr);
typedef PluginAct *(*Job)(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata);

static int begin_transition(
                Face *face, Caller *caller, sd_bus_message *m, Transition transition, const char *word, sd_bus_error *reterr) {
        Plugin *plugin;
        BusAct *act;
        int r;

        r = read_plugin_alone(face, m, &plugin, reterr);
        if (r >= 0)
                r = bus_act_new(face, caller, m, &act, reterr);
        if (r < 0)
                return r;

        (void) bus_act_record(act, caller, &(ActSubject) { .kind = "trust", .word = word, .plugin = plugin_get_id(plugin) });
        r = transition(face->service, plugin, bus_act_done, act, reterr);
        if (r < 0) {
                bus_act_withdraw(act);
                return r;
        }
        return 1;
}

static int begin_job(Face *face, Caller *caller, sd_bus_message *m, Job job, const char *word, sd_bus_error *reterr) {
        ActOptions options = {};
        Plugin *plugin;
        BusAct *act;
        int r;

        r = read_plugin(face, m, &plugin, reterr);
        if (r >= 0)
                r = options_read(m, act_options, G_N_ELEMENTS(act_options), &options, reterr);
        if (r >= 0)
                r = new_act(face, caller, m, &options, &act, reterr);
        if (r < 0)
                return r;

        (void) bus_act_record(act, caller, &(ActSubject) { .kind = "trust", .word = word, .plugin = plugin_get_id(plugin) });
        act->work = job(face->service, plugin, bus_act_done, act);
        return 1;
}

static int handle_enable(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        return begin_job(face, caller, m, service_enable, "enabled", reterr);
}
BUS_METHOD(enable)

static int handle_disable(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        return begin_transition(face, caller, m, service_disable, "disabled", reterr);
}
BUS_METHOD(disable)

static int handle_revoke(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        return begin_transition(face, caller, m, service_revoke, "revoked", reterr);
}
BUS_METHOD(revoke)

static int handle_uninstall(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        return begin_job(face, caller, m, service_uninstall, "uninstalled", reterr);
}
BUS_METHOD(uninstall)

#define TRANSITION(name, method)                                                                        \
        SD_BUS_METHOD_WITH_ARGS(name,                                                                   \
                                SD_BUS_ARGS("s", plugin, "a{sv}", options),                             \
                                SD_BUS_NO_RESULT,                                                       \
                                method,                                                                 \
                                SD_BUS_VTABLE_UNPRIVILEGED)

static const sd_bus_vtable plugins_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("List",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_RESULT("a(sosss)", plugins),
                                method_list,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Describe",
                                SD_BUS_ARGS("s", plugin),
                                SD_BUS_RESULT("s", description),
                                method_describe,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Validate",
                                SD_BUS_ARGS("s", path),
                                SD_BUS_RESULT("s", result),
                                method_validate,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Preview",
                                SD_BUS_ARGS("s", source, "a{sv}", options),
                                SD_BUS_RESULT("s", review),
                                method_preview,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Install",
                                SD_BUS_ARGS("s", source, "a{sv}", options),
                                SD_BUS_RESULT("s", result),
                                method_install,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Update",
                                SD_BUS_ARGS("s", plugin, "a{sv}", options),
                                SD_BUS_RESULT("s", result),
                                method_update,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Review",
                                SD_BUS_ARGS("s", plugin, "a{sv}", options),
                                SD_BUS_RESULT("s", review),
                                method_review,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Trust",
                                SD_BUS_ARGS("s", plugin, "s", token, "a{sv}", options),
                                SD_BUS_NO_RESULT,
                                method_trust,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        TRANSITION("Enable", method_enable),
        TRANSITION("Disable", method_disable),
        TRANSITION("Revoke", method_revoke),
        TRANSITION("Uninstall", method_uninstall),
        SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_ARGS("s", id, "s", state, "s", reason), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Failed", SD_BUS_ARGS("s", id, "s", stage, "s", reason), 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_plugins = {
        .path = PATH_ROOT,
        .name = INTERFACE_PLUGINS,
        .vtable = plugins_vtable,
};
