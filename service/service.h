/* SPDX-License-Identifier: MIT */
#pragma once

/* The service as a whole: what main.c assembles and what dbus/ shows. It knows nothing of the bus that is served; what
 * happens goes up through ServiceEvents. */

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "policy/grant.h"
#include "sandbox/manager.h"
#include "service/approval-table.h"
#include "service/attempt-meter.h"
#include "service/config.h"
#include "service/declared-skills.h"
#include "service/downloader.h"
#include "service/eraser.h"
#include "service/host-table.h"
#include "service/invocation.h"
#include "service/overlay.h"
#include "service/permissions.h"
#include "service/personal-act.h"
#include "service/plugin-set.h"
#include "service/plugin-watch.h"
#include "service/registry.h"
#include "service/runtime.h"
#include "service/session.h"
#include "storage/decision-log.h"

typedef struct GrantKeeper GrantKeeper; /* service/grant-keeper.h */

typedef struct ServiceEvents {
        void (*plugin_added)(Plugin *plugin, void *userdata);
        void (*plugin_changed)(Plugin *plugin, void *userdata); /* any fact of the plugin or of its host */
        void (*plugin_removed)(Plugin *plugin, void *userdata);
        void (*plugin_failed)(Plugin *plugin, const char *stage, const char *reason, void *userdata);
        void (*registrations_changed)(RegistrationKind kind, void *userdata);
        void (*prompt_changed)(uint64_t revision, void *userdata);
        void (*skills_changed)(void *userdata);
        void (*session_opened)(Session *session, void *userdata);
        void (*session_changed)(Session *session, void *userdata);
        void (*session_closed)(Session *session, void *userdata);
        void (*approval_opened)(Approval *approval, void *userdata);
        void (*approval_closed)(Approval *approval, const ApprovalAnswer *answer, void *userdata);
        void (*grants_changed)(void *userdata);
        void (*decision_recorded)(const char *call_id, const char *outcome, void *userdata);
        void (*policy_changed)(void *userdata); /* rules were read anew, or could not be */
        void (*status_changed)(void *userdata); /* counts of plugins, hosts or cards */
} ServiceEvents;

/* Made by data/systemd/codewhale.sysusers. */
#define HOST_USER "codewhale-host"

typedef struct ServiceOptions {
        const char *home;     /* NULL for $CODEWHALE_HOME or ~/.codewhale */
        const char *bundle;   /* the host's JavaScript; NULL: where it is installed */
        const char *launcher; /* codewhale-host-launcher; NULL: where it is installed */
        UnitManagerKind manager; /* who starts the hosts */
        const char *host_user;   /* with the system manager: whom hosts run as; NULL: HOST_USER */
        const char *permissions; /* NULL, or a further file of the administrator's rules; permissions_new() */
} ServiceOptions;

/** plugin_acts_new() - a list that owns acts in progress (plugin-act.c) */
GPtrArray *plugin_acts_new(void);

struct Service {
        sd_event *event;
        char *bundle_path, *launcher_path, *host_user;
        HostContext context;
        UnitManager *manager;
        Lifeline *lifeline;
        char *manager_lost; /* why there is no manager; NULL while there is one */
        CodewhaleHome *home;
        Config *config;
        Permissions *permissions;
        OverlayTable *overlays; /* what the sessions' workspaces say */
        PluginSet *plugins;
        Registry *registry;
        DeclaredSkills *declared_skills; /* without a host */
        SessionTable *sessions;
        ApprovalTable *approvals;
        GrantTable *grants;
        GrantKeeper *keeper;   /* what happens around @grants */
        AttemptMeter *attempts;
        DecisionLog *decisions; /* NULL when its folder can't be used; then no call runs */
        RuntimeSelector *runtime;
        HostTable *hosts;
        GPtrArray *invocations; /* running ones, borrowed */
        GPtrArray *acts;        /* of persons, in progress; owned (plugin-act.c) */
        bool sweeping;          /* one of them removes sealed copies */
        Eraser *eraser;
        Downloader *downloader;
        PluginWatch *watch; /* NULL before the start, and where the kernel gives none: then the next call finds a change */
        struct CoreDesk *core_desk; /* core-desk.h: what hosts ask the core for */
        PolkitAsk polkit_ask; /* NULL: there is no polkit to ask; set by who serves the bus */
        PolkitForget polkit_forget; /* NULL likewise */
        void *polkit_userdata;
        sd_event_source *status_line;
        sd_event_source *idle_trim; /* idle-trim.h */
        bool started; /* hosts follow the plugins from now on */
        const ServiceEvents *events;
        void *userdata;
};

/**
 * service_new() - open the state and put everything together; starts no host yet
 *
 * Return: 0 or -errno with words in @reterr: only when nothing sensible can run (the home can't be opened).
 */
int service_new(sd_event *event, const ServiceOptions *options, Service **ret, sd_bus_error *reterr);
Service *service_free(Service *service);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Service, service_free)

void service_set_events(Service *service, const ServiceEvents *events, void *userdata);

/** service_start() - discover bundles and start the hosts of active ones */
int service_start(Service *service, sd_bus_error *reterr);

