/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/log.h"
#include "service/approval-record.h"
#include "service/attempt-meter.h"
#include "service/builtin-commands.h"
#include "service/core-desk.h"
#include "service/grant-keeper.h"
#include "service/idle-trim.h"
#include "service/invocation-state.h"
#include "service/ledger.h"
#include "service/service.h"
#include "service/service-paths.h"
#include "service/stale-calls.h"

#define TELL(service, event, ...)                                                   \
        do {                                                                        \
                if ((service)->events)                                              \
                        (service)->events->event(__VA_ARGS__, (service)->userdata); \
        } while (0)

/* What 'systemctl status' shows in one line. Told from the loop, once for all changes of one turn. */
static int on_status_line(sd_event_source *source, void *userdata) {
        Service *service = userdata;
        ServiceCounts counts;
        const char *broken;

        (void) source;
        service_count(service, &counts);
        broken = permissions_get_error(service->permissions) ?: service->config->error;
        (void) sd_notifyf(false, "STATUS=%u plugins (%u active), %u hosts, %u open cards%s%s", counts.plugins, counts.active,
                          counts.hosts, counts.approvals, broken ? "; not in force: " : "", broken ?: "");
        return 0;
}

static void tell_status(Service *service) {
        if (service->status_line)
                (void) sd_event_source_set_enabled(service->status_line, SD_EVENT_ONESHOT);
        if (service->events)
                service->events->status_changed(service->userdata);
}

/* ---- events of the parts ---- */

/* What runs or is listed follows what is active. */
static void service_follow(Service *service, Plugin *plugin) {
        declared_skills_sync(service->declared_skills, plugin);
        host_table_sync(service->hosts, plugin);
}

static void on_plugin_added(PluginSet *set, Plugin *plugin, void *userdata) {
        Service *service = userdata;

        (void) set;
        TELL(service, plugin_added, plugin);
        if (service->started)
                service_follow(service, plugin);
        tell_status(service);
}

static void on_plugin_changed(PluginSet *set, Plugin *plugin, void *userdata) {
        Service *service = userdata;

        (void) set;
        /* What a person allowed was allowed for the bytes of then. */
        if (plugin_get_label(plugin) != PLUGIN_ACTIVE)
                grant_keeper_remove_plugin(service->keeper, plugin_get_id(plugin));
        if (service->started)
                service_follow(service, plugin);
        stale_calls_end(service);
        personal_act_plugin_changed(service, plugin);
        TELL(service, plugin_changed, plugin);
        tell_status(service);
}

static void on_plugin_removed(PluginSet *set, Plugin *plugin, void *userdata) {
        Service *service = userdata;

        (void) set;
        declared_skills_remove(service->declared_skills, plugin);
        host_table_remove(service->hosts, plugin);
        stale_calls_end(service);
        personal_act_plugin_changed(service, plugin);
        grant_keeper_remove_plugin(service->keeper, plugin_get_id(plugin));
        TELL(service, plugin_removed, plugin);
        tell_status(service);
}

static const PluginSetEvents plugin_set_events = {
        .added = on_plugin_added,
        .changed = on_plugin_changed,
        .removed = on_plugin_removed,
        .leftover = service_sweep,
};

static void on_registrations_changed(RegistrationKind kind, void *userdata) {
        TELL((Service *) userdata, registrations_changed, kind);
}

static void on_prompt_changed(void *userdata) {
        Service *service = userdata;

        TELL(service, prompt_changed, section_registry_revision(registry_get_sections(service->registry)));
}

static void on_skills_changed(void *userdata) {
        Service *service = userdata;

        if (service->events)
                service->events->skills_changed(service->userdata);
}

static const RegistryEvents registry_events = {
        .changed = on_registrations_changed,
        .prompt_changed = on_prompt_changed,
        .skills_changed = on_skills_changed,
};

static void on_declared_refused(Plugin *plugin, const char *reason, void *userdata) {
        TELL((Service *) userdata, plugin_failed, plugin, "skills", reason);
        TELL((Service *) userdata, plugin_changed, plugin);
}

