/* SPDX-License-Identifier: MIT */
#pragma once

/* What one sandboxed unit is: the caller's decisions (SandboxSpec) and the walls that every unit gets
 * (design 5.1), which are a table in walls.c. Inside, paths are always the same (see below), whatever they
 * are outside. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "sandbox/lifeline.h"
#include "sandbox/walls.h"

/* Paths inside the unit's root */
#define SANDBOX_LAUNCHER_PATH "/host/codewhale-host-launcher"
#define SANDBOX_BUNDLE_PATH   "/host/codewhale-extension-host.mjs"
#define SANDBOX_PLUGIN_PATH   "/plugin"
#define SANDBOX_DATA_PATH     "/data"
#define SANDBOX_TMP_PATH      "/tmp"
#define SANDBOX_CERTIFICATES_PATH "/host/certificates.pem"
#define SANDBOX_RUNTIME_DIR   "/runtime" /* the runtime's program, when it is not below /usr */

/* What may be done in the workspace. */
typedef enum WorkspaceAccess {
        WORKSPACE_READ,  /* look at it */
        WORKSPACE_WRITE, /* change it; nothing in it can be executed */
        WORKSPACE_RUN,   /* change it, and execute what is in it: for a shell */
        _WORKSPACE_ACCESS_MAX,
        _WORKSPACE_ACCESS_INVALID = -22,
} WorkspaceAccess;

/* Everything that the caller decides. Texts are borrowed for the duration of the call they are passed to.
 * Paths are absolute, outside, and have no "." or ".." parts. */
typedef struct SandboxSpec {
        const char *unit;        /* from unit_name_for_host() */
        const char *description; /* NULL: made from the plugin's id */
        const char *plugin_id;   /* goes into the journal's fields (CODEWHALE_PLUGIN=) */
        const char *binds_to; /* NULL, or the unit (of the same manager) without which this one must not run
                               */
        Lifeline *lifeline; /* NULL, or what it is bound to in place of such a unit; borrowed until it ends */
        const char *user;     /* system manager: whom to run as, required there. NULL with a user manager */

        const char *root;               /* NULL, or a folder without mounts of its own that nothing below is in: the sandbox's
                                           root is laid over it, which is a third quicker */
        const char *etc;                /* NULL, or an empty folder that others may look into: /etc of a sandbox without a
                                           workspace and a network, where systemd then writes all of the system off */
        const char *launcher;           /* codewhale-host-launcher */
        const char *runtime;            /* the runtime's program: no link; NULL with @probe */
        const char *const *arguments;   /* after the program's own name, NULL at the end; paths as they are
                                           inside */
        const char *const *environment; /* NAME=VALUE, NULL at the end: all that the runtime gets, nothing is
                                           inherited */
        const char *bundle;             /* NULL, or the host bundle */
        const char *plugin_tree;        /* NULL, or the sealed copy, read-only */
        const char *data_directory;     /* NULL for helpers: then /tmp is all they can write */
        const char *workspace;          /* NULL, or a directory to be seen at its own path; also where the
                                           runtime begins when there is no data directory */
        WorkspaceAccess workspace_access;

        uint64_t memory_bytes; /* MemoryMax=; 0: HOST_MEMORY_BYTES */
        uint64_t data_bytes;   /* LimitDATA=: budget plus what the runtime maps at start; 0: memory +
                                  HOST_JIT_DATA_BYTES */
        uint64_t tasks;        /* TasksMax=; 0: HOST_TASKS_MAX */
        unsigned cpu_percent;  /* CPUQuota=; 0: none */

        /* What the launcher tries and must not succeed with; all may be NULL. */
        const char *const *sockets;  /* paths of sockets: buses, the manager's, our own */
        const char *const *abstract; /* names of abstract sockets that somebody listens on */
        const char *const *hidden;   /* paths that must not be there: the home, our state */

        /* For a helper of our own that fetches something: it may reach the network, and is executed as it is. There is no
         * launcher: nothing in it comes from a stranger, and what it must not reach is not there. */
        bool network;             /* @launcher is the helper, @arguments are its */
        const char *certificates; /* NULL, or a file of certificates that it trusts too */

        bool probe;            /* report and end: no runtime is executed */
        bool without_landlock; /* as on a kernel that has none; for tests */
} SandboxSpec;

/**
 * sandbox_spec_check() - whether a specification is complete and means what it says
 * @system: whether it is for the system manager
 *
 * Return: 0; -EINVAL with words in @reterr.
 */
int sandbox_spec_check(const SandboxSpec *spec, bool system, sd_bus_error *reterr);

/** sandbox_spec_copy() - a copy that owns all it points to; sandbox_spec_free() is only for such copies */
SandboxSpec *sandbox_spec_copy(const SandboxSpec *spec);
SandboxSpec *sandbox_spec_free(SandboxSpec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SandboxSpec, sandbox_spec_free)

/** sandbox_spec_runtime_path() - where the runtime's program is inside; a new string */
char *sandbox_spec_runtime_path(const SandboxSpec *spec);

/**
 * sandbox_spec_command() - the launcher's command line, NULL at the end; freed with g_strfreev()
 *
 * It carries what the launcher has to verify, namespaces and pid of this very process included.
 */
int sandbox_spec_command(const SandboxSpec *spec, char ***ret);

/**
 * sandbox_spec_append() - all properties of StartTransientUnit: "a(sv)"
 * @m:       the call, after name and mode
 * @fd:      the host's end of the channel: becomes standard input and output; duplicated, stays the caller's
 * @without: optional walls that this manager refused earlier
 *
 * Return: 0 or -errno.
 */
int sandbox_spec_append(const SandboxSpec *spec, sd_bus_message *m, int fd, const WallSet *without);
