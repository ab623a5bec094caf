/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "sandbox/spec.h"
#include "sandbox/unit-name.h"

/* What a program that was built for this machine needs to start; the second group may be missing. */
static const char *const system_paths[] = { "/usr", "/etc/ld.so.cache", NULL };
static const char *const system_paths_optional[] = { "/lib", "/lib64", NULL };
/* What somebody who executes programs may name; a host executes none. */
static const char *const program_paths_optional[] = { "/lib32", "/libx32", "/bin", "/sbin", NULL };

/* What finding a host and trusting it takes; none of it holds a secret. */
static const char *const network_paths_optional[] = {
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/host.conf",
        "/etc/nsswitch.conf",
        "/etc/gai.conf",
        "/run/systemd/resolve/stub-resolv.conf",
        "/run/systemd/resolve/resolv.conf",
        NULL,
};

static bool has_part(const char *path, const char *part) {
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);

        return g_strv_contains((const char *const *) parts, part);
}

static bool path_is_plain(const char *path) {
        if (path[0] != '/' || strlen(path) >= PATH_MAX || !g_utf8_validate(path, -1, NULL))
                return false;
        for (const char *at = path; *at; at++)
                if (g_ascii_iscntrl(*at))
                        return false;

        return !strstr(path, "//") && !has_part(path, ".") && !has_part(path, "..");
}

static int check_path(const char *what, const char *path, bool required, sd_bus_error *reterr) {
        if (!path && !required)
                return 0;
        if (!path)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The sandbox has no %s.", what);
        if (!path_is_plain(path))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                "The sandbox's %s is not an absolute plain path: %s", what, path);

        return 0;
}

static int check_environment(const char *const *environment, sd_bus_error *reterr) {
        for (; environment && *environment; environment++) {
                const char *equals = strchr(*environment, '=');

                if (!equals || equals == *environment || !g_utf8_validate(*environment, -1, NULL) ||
                                strpbrk(*environment, "\n\r"))
                        return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                        "Not a variable for the sandbox: %s", *environment);
        }

        return 0;
}

int sandbox_spec_check(const SandboxSpec *spec, bool system, sd_bus_error *reterr) {
        const struct {
                const char *what;
                const char *path;
                bool required;
        } paths[] = {
                { "root", spec->root, false },
                { "folder for /etc", spec->etc, false },
                { "launcher", spec->launcher, true },
                { "runtime", spec->runtime, !spec->probe && !spec->network },
                { "host bundle", spec->bundle, false },
                { "plugin tree", spec->plugin_tree, false },
                { "data directory", spec->data_directory, false },
                { "workspace", spec->workspace, false },
                { "file of certificates", spec->certificates, false },
        };
        int r;

        if (!spec->unit || !spec->plugin_id)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The sandbox has no name.");
        if (system && !spec->user)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                "The system manager would run the sandbox as root; no user was given.");
        if (spec->workspace && g_str_equal(spec->workspace, "/"))
                return errors_set(
                                reterr, ERROR_INVALID_ARGUMENTS, "The workspace can't be the whole system.");

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                r = check_path(paths[i].what, paths[i].path, paths[i].required, reterr);
                if (r < 0)
                        return r;
        }

        return check_environment(spec->environment, reterr);
}

char *sandbox_spec_runtime_path(const SandboxSpec *spec) {
        const char *slash;

        assert(spec && spec->runtime);

        if (g_str_has_prefix(spec->runtime, "/usr/"))
                return g_strdup(spec->runtime);

        slash = strrchr(spec->runtime, '/');
        return g_strdup_printf(SANDBOX_RUNTIME_DIR "%s", slash);
}

/* Properties that only this specification decides. */

static int append_text(sd_bus_message *m, const char *name, const char *text) {
        return sd_bus_message_append(m, "(sv)", name, "s", text);
}

static int append_number(sd_bus_message *m, const char *name, uint64_t number) {
        return sd_bus_message_append(m, "(sv)", name, "t", number);
}

