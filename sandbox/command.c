/* SPDX-License-Identifier: MIT */

/* The launcher's command line: what it has to verify, told by the one who knows. The launcher itself knows
 * no policy. */

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/limits.h"
#include "sandbox/spec.h"

static void add(GPtrArray *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(GPtrArray *command, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        g_ptr_array_add(command, g_strdup_vprintf(format, arguments));
        va_end(arguments);
}

static void add_all(GPtrArray *command, const char *option, const char *const *list) {
        for (; list && *list; list++)
                add(command, "--%s=%s", option, *list);
}

/* The namespaces of this process, which the unit must not share. */
static int add_namespaces(GPtrArray *command) {
        static const char *const kinds[] = { "user", "net", "mnt", "ipc" };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                g_autofree char *path = g_strdup_printf("/proc/self/ns/%s", kinds[i]);
                struct stat st;

                if (stat(path, &st) < 0)
                        return -errno;
                add(command, "--not-namespace=%s:%" PRIu64, kinds[i], (uint64_t) st.st_ino);
        }

        return 0;
}

static const char *const workspace_options[_WORKSPACE_ACCESS_MAX] = {
        [WORKSPACE_READ] = "read",
        [WORKSPACE_WRITE] = "work",
        [WORKSPACE_RUN] = "run",
};

/* What the launcher lets the runtime touch with Landlock, which reaches where the unit's mounts don't:
 * foreign entries of /proc. */
static void add_rights(GPtrArray *command, const SandboxSpec *spec) {
        static const char *const execute[] = { "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin",
                "/sbin", NULL };
        static const char *const read[] = {
                "/etc",
                "/host",
                "/proc/self",
                "/proc/sys",
                "/proc/cpuinfo",
                "/proc/meminfo",
                "/proc/stat",
                "/proc/uptime",
                "/proc/loadavg",
                "/proc/version",
                NULL,
        };

        add_all(command, "execute", execute);
        add_all(command, "read", read);
        if (spec->runtime && !g_str_has_prefix(spec->runtime, "/usr/"))
                add(command, "--execute=%s", SANDBOX_RUNTIME_DIR);
        if (spec->plugin_tree)
                add(command, "--read=%s", SANDBOX_PLUGIN_PATH);
        if (spec->workspace)
                add(command, "--%s=%s", workspace_options[spec->workspace_access], spec->workspace);
        if (spec->data_directory)
                add(command, "--write=%s", SANDBOX_DATA_PATH);
        add(command, "--write=%s", SANDBOX_TMP_PATH);
}

static void add_environment(GPtrArray *command, const char *const *environment) {
        for (; environment && *environment; environment++)
                add(command, "--keep=%.*s", (int) strcspn(*environment, "="), *environment);
}

static void add_runtime(GPtrArray *command, const SandboxSpec *spec) {
        g_autofree char *path = NULL;

        if (spec->probe) {
                add(command, "--probe");
                return;
        }
        path = sandbox_spec_runtime_path(spec);
        add(command, "--");
        add(command, "%s", path);
        for (const char *const *argument = spec->arguments; argument && *argument; argument++)
                add(command, "%s", *argument);
}

int sandbox_spec_command(const SandboxSpec *spec, char ***ret) {
        g_autoptr(GPtrArray) command = g_ptr_array_new_with_free_func(g_free);
        int r;

        assert(spec);
        assert(ret);

        add(command, "%s", SANDBOX_LAUNCHER_PATH);
        if (spec->network) {
                for (const char *const *argument = spec->arguments; argument && *argument; argument++)
                        add(command, "%s", *argument);
                g_ptr_array_add(command, NULL);
                *ret = (char **) g_ptr_array_free(g_steal_pointer(&command), FALSE);
                return 0;
        }
        r = add_namespaces(command);
        if (r < 0)
                return r;
        add(command, "--service=%" PRIi64, (int64_t) getpid());
        add_all(command, "socket", spec->sockets);
        add_all(command, "abstract", spec->abstract);
        add_all(command, "hidden", spec->hidden);
        add_rights(command, spec);
        add_environment(command, spec->environment);
        if (spec->without_landlock)
                add(command, "--without=landlock");
        add_runtime(command, spec);

        g_ptr_array_add(command, NULL);
        *ret = (char **) g_ptr_array_free(g_steal_pointer(&command), FALSE);
        return 0;
}