/** service_reconfigure(), service_reloaded() - the two halves of service_reload(), for plugin-act.c */
void service_reconfigure(Service *service);
void service_reloaded(Service *service);

/* Reading the rules, for service.c (service-policy.c). */
void service_read_permissions(Service *service);
void service_read_config(Service *service);
void service_rules_changed(void *service);

/** service_sweep() - remove the sealed copies that nobody needs, beside everything else (plugin-act.c); a PluginSetEvents */
void service_sweep(PluginSet *set, void *service);

/** service_client_gone() - a connection left: its sessions, calls, cards and approver role end */
void service_client_gone(Service *service, const char *client);

/* What a person does to bundles. None of it holds up the loop. @answer comes once, when the effect is complete: enable when
 * the entries were activated or have failed, disable and revoke when the host is gone. @error_name is NULL on success. */
typedef void (*ServiceAnswer)(const char *error_name, const char *error_message, void *userdata);

/* What such an act is at: the stages of its job (plugin-job.h), then "starting" while the host gets to what is wished. */
typedef struct PluginAct PluginAct;
const char *plugin_act_get_progress(const PluginAct *act, uint64_t *ret_done, uint64_t *ret_total);

/** plugin_act_cancel() - take it back (ERROR_CANCELLED); false when its effect is there already, and it only waits for the host */
bool plugin_act_cancel(PluginAct *act);

/** service_trust() - see plugin_set_trust(); @confirmed_by goes into the receipt. Return, here and below: borrowed until @answer came */
PluginAct *service_trust(
                Service *service, Plugin *plugin, const char *token, const char *confirmed_by, ServiceAnswer answer, void *userdata);
PluginAct *service_enable(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata);
PluginAct *service_uninstall(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata);

/* These change the state file at once; on failure of the function itself @answer is not called. It may be called before
 * the function returns. */
int service_disable(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata, sd_bus_error *reterr);
int service_revoke(Service *service, Plugin *plugin, ServiceAnswer answer, void *userdata, sd_bus_error *reterr);

/** service_reload() - read configuration and bundles again, clear crash budgets, retry failed plugins */
void service_reload(Service *service, ServiceAnswer answer, void *userdata);

/** service_health() - "ok" or one line that says what is wrong; a new string */
char *service_health(const Service *service);

typedef struct ServiceCounts {
        unsigned plugins, active, hosts, approvals;
} ServiceCounts;
void service_count(const Service *service, ServiceCounts *ret);

/** service_describe() - the service as a JSON object; a new string */
char *service_describe(const Service *service);

/** service_describe_plugin() - one plugin with its host, entries, registrations and limits as a JSON object */
char *service_describe_plugin(const Service *service, Plugin *plugin);

/** service_snapshot_prompt() - the prompt block for a session as the JSON of Prompt.Snapshot; a new string */
char *service_snapshot_prompt(Service *service, Session *session, const char *model, const char *cwd);

/* Skills (contract 4.5), in skill-load.c. Both look at the plugin's bytes just before. @session NULL: one that chose nothing. */

/** service_describe_skill() - all about a skill but its instructions, as JSON; a new string. ERROR_NO_SUCH_SKILL, or as
 * plugin_set_verify() */
int service_describe_skill(Service *service, const Session *session, const char *name, char **ret_json, sd_bus_error *reterr);

typedef struct SkillLoad {
        const char *name;    /* qualified */
        const char *receipt; /* of a Describe or Load before; NULL: whatever there is now */
        bool by_model;       /* it is a model that chose it */
} SkillLoad;

/**
 * service_load_skill() - the same with the instructions, read from the sealed copy just now
 *
 * Return: 0; ERROR_STALE_SELECTION when @receipt is of another registration than the present one (K05);
 * ERROR_REFUSED_BY_POLICY when it is not for who chose it; ERROR_CONTENT_CHANGED; else as service_describe_skill().
 */
int service_load_skill(Service *service, const Session *session, const SkillLoad *load, char **ret_json, sd_bus_error *reterr);

/* What plugins stored, for the person who owns it (Storage interface); works also while no host runs. */
int service_storage_list(Service *service, Plugin *plugin, GPtrArray **ret /* RecordInfo */, sd_bus_error *reterr);
int service_storage_get(Service *service, Plugin *plugin, const char *key, char **ret_json, sd_bus_error *reterr);
int service_storage_delete(Service *service, Plugin *plugin, const char *key, bool *ret_deleted, sd_bus_error *reterr);
/** service_storage_repair() - move damaged records out of the way, where they count for nothing; how many in @ret_moved */
int service_storage_repair(Service *service, Plugin *plugin, unsigned *ret_moved, sd_bus_error *reterr);
int service_storage_usage(Service *service, Plugin *plugin, char **ret_json, sd_bus_error *reterr);

/**
 * service_doctor() - try everything that could keep an extension from running
 * @done: called once with the report as JSON (Extensions.Doctor), from the loop
 */
typedef void (*DoctorDone)(const char *report, void *userdata);
int service_doctor(Service *service, DoctorDone done, void *userdata, sd_bus_error *reterr);