static int open_property(sd_bus_message *m, const char *name, const char *signature) {
        int r;

        r = sd_bus_message_open_container(m, 'r', "sv");
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "s", name);
        if (r < 0)
                return r;

        return sd_bus_message_open_container(m, 'v', signature);
}

static int close_property(sd_bus_message *m) {
        int r = sd_bus_message_close_container(m);

        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_list(sd_bus_message *m, const char *name, const char *const *list) {
        int r;

        r = open_property(m, name, "as");
        if (r < 0)
                return r;
        r = sd_bus_message_append_strv(m, (char **) list);
        if (r < 0)
                return r;

        return close_property(m);
}

static int append_bind(sd_bus_message *m, const char *outside, const char *inside, bool may_be_missing) {
        if (!outside)
                return 0;

        return sd_bus_message_append(m, "(ssbt)", outside, inside, (int) may_be_missing, (uint64_t) MS_REC);
}

static bool has_variable(const SandboxSpec *spec, const char *name) {
        return spec->environment && g_environ_getenv((char **) spec->environment, name);
}

/* A host has an /etc of its own. The others get theirs from the mounts within it, which leave names behind in the folder. */
static bool has_own_etc(const SandboxSpec *spec) {
        return spec->etc && !spec->workspace && !spec->network;
}

static int append_read_only(const SandboxSpec *spec, sd_bus_message *m) {
        g_autofree char *runtime = spec->runtime ? sandbox_spec_runtime_path(spec) : NULL;
        int r;

        r = open_property(m, "BindReadOnlyPaths", "a(ssbt)");
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(m, 'a', "(ssbt)");

        /* First the folder, then what lies in it. */
        if (r >= 0 && has_own_etc(spec))
                r = append_bind(m, spec->etc, "/etc", false);
        for (size_t i = 0; r >= 0 && system_paths[i]; i++)
                r = append_bind(m, system_paths[i], system_paths[i], false);
        for (size_t i = 0; r >= 0 && system_paths_optional[i]; i++)
                r = append_bind(m, system_paths_optional[i], system_paths_optional[i], true);
        for (size_t i = 0; r >= 0 && !spec->bundle && program_paths_optional[i]; i++)
                r = append_bind(m, program_paths_optional[i], program_paths_optional[i], true);
        if (r >= 0 && !has_variable(spec, "TZ"))
                r = append_bind(m, "/etc/localtime", "/etc/localtime", true);
        if (r >= 0)
                r = append_bind(m, spec->launcher, SANDBOX_LAUNCHER_PATH, false);
        if (r >= 0 && runtime && !g_str_equal(runtime, spec->runtime))
                r = append_bind(m, spec->runtime, runtime, false);
        if (r >= 0)
                r = append_bind(m, spec->bundle, SANDBOX_BUNDLE_PATH, false);
        if (r >= 0)
                r = append_bind(m, spec->plugin_tree, SANDBOX_PLUGIN_PATH, false);
        if (r >= 0 && spec->workspace_access == WORKSPACE_READ)
                r = append_bind(m, spec->workspace, spec->workspace, false);
        for (size_t i = 0; r >= 0 && spec->network && network_paths_optional[i]; i++)
                r = append_bind(m, network_paths_optional[i], network_paths_optional[i], true);
        if (r >= 0)
                r = append_bind(m, spec->certificates, SANDBOX_CERTIFICATES_PATH, false);

        if (r >= 0)
                r = sd_bus_message_close_container(m);
        return r < 0 ? r : close_property(m);
}

/* The root is an empty tmpfs in any case (walls.c). Where this folder is given, that is laid over a mount of the folder alone;
 * otherwise over a copy of every mount of the machine, which systemd then walks through some hundred times. Not with a workspace:
 * the folder may be in it. */
static int append_root(const SandboxSpec *spec, sd_bus_message *m) {
        int r;

        if (!spec->root || spec->workspace)
                return 0;
        r = append_text(m, "RootDirectory", spec->root);
        if (r < 0)
                return r;

        /* What RootDirectory= would bring along. */
        return sd_bus_message_append(m, "(sv)", "MountAPIVFS", "b", 0);
}

static int append_writable(const SandboxSpec *spec, sd_bus_message *m) {
        int r;

        if (spec->data_directory) {
                r = sd_bus_message_append(m, "(sv)", "BindPaths", "a(ssbt)", 1, spec->data_directory,
                                SANDBOX_DATA_PATH, 0, (uint64_t) 0);
                if (r < 0)
                        return r;
        }
        if (!spec->workspace || spec->workspace_access == WORKSPACE_READ)
                return 0;

        return sd_bus_message_append(m, "(sv)", "BindPaths", "a(ssbt)", 1, spec->workspace, spec->workspace,
                        0, (uint64_t) MS_REC);
}

static int append_files(const SandboxSpec *spec, sd_bus_message *m) {
        const char *no_exec[4] = { NULL }; /* "+": within the sandbox's root, wherever that is laid */
        size_t n = 0;
        int r;

        r = append_root(spec, m);
        /* "full" insists on an /etc that is there before anything is mounted in it. */
        if (r >= 0)
                r = append_text(m, "ProtectSystem", has_own_etc(spec) ? "full" : "yes");
        if (r >= 0)
                r = append_read_only(spec, m);
        if (r >= 0)
                r = append_writable(spec, m);
        if (r < 0)
                return r;

        if (spec->plugin_tree)
                no_exec[n++] = "+" SANDBOX_PLUGIN_PATH;
        if (spec->data_directory)
                no_exec[n++] = "+" SANDBOX_DATA_PATH;
        if (spec->workspace && spec->workspace_access == WORKSPACE_WRITE)
                no_exec[n++] = spec->workspace;
        if (!spec->workspace) {
                /* There is no home in this root anyway, except on the way to a workspace. */
                r = append_text(m, "ProtectHome", "yes");
                if (r < 0)
                        return r;
        }
        if (n > 0) {
                r = append_list(m, "NoExecPaths", no_exec);
                if (r < 0)
                        return r;
        }

        return append_text(m, "WorkingDirectory",
                        spec->data_directory ? SANDBOX_DATA_PATH
                        : spec->workspace    ? spec->workspace
                                             : SANDBOX_TMP_PATH);
}

static uint64_t or_default(uint64_t number, uint64_t fallback) {
        return number > 0 ? number : fallback;
}

static uint64_t spec_data_bytes(const SandboxSpec *spec) {
        return or_default(spec->data_bytes,
                        or_default(spec->memory_bytes, HOST_MEMORY_BYTES) + HOST_JIT_DATA_BYTES);
}

static int append_limits(const SandboxSpec *spec, sd_bus_message *m) {
        int r;

        r = append_number(m, "MemoryMax", or_default(spec->memory_bytes, HOST_MEMORY_BYTES));
        if (r < 0)
                return r;
        r = append_number(m, "LimitDATA", spec_data_bytes(spec));
        if (r < 0)
                return r;
        r = append_number(m, "TasksMax", or_default(spec->tasks, HOST_TASKS_MAX));
        if (r < 0)
                return r;

        return spec->cpu_percent > 0
                               ? append_number(m, "CPUQuotaPerSecUSec", spec->cpu_percent * UINT64_C(10000))
                               : 0;
}

static int append_journal_fields(const SandboxSpec *spec, sd_bus_message *m) {
        g_autofree char *field = g_strdup_printf("CODEWHALE_PLUGIN=%s", spec->plugin_id);
        int r;

        r = open_property(m, "LogExtraFields", "aay");
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(m, 'a', "ay");
        if (r < 0)
                return r;
        r = sd_bus_message_append_array(m, 'y', field, strlen(field));
        if (r < 0)
                return r;
        r = sd_bus_message_close_container(m);
        if (r < 0)
                return r;

        return close_property(m);
}

static int append_place(const SandboxSpec *spec, sd_bus_message *m) {
        g_autofree char *made = g_strdup_printf("Extension host of %s", spec->plugin_id);
        int r;

        r = append_text(m, "Description", spec->description ? spec->description : made);
        if (r < 0)
                return r;
        r = append_text(m, "Slice", UNIT_SLICE);
        if (r < 0)
                return r;
        if (spec->binds_to) {
                r = append_list(m, "BindsTo", (const char *const[]){ spec->binds_to, NULL });
                if (r < 0)
                        return r;
        }
        if (spec->user) {
                r = append_text(m, "User", spec->user);
                if (r < 0)
                        return r;
        }

        return append_journal_fields(spec, m);
}

/* A dollar sign stays what it is: in a command two of them stand for one. */
static char *escape_argument(const char *argument) {
        g_autoptr(GString) escaped = g_string_new(argument);

        g_string_replace(escaped, "$", "$$", 0);
        return g_string_free(g_steal_pointer(&escaped), FALSE);
}

/* Not ExecStartEx=, which would let us say "no-env-expand": systemd 252 writes it down under that name, which it can't read. Once
 * its units are read anew, by any daemon-reload, each host's has a bad setting, and no job that touches it begins: not even a
 * restart of the service that it is bound to. */
static int append_command(const SandboxSpec *spec, sd_bus_message *m) {
        g_auto(GStrv) command = NULL;
        int r;

        r = sandbox_spec_command(spec, &command);
        if (r < 0)
                return r;
        for (char **argument = command; *argument; argument++) {
                char *escaped = escape_argument(*argument);

                g_free(*argument);
                *argument = escaped;
        }
        r = open_property(m, "ExecStart", "a(sasb)");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "(sasb)");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'r', "sasb");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", SANDBOX_LAUNCHER_PATH);
        if (r >= 0)
                r = sd_bus_message_append_strv(m, command);
        if (r >= 0)
                r = sd_bus_message_append(m, "b", 0);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                r = sd_bus_message_close_container(m);

        return r < 0 ? r : close_property(m);
}