static void on_host_changed(Host *host, void *userdata) {
        Service *service = userdata;

        stale_calls_end(service);
        TELL(service, plugin_changed, host_get_plugin(host));
        tell_status(service);
        if (host_get_state(host) == HOST_IDLE)
                idle_trim_arm(service);
}

static void on_host_failed(Host *host, const char *stage, const char *reason, void *userdata) {
        ledger_violation(userdata, host, reason);
        TELL((Service *) userdata, plugin_failed, host_get_plugin(host), stage, reason);
}

static bool on_host_in_use(const Host *host, void *userdata) {
        const Service *service = userdata;

        for (size_t i = 0; i < service->invocations->len; i++) {
                const Invocation *invocation = g_ptr_array_index(service->invocations, i);

                if (owner_get_plugin(invocation->target->owner) == host_get_plugin(host))
                        return true;
        }
        return false;
}

static void on_host_core_call(Host *host, uint64_t id, Jval params, void *userdata) {
        core_desk_call(((Service *) userdata)->core_desk, host, id, params);
}

static void on_host_core_cancelled(Host *host, uint64_t id, void *userdata) {
        core_desk_cancelled(((Service *) userdata)->core_desk, host, id);
}

static void on_host_drained(void *userdata) {
        plugin_set_tidy(((Service *) userdata)->plugins);
}

static void on_host_lost(Host *host, void *userdata) {
        core_desk_host_lost(((Service *) userdata)->core_desk, host_get_owner(host));
}

static const HostTableEvents host_table_events = {
        .changed = on_host_changed,
        .failed = on_host_failed,
        .in_use = on_host_in_use,
        .core_call = on_host_core_call,
        .core_cancelled = on_host_core_cancelled,
        .drained = on_host_drained,
        .lost = on_host_lost,
};

static void on_session_opened(Session *session, void *userdata) {
        overlay_table_open(((Service *) userdata)->overlays, session);
        host_table_attach(((Service *) userdata)->hosts);
        TELL((Service *) userdata, session_opened, session);
}

/* Tightening counts at once, also for what waits for an answer: the live posture beats it (contract 5.5.1). */
static void service_reconsider(Service *service, const Session *session) {
        for (size_t i = service->invocations->len; i > 0; i--) {
                Invocation *invocation = i <= service->invocations->len ? g_ptr_array_index(service->invocations, i - 1) : NULL;

                if (invocation && invocation->session == session && !invocation->starting)
                        tool_call_reconsider(invocation);
        }
}

static void on_session_changed(Session *session, void *userdata) {
        service_reconsider(userdata, session);
        TELL((Service *) userdata, session_changed, session);
}

static void on_session_closed(Session *session, void *userdata) {
        Service *service = userdata;

        stale_calls_end_session(service, session);
        approval_table_withdraw_session(service->approvals, session->id);
        personal_act_session_ended(service, session->id);
        grant_keeper_remove_session(service->keeper, session->id);
        overlay_table_close(service->overlays, session);
        TELL(service, session_closed, session);
}

static const SessionEvents session_events = {
        .opened = on_session_opened, .changed = on_session_changed, .closed = on_session_closed,
};

static void on_approval_opened(Approval *approval, void *userdata) {
        approval_record_opened(userdata, approval);
        TELL((Service *) userdata, approval_opened, approval);
        tell_status(userdata);
}

static void on_approval_closed(Approval *approval, const ApprovalAnswer *answer, void *userdata) {
        approval_record_closed(userdata, approval, answer);
        TELL((Service *) userdata, approval_closed, approval, answer);
        tell_status(userdata);
}

static void on_approvers_changed(void *userdata) {
        tell_status(userdata);
}

static const ApprovalEvents approval_events = {
        .opened = on_approval_opened,
        .closed = on_approval_closed,
        .approvers_changed = on_approvers_changed,
};

static void on_manager_ready(UnitManager *manager, void *userdata) {
        Service *service = userdata;

        (void) manager;
        g_clear_pointer(&service->manager_lost, g_free);
}

