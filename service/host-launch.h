/* SPDX-License-Identifier: MIT */
#pragma once

/* How one host is launched: the unit's specification with everything that it points to (contract 3.3, 3.5, 3.9, design 5). */

#include "sandbox/spec.h"
#include "service/host-handshake.h"
#include "service/host.h"

typedef struct HostLaunch HostLaunch;

/**
 * host_launch_prepare() - decide all of it, and make the plugin's data directory
 * @plugin: NULL for a tier that runs none, when it is not for a plugin
 * @staged: the sealed copy; NULL for a tier that runs no plugin
 *
 * Return: 0; -errno with words in @reterr: the host bundle is missing or altered, the data directory can't be made.
 */
int host_launch_prepare(
                const HostContext *context, Plugin *plugin, StagedCopy *staged, HostTier tier, const Runtime *runtime,
                uint64_t unit_generation, HostLaunch **ret, sd_bus_error *reterr);
HostLaunch *host_launch_free(HostLaunch *launch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostLaunch, host_launch_free)

const SandboxSpec *host_launch_spec(const HostLaunch *launch); /* borrowed */
const char *host_launch_unit(const HostLaunch *launch);

/* A unit for one call of the built-in core. */
typedef struct CoreLaunch {
        const char *tool; /* for the unit's name and description */
        const char *plugin_id; /* the extension that asks */
        const char *workspace;
        WorkspaceAccess access;
} CoreLaunch;

/**
 * host_launch_core() - a specification whose program is codewhale-core-tool, which stands beside the launcher, and whose
 * only view is the workspace
 */
int host_launch_core(
                const HostContext *context, const CoreLaunch *core, uint64_t unit_generation, HostLaunch **ret, sd_bus_error *reterr);

/**
 * host_launch_web() - the same for the one tool that has the network: its program is codewhale-download, which has no launcher
 * and no file of anybody; @core->workspace and @core->access do not count
 */
int host_launch_web(
                const HostContext *context, const CoreLaunch *core, uint64_t unit_generation, HostLaunch **ret, sd_bus_error *reterr);

/** host_launch_expect() - what the host's hello must say */
void host_launch_expect(const HostLaunch *launch, const Runtime *runtime, HostTier tier, HostExpectation *ret);

/** host_launch_probe() - a specification for a throw-away unit that only reports; for doctor */
int host_launch_probe(const HostContext *context, uint64_t unit_generation, HostLaunch **ret, sd_bus_error *reterr);

/**
 * host_own_unit() - the unit of the manager that starts hosts whose main process we are: what we start is bound to it
 *
 * Return: a new string; NULL when we are none, and a lifeline has to do (sandbox/lifeline.h).
 */
char *host_own_unit(const HostContext *context);

/** host_data_open() - the directory that keeps what one plugin stored; made when missing. A descriptor or -errno */
int host_data_open(CodewhaleHome *home, const Plugin *plugin);
