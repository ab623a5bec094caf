/* SPDX-License-Identifier: MIT */
#pragma once

/* The host of one plugin: a process in a transient unit of its own that runs the plugin's reviewed code (contract 3, design
 * 5.3). This is the state machine from "should run" to "runs, and may be called" and back. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "common/jwriter.h"
#include "sandbox/lifeline.h"
#include "sandbox/manager.h"
#include "service/config.h"
#include "service/owner.h"
#include "service/registry.h"
#include "service/rpc.h"
#include "service/runtime.h"

typedef enum HostState {
        HOST_DISABLED,     /* the plugin is not active                    -> IDLE                            */
        HOST_IDLE,         /* may start, does not run                     -> STARTING, DISABLED              */
        HOST_STARTING,     /* unit, launcher's report, handshake, entries -> READY, FAILED, RESTARTING, STOPPING */
        HOST_READY,        /* entries are active                          -> UNRESPONSIVE, RESTARTING, STOPPING, FAILED */
        HOST_UNRESPONSIVE, /* a ping is late                              -> READY, RESTARTING, STOPPING     */
        HOST_RESTARTING,   /* ended; waits for its back-off               -> STARTING, FAILED, DISABLED      */
        HOST_STOPPING,     /* was told to end; control group not empty    -> IDLE, DISABLED                  */
        HOST_FAILED,       /* see host_get_reason()                       -> STARTING, DISABLED              */
        _HOST_STATE_MAX,
        _HOST_STATE_INVALID = -EINVAL,
} HostState;

const char *host_state_to_string(HostState state);

typedef struct Host Host;

/* What every host needs from the service; borrowed, outlives the hosts. */
typedef struct HostContext {
        sd_event *event;
        UnitManager *manager;
        Lifeline *lifeline;        /* for hosts of a service that is no unit */
        RuntimeSelector *runtime;
        Registry *registry;
        Config *config;
        CodewhaleHome *home;
        const char *bundle_path;   /* of the host's JavaScript */
        const char *launcher_path;
        const char *user;          /* whom hosts run as; NULL: who we are */
} HostContext;

/* A host that was asked to settle tells once: reason is NULL when it is as wished, else why not, with an error name. */
typedef void (*HostSettled)(Host *host, const char *error_name, const char *reason, void *userdata);

HostState host_get_state(const Host *host);
const char *host_get_state_word(const Host *host);

/** host_get_reason() - why it is not ready, with what to do; NULL when it is. The same words everywhere (S15) */
const char *host_get_reason(const Host *host);
Plugin *host_get_plugin(const Host *host);
Owner *host_get_owner(const Host *host); /* NULL while nothing is or was activated */
Rpc *host_get_rpc(const Host *host);     /* NULL while it does not run */
const char *host_get_unit(const Host *host); /* the systemd unit's name; NULL while there is none */

/** host_get_lock() - the host's runtime and the doors that its self test tried, as JSON; NULL while there is none */
const char *host_get_lock(const Host *host);

/** host_get_sandbox_report() - the launcher's report as JSON; NULL while there is none */
const char *host_get_sandbox_report(const Host *host);

/** host_when_settled() - call back when it is ready, failed, or (when it should not run) gone; at once if it is */
void host_when_settled(Host *host, HostSettled settled, void *userdata);

/**
 * host_need() - make it ready for a call: a host that sleeps is started; all who need it share one start
 * @settled: called once, possibly before this returns: without an error when it is ready, else with one
 */
void host_need(Host *host, HostSettled settled, void *userdata);

/** host_forget_waiters() - callbacks with this userdata will not come any more */
void host_forget_waiters(Host *host, const void *userdata);

/** host_is_ready() - calls may be sent */
bool host_is_ready(const Host *host);

/** host_is_missing_guard() - it is enabled and listened to calls, and can't be asked now: calls wait for it, or are denied */
bool host_is_missing_guard(const Host *host);

/** host_touch() - something needed it until now: the time until it is stopped begins anew */
void host_touch(Host *host);

/** host_runs_always() - [plugins."<name>"] activation is "eager" */
bool host_runs_always(const Host *host);

/** host_write_limits() - configured and effective limits, and whether each is enforced, as a JSON object */
void host_write_limits(const Host *host, JWriter *writer);

/** host_write_usage() - what its control group uses now, as a JSON object; {} when it does not run */
void host_write_usage(const Host *host, JWriter *writer);

/** host_write() - all of it as members of an object that is open: state, reason, unit, entries, crashes, diagnostics */
void host_write(const Host *host, JWriter *writer);

/** host_foreach_diagnostic() - the kept messages of this plugin, oldest first */
void host_foreach_diagnostic(const Host *host, void (*each)(const char *text, void *userdata), void *userdata);