static int append_execution(const SandboxSpec *spec, sd_bus_message *m, int fd) {
        int r;

        if (spec->environment && spec->environment[0]) {
                r = append_list(m, "Environment", spec->environment);
                if (r < 0)
                        return r;
        }
        r = sd_bus_message_append(m, "(sv)(sv)", "StandardInputFileDescriptor", "h", fd,
                        "StandardOutputFileDescriptor", "h", fd);

        return r < 0 ? r : append_command(spec, m);
}

static int append_network_walls(sd_bus_message *m) {
        size_t n = 0;
        const Wall *walls = walls_get_network(&n);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < n; i++)
                r = wall_append(&walls[i], m);
        return r;
}

static int append_walls(const SandboxSpec *spec, sd_bus_message *m, const WallSet *without) {
        size_t n = 0;
        const Wall *walls = walls_get(&n);

        for (size_t i = 0; i < n; i++) {
                int r;

                if (walls[i].offline && spec->network)
                        continue;
                if (wall_set_has(without, i)) {
                        assert(!walls[i].security);
                        continue;
                }
                r = wall_append(&walls[i], m);
                if (r < 0)
                        return r;
        }

        return spec->network ? append_network_walls(m) : 0;
}

int sandbox_spec_append(const SandboxSpec *spec, sd_bus_message *m, int fd, const WallSet *without) {
        int r;

        assert(spec);
        assert(m);
        assert(fd >= 0);

        r = sd_bus_message_open_container(m, 'a', "(sv)");
        if (r < 0)
                return r;
        r = append_place(spec, m);
        if (r < 0)
                return r;
        r = append_walls(spec, m, without);
        if (r < 0)
                return r;
        r = append_files(spec, m);
        if (r < 0)
                return r;
        r = append_limits(spec, m);
        if (r < 0)
                return r;
        r = append_execution(spec, m, fd);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(m);
}