static void on_manager_lost(UnitManager *manager, int error, const char *reason, void *userdata) {
        Service *service = userdata;

        (void) manager;
        g_free(service->manager_lost);
        service->manager_lost = g_strdup_printf("%s: %s", reason, g_strerror(-error));
        log_warning("The connection to systemd's manager was lost: %s", service->manager_lost);
}

static const UnitManagerEvents manager_events = {
        .ready = on_manager_ready,
        .lost = on_manager_lost,
};

/* ---- assembling ---- */

static RuntimeConfig runtime_config(const Config *config) {
        return (RuntimeConfig) {
                .kind = config->runtime, .node = config->node, .bun = config->bun,
                .search_path = g_getenv("PATH"), .bun_install = g_getenv("BUN_INSTALL"),
        };
}

static int service_open_decisions(Service *service) {
        _cleanup_close_ int directory = codewhale_home_make(service->home, HOME_DECISIONS);

        return directory < 0 ? directory : decision_log_open(directory, &service->decisions);
}

static void service_make_parts(Service *service) {
        const RuntimeConfig runtime = runtime_config(service->config);
        const PluginSetOptions plugins = { .extension_host = service->config->extension_host };

        service->runtime = runtime_selector_new(service->event, &runtime);
        service->plugins = plugin_set_new(service->home, &plugins);
        service->registry = registry_new(service->event);
        (void) registry_know_commands(service->registry, builtin_commands);
        service->declared_skills = declared_skills_new(service->registry, on_declared_refused, service);
        service->sessions = session_table_new(service->config->posture);
        service->approvals = approval_table_new(service->event);
        service->grants = grant_table_new();
        service->keeper = grant_keeper_new(service);
        service->attempts = attempt_meter_new();
        service->overlays = overlay_table_new(service->event, codewhale_home_get_path(service->home, HOME_ROOT),
                                              service_rules_changed, service);
        service->invocations = g_ptr_array_new();
        service->context = (HostContext) {
                .event = service->event,
                .manager = service->manager,
                .lifeline = service->lifeline,
                .user = service->host_user,
                .runtime = service->runtime,
                .registry = service->registry,
                .config = service->config,
                .home = service->home,
                .bundle_path = service->bundle_path,
                .launcher_path = service->launcher_path,
        };
        service->hosts = host_table_new(&service->context);
        service->core_desk = core_desk_new(service);
        service->eraser = eraser_new(&service->context, service->plugins);
        service->downloader = downloader_new(&service->context, service->plugins);
        service->acts = plugin_acts_new();

        plugin_set_set_events(service->plugins, &plugin_set_events, service);
        registry_set_events(service->registry, &registry_events, service);
        session_table_set_events(service->sessions, &session_events, service);
        approval_table_set_events(service->approvals, &approval_events, service);
        host_table_set_events(service->hosts, &host_table_events, service);
}

int service_new(sd_event *event, const ServiceOptions *options, Service **ret, sd_bus_error *reterr) {
        g_autoptr(Service) service = g_new0(Service, 1);
        int r;

        service->event = sd_event_ref(event);
        service->bundle_path = g_strdup(options->bundle ?: HOST_BUNDLE_PATH);
        service->launcher_path = g_strdup(options->launcher ?: HOST_LAUNCHER_PATH);
        if (options->manager == UNIT_MANAGER_SYSTEM)
                service->host_user = g_strdup(options->host_user ?: HOST_USER);
        r = codewhale_home_new(options->home, &service->home, reterr);
        if (r < 0)
                return r;
        service->config = config_new();
        service_read_config(service);
        service->permissions = permissions_new(service->home, options->permissions);
        service_read_permissions(service);
        r = unit_manager_new(event, options->manager, NULL, &manager_events, service, &service->manager);
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "systemd's %s manager can't be reached: %s.",
                                  unit_manager_kind_to_string(options->manager), g_strerror(-r));

        service->lifeline = lifeline_new(service->manager, service->launcher_path);
        service_make_parts(service);
        r = sd_event_add_defer(event, &service->status_line, on_status_line, service);
        if (r < 0)
                return r;
        r = service_open_decisions(service);
        if (r < 0)
                log_error("Decisions can't be recorded in %s, so no call will run: %s",
                          codewhale_home_get_path(service->home, HOME_DECISIONS), g_strerror(-r));

        *ret = g_steal_pointer(&service);
        return 0;
}

