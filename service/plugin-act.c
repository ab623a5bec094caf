/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/log.h"
#include "common/messages.h"
#include "service/plugin-job.h"
#include "service/service.h"

/* What a person does to a bundle, as a job that does not hold up the loop, followed by what it means for the host. */

struct PluginAct {
        Service *service;
        PluginJob *job;
        const char *word;  /* what was done, for the journal; NULL for looking */
        bool settles;      /* ends when the host is as wished */
        bool done;         /* the job is; what follows is the host's */
        ServiceAnswer answer;
        void *userdata;
};

static void act_free(void *pointer) {
        PluginAct *act = pointer;

        host_table_forget_waiters(act->service->hosts, act);
        plugin_job_free(act->job);
        g_free(act);
}

GPtrArray *plugin_acts_new(void) {
        return g_ptr_array_new_with_free_func(act_free);
}

static void act_answer(PluginAct *act, const char *error_name, const char *error_message) {
        act->answer(error_name, error_message, act->userdata);
        g_ptr_array_remove_fast(act->service->acts, act);
}

static void on_settled(Host *host, const char *error_name, const char *reason, void *userdata) {
        PluginAct *act = userdata;

        /* What was to end is not there at all any more. */
        if (!act->settles && g_strcmp0(error_name, ERROR_CANCELLED) == 0)
                act_answer(act, NULL, NULL);
        /* Somebody else was faster, and has the last word. */
        else if (!error_name && act->settles && plugin_get_label(host_get_plugin(host)) != PLUGIN_ACTIVE)
                act_answer(act, ERROR_CANCELLED, "It was disabled again before it was active.");
        else
                act_answer(act, error_name, reason);
}

static void on_job_done(PluginJob *job, int r, const sd_bus_error *error, void *userdata) {
        PluginAct *act = userdata;
        Plugin *plugin = plugin_job_get_plugin(job);
        Host *host;

        act->done = true;
        if (r < 0) {
                act_answer(act, error->name ?: ERROR_IO, error->message ?: g_strerror(-r));
                return;
        }
        if (act->word && plugin)
                log_plugin(LOG_NOTICE, MESSAGE_TRUST, plugin_get_id(plugin), NULL, "%s was %s", plugin_get_name(plugin), act->word);
        host = act->settles ? host_table_find(act->service->hosts, plugin) : NULL;
        if (host) {
                host_when_settled(host, on_settled, act);
                return;
        }
        act_answer(act, NULL, NULL);
}

static PluginAct *act_new(Service *service, const char *word, ServiceAnswer answer, void *userdata) {
        PluginAct *act = g_new0(PluginAct, 1);

        *act = (PluginAct) { .service = service, .word = word, .answer = answer, .userdata = userdata };
        g_ptr_array_add(service->acts, act);
        return act;
}

const char *plugin_act_get_progress(const PluginAct *act, uint64_t *ret_done, uint64_t *ret_total) {
        *ret_done = *ret_total = 0;
        return act->done ? "starting" : plugin_stage_to_string(plugin_job_get_progress(act->job, ret_done, ret_total));
}

bool plugin_act_cancel(PluginAct *act) {
        if (act->done)
                return false;

        act_answer(act, ERROR_CANCELLED, "The caller closed its request.");
        return true;
}

PluginAct *service_trust(
                Service *service, Plugin *plugin, const char *token, const char *confirmed_by, ServiceAnswer answer, void *userdata) {
        PluginAct *act = act_new(service, "trusted", answer, userdata);

        act->job = plugin_job_trust(service->plugins, service->event, plugin, token, confirmed_by, on_job_done, act);
        return act;
}

PluginAct *service_enable(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata) {
        PluginAct *act = act_new(service, "enabled", answer, userdata);

        act->settles = true;
        act->job = plugin_job_enable(service->plugins, service->event, plugin, on_job_done, act);
        return act;
}

PluginAct *service_uninstall(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata) {
        PluginAct *act = act_new(service, "uninstalled", answer, userdata);

        act->job = plugin_job_uninstall(service->plugins, service->event, plugin, on_job_done, act);
        return act;
}

/* ---- what only changes the state file ---- */

typedef int (*StateChange)(PluginSet *set, Plugin *plugin, sd_bus_error *reterr);

static int service_change(
                Service *service, Plugin *plugin, StateChange change, const char *word, ServiceAnswer answer, void *userdata,
                sd_bus_error *reterr) {
        PluginAct *act;
        Host *host;
        int r;

        r = change(service->plugins, plugin, reterr);
        if (r < 0)
                return r;

        log_plugin(LOG_NOTICE, MESSAGE_TRUST, plugin_get_id(plugin), NULL, "%s was %s", plugin_get_name(plugin), word);
        act = act_new(service, NULL, answer, userdata);
        host_table_sync(service->hosts, plugin);
        host_table_end_drains(service->hosts, plugin);
        host = host_table_find(service->hosts, plugin);
        if (host)
                host_when_settled(host, on_settled, act);
        else
                act_answer(act, NULL, NULL);
        return 0;
}

int service_disable(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata, sd_bus_error *reterr) {
        return service_change(service, plugin, plugin_set_disable, "disabled", answer, userdata, reterr);
}

int service_revoke(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata, sd_bus_error *reterr) {
        return service_change(service, plugin, plugin_set_revoke, "revoked", answer, userdata, reterr);
}

/* ---- tidying up ---- */

static void on_swept(const char *error_name, const char *error_message, void *userdata) {
        Service *service = userdata;

        (void) error_name;
        (void) error_message; /* what is left is found again by the next one */
        service->sweeping = false;
}

void service_sweep(PluginSet *set, void *userdata) {
        Service *service = userdata;
        PluginAct *act;

        if (service->sweeping)
                return;
        service->sweeping = true;
        act = act_new(service, NULL, on_swept, service);
        act->job = plugin_job_sweep(set, service->event, on_job_done, act);
}

/* ---- reload ---- */

static void on_reloaded(PluginJob *job, int r, const sd_bus_error *error, void *userdata) {
        PluginAct *act = userdata;
        Service *service = act->service;

        (void) job;
        service_reloaded(service);
        if (r < 0)
                act_answer(act, error->name ?: ERROR_IO, error->message ?: g_strerror(-r));
        else if (service->config->error || permissions_get_error(service->permissions)) {
                g_autofree char *text = g_strdup_printf(
                                "Bundles were read again, but not the %s: %s", service->config->error ? "configuration" : "rules",
                                service->config->error ?: permissions_get_error(service->permissions));

                act_answer(act, ERROR_INVALID_ARGUMENTS, text);
        } else
                act_answer(act, NULL, NULL);
}

void service_reload(Service *service, ServiceAnswer answer, void *userdata) {
        PluginAct *act = act_new(service, NULL, answer, userdata);

        service_reconfigure(service);
        act->job = plugin_job_reload(service->plugins, service->event, on_reloaded, act);
}