Service *service_free(Service *service) {
        if (!service)
                return NULL;

        service->events = NULL;
        service->status_line = sd_event_source_disable_unref(service->status_line);
        service->idle_trim = sd_event_source_disable_unref(service->idle_trim);
        if (service->invocations)
                while (service->invocations->len > 0)
                        invocation_cancel(g_ptr_array_index(service->invocations, 0), "the service is stopping");
        g_clear_pointer(&service->acts, g_ptr_array_unref);
        eraser_free(service->eraser);
        downloader_free(service->downloader);
        plugin_watch_free(service->watch);
        /* Children first: a host withdraws from the registry, a card from the table. */
        host_table_free(service->hosts);
        core_desk_free(service->core_desk);
        approval_table_free(service->approvals);
        session_table_free(service->sessions);
        declared_skills_free(service->declared_skills);
        registry_free(service->registry);
        grant_keeper_free(service->keeper);
        grant_table_free(service->grants);
        attempt_meter_free(service->attempts);
        plugin_set_free(service->plugins);
        decision_log_free(service->decisions);
        runtime_selector_free(service->runtime);
        lifeline_free(service->lifeline);
        unit_manager_unref(unit_manager_close(service->manager));
        overlay_table_free(service->overlays);
        permissions_free(service->permissions);
        config_free(service->config);
        codewhale_home_unref(service->home);
        g_clear_pointer(&service->invocations, g_ptr_array_unref);
        sd_event_unref(service->event);
        g_free(service->manager_lost);
        g_free(service->bundle_path);
        g_free(service->launcher_path);
        g_free(service->host_user);
        g_free(service);
        return NULL;
}

void service_set_events(Service *service, const ServiceEvents *events, void *userdata) {
        service->events = events;
        service->userdata = userdata;
}

/* Without these a change is still found, by the next call. */
static void service_watch(Service *service) {
        int r = plugin_watch_new(service->plugins, service->event, &service->watch);

        if (r < 0)
                log_warning("Bundles can't be watched for changes: %s. The next call of each finds them.", g_strerror(-r));
        r = plugin_set_use_leases(service->plugins, service->event);
        if (r < 0)
                log_warning("No leases on sealed copies: %s. Verifying large ones takes longer.", g_strerror(-r));
}

int service_start(Service *service, sd_bus_error *reterr) {
        int r = plugin_set_reload(service->plugins, reterr);

        service_watch(service);
        service->started = true;
        for (size_t i = 0; i < plugin_set_count(service->plugins); i++)
                service_follow(service, plugin_set_get(service->plugins, i));
        tell_status(service);
        idle_trim_arm(service);
        return r;
}

void service_reconfigure(Service *service) {
        RuntimeConfig runtime;

        service_read_config(service);
        service_read_permissions(service);
        overlay_table_reload(service->overlays);
        runtime = runtime_config(service->config);
        runtime_selector_reset(service->runtime, &runtime);
        session_table_set_default_posture(service->sessions, service->config->posture);
        plugin_set_set_extension_host(service->plugins, service->config->extension_host);
}

void service_reloaded(Service *service) {
        service_rules_changed(service);
        for (size_t i = 0; i < plugin_set_count(service->plugins); i++)
                service_follow(service, plugin_set_get(service->plugins, i));
        host_table_retry(service->hosts);
        tell_status(service);
}

void service_client_gone(Service *service, const char *client) {
        approval_table_unregister(service->approvals, client);
        session_table_client_gone(service->sessions, client);
        approval_table_withdraw_requester(service->approvals, client);
        personal_act_client_gone(service, client);
        attempt_meter_forget(service->attempts, client);
}
