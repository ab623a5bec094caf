/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "host-bundle-digest.h"
#include "sandbox/downloader/message.h"
#include "sandbox/downloader/web-fetch.h"
#include "sandbox/unit-name.h"
#include "service/host-launch.h"
#include "service/time-zone.h"

#define BUNDLE_FILE_BYTES_MAX MIB(4)
#define FILES_FOLDER "files"

struct HostLaunch {
        SandboxSpec spec;
        char *unit, *binds_to, *plugin_id, *plugin_tree, *data_directory;
        char *description, *program, *workspace, *certificates; /* of a core call */
        GPtrArray *environment;
        GPtrArray *arguments;
        GPtrArray *sockets;
        GPtrArray *hidden;
};

/* Nothing of ours is inherited: a preload or an option must not run before the host has locked itself (H05, H06). */
static const char *const variables[] = {
        "PATH=/usr/bin:/bin",
        "HOME=" SANDBOX_DATA_PATH,
        "TMPDIR=" SANDBOX_TMP_PATH,
        "LANG=C.UTF-8",
};
static const char *const node_variables[] = { "NODE_OPTIONS=", NULL };
static const char *const bun_variables[] = { "BUN_OPTIONS=", "BUN_BE_BUN=0", "BUN_JSC_useShadowRealm=0", NULL };

HostLaunch *host_launch_free(HostLaunch *launch) {
        if (!launch)
                return NULL;

        g_free(launch->unit);
        g_free(launch->binds_to);
        g_free(launch->plugin_id);
        g_free(launch->plugin_tree);
        g_free(launch->data_directory);
        g_free(launch->description);
        g_free(launch->program);
        g_free(launch->workspace);
        g_free(launch->certificates);
        g_clear_pointer(&launch->environment, g_ptr_array_unref);
        g_clear_pointer(&launch->arguments, g_ptr_array_unref);
        g_clear_pointer(&launch->sockets, g_ptr_array_unref);
        g_clear_pointer(&launch->hidden, g_ptr_array_unref);
        g_free(launch);
        return NULL;
}

const SandboxSpec *host_launch_spec(const HostLaunch *launch) {
        return &launch->spec;
}

const char *host_launch_unit(const HostLaunch *launch) {
        return launch->unit;
}

int host_data_open(CodewhaleHome *home, const Plugin *plugin) {
        _cleanup_close_ int data = codewhale_home_make(home, HOME_DATA);

        return data < 0 ? data : safe_make_directory_at(data, plugin_get_data_name(plugin), 0700);
}

/* The bytes that will run are the ones that this program was built with. */
static int check_bundle(const char *path, sd_bus_error *reterr) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        g_autofree char *data = NULL, *digest = NULL;
        size_t size;
        int r;

        r = fd < 0 ? -errno : safe_read_fd(fd, BUNDLE_FILE_BYTES_MAX, &data, &size);
        if (r < 0)
                return errors_set(reterr, ERROR_HOST_UNAVAILABLE, "The JavaScript host %s can't be read: %s.", path, g_strerror(-r));

        digest = sha256_hex(data, size);
        if (strcmp(digest, HOST_BUNDLE_SHA256) != 0)
                return errors_set(reterr, ERROR_HOST_UNAVAILABLE,
                                  "The JavaScript host %s is not the one that this service was built with; install it again.", path);
        return 0;
}

static void add(GPtrArray *list, char *text) {
        g_ptr_array_add(list, text);
}

static void add_flags(HostLaunch *launch, const Runtime *runtime) {
        static const char *const bun_flags[] = { "--no-install", "--no-env-file", "--config=/dev/null", "--no-addons" };
        static const char *const flags[] = {
                "--no-warnings", "--no-addons", "--disable-proto=throw", "--no-experimental-sqlite", "--disable-sigusr1",
                "--no-global-search-paths", "--max-old-space-size=256", "--permission", "--allow-fs-read=/host/",
                "--allow-fs-read=/plugin/", "--allow-fs-read=/data/", "--allow-fs-write=/data/", "--allow-fs-read=/tmp/",
                "--allow-fs-write=/tmp/",
        };

        if (runtime->kind == RUNTIME_BUN) {
                for (size_t i = 0; i < G_N_ELEMENTS(bun_flags); i++)
                        add(launch->arguments, g_strdup(bun_flags[i]));
                return;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
                add(launch->arguments, g_strdup(flags[i]));
        /* Older ones refuse to start with it. */
        if (runtime->major >= 26)
                add(launch->arguments, g_strdup("--no-experimental-ffi"));
}

/* The bundle behind the flags, the tier last (H04). */
static void add_arguments(HostLaunch *launch, const Runtime *runtime, HostTier tier) {
        launch->arguments = g_ptr_array_new_with_free_func(g_free);
        add_flags(launch, runtime);
        add(launch->arguments, g_strdup(SANDBOX_BUNDLE_PATH));
        add(launch->arguments, g_strdup_printf("--tier=%s", host_tier_to_string(tier)));
        add(launch->arguments, NULL);
}

static void add_environment(HostLaunch *launch) {
        g_autofree char *zone = time_zone_name(NULL);

        launch->environment = g_ptr_array_new_with_free_func(g_free);
        for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
                add(launch->environment, g_strdup(variables[i]));
        if (zone)
                add(launch->environment, g_strconcat("TZ=", zone, NULL));
        add(launch->environment, NULL);
}

static void add_runtime_environment(HostLaunch *launch, RuntimeKind kind) {
        const char *const *more = kind == RUNTIME_BUN ? bun_variables : node_variables;

        for (size_t i = 0; more[i]; i++)
                g_ptr_array_insert(launch->environment, 0, g_strdup(more[i]));
        launch->spec.environment = (const char *const *) launch->environment->pdata;
}

/* What the launcher tries to reach and must not. */
static void add_targets(HostLaunch *launch, const HostContext *context) {
        const char *runtime_directory = g_getenv("XDG_RUNTIME_DIR");

        launch->sockets = g_ptr_array_new_with_free_func(g_free);
        launch->hidden = g_ptr_array_new_with_free_func(g_free);
        if (runtime_directory) {
                add(launch->sockets, g_build_filename(runtime_directory, "bus", NULL));
                add(launch->sockets, g_build_filename(runtime_directory, "systemd", "private", NULL));
        }
        add(launch->sockets, g_strdup("/run/dbus/system_bus_socket"));
        add(launch->sockets, g_strdup("/run/systemd/private"));
        add(launch->sockets, NULL);
        add(launch->hidden, g_strdup(g_get_home_dir()));
        add(launch->hidden, g_strdup(codewhale_home_get_path(context->home, HOME_ROOT)));
        add(launch->hidden, NULL);
}

/* The unit that we are, when it belongs to the manager that starts the hosts: they go down with it. To run in a unit is not
 * enough: that of a bus or an editor that started us outlives us. */
char *host_own_unit(const HostContext *context) {
        const char *main_process = g_getenv("SYSTEMD_EXEC_PID");
        char *unit = NULL;

        if (!main_process || g_ascii_strtoll(main_process, NULL, 10) != getpid())
                return NULL;
        if (unit_manager_get_system(context->manager))
                (void) sd_pid_get_unit(0, &unit);
        else
                (void) sd_pid_get_user_unit(0, &unit);
        if (unit && !g_str_has_suffix(unit, ".service"))
                g_clear_pointer(&unit, g_free);
        return unit;
}

static int prepare_data(HostLaunch *launch, const HostContext *context, const Plugin *plugin, sd_bus_error *reterr) {
        _cleanup_close_ int data = host_data_open(context->home, plugin), files = -EBADF;

        files = data < 0 ? data : safe_make_directory_at(data, FILES_FOLDER, 0700);
        /* Another user writes there; the folders above let nobody else come near. */
        if (files >= 0 && context->user && fchmod(files, 0777) < 0)
                return errors_set(reterr, ERROR_IO, "The data directory of %s can't be given to its host: %s.", plugin_get_id(plugin),
                                  g_strerror(errno));
        if (files < 0)
                return errors_set(reterr, ERROR_IO, "The data directory of %s can't be made: %s.", plugin_get_id(plugin),
                                  g_strerror(-files));

        launch->data_directory = g_build_filename(codewhale_home_get_path(context->home, HOME_DATA), plugin_get_data_name(plugin),
                                                  FILES_FOLDER, NULL);
        return 0;
}

static int launch_new(
                const HostContext *context, const char *plugin_id, HostTier tier, uint64_t unit_generation, HostLaunch **ret) {
        g_autoptr(HostLaunch) launch = g_new0(HostLaunch, 1);
        _cleanup_close_ int root = codewhale_home_make(context->home, HOME_SANDBOX);
        _cleanup_close_ int etc = codewhale_home_make(context->home, HOME_ETC);
        g_autofree char *shown = g_strdelimit(g_strconcat(tier == HOST_TIER_STRIP ? "types:" : "", plugin_id, NULL), "/", ':');
        int r;

        r = unit_name_for_host(shown, unit_generation, &launch->unit);
        if (r < 0)
                return r;

        launch->binds_to = host_own_unit(context);
        launch->plugin_id = g_strdup(plugin_id);
        add_targets(launch, context);
        add_environment(launch);
        launch->spec = (SandboxSpec) {
                .unit = launch->unit,
                .plugin_id = launch->plugin_id,
                .binds_to = launch->binds_to,
                .lifeline = launch->binds_to ? NULL : context->lifeline,
                .user = context->user,
                .root = root >= 0 ? codewhale_home_get_path(context->home, HOME_SANDBOX) : NULL,
                /* In a system service the host is another user, who must be able to look into it. */
                .etc = etc >= 0 && fchmod(etc, 0755) >= 0 ? codewhale_home_get_path(context->home, HOME_ETC) : NULL,
                .launcher = context->launcher_path,
                .environment = (const char *const *) launch->environment->pdata,
                .memory_bytes = context->config->memory_bytes,
                .tasks = context->config->tasks,
                .sockets = (const char *const *) launch->sockets->pdata,
                .hidden = (const char *const *) launch->hidden->pdata,
        };
        *ret = g_steal_pointer(&launch);
        return 0;
}

int host_launch_prepare(
                const HostContext *context, Plugin *plugin, StagedCopy *staged, HostTier tier, const Runtime *runtime,
                uint64_t unit_generation, HostLaunch **ret, sd_bus_error *reterr) {
        g_autoptr(HostLaunch) launch = NULL;
        int r;

        r = check_bundle(context->bundle_path, reterr);
        if (r < 0)
                return r;
        r = launch_new(context, plugin ? plugin_get_id(plugin) : "doctor", tier, unit_generation, &launch);
        if (r < 0)
                return r;
        if (tier == HOST_TIER_PLUGIN) {
                if (!staged)
                        return errors_set(reterr, ERROR_NOT_ACTIVE, "The sealed copy of %s is gone; trust it again.",
                                          plugin_get_id(plugin));
                launch->plugin_tree = g_strdup(staged_copy_get_path(staged));
                r = prepare_data(launch, context, plugin, reterr);
                if (r < 0)
                        return r;
        }

        add_arguments(launch, runtime, tier);
        launch->spec.runtime = runtime->path;
        add_runtime_environment(launch, runtime->kind);
        launch->spec.arguments = (const char *const *) launch->arguments->pdata;
        launch->spec.bundle = context->bundle_path;
        launch->spec.plugin_tree = launch->plugin_tree;
        launch->spec.data_directory = launch->data_directory;
        launch->spec.data_bytes = context->config->memory_bytes;
        if (runtime->kind == RUNTIME_BUN || runtime->major >= 24)
                launch->spec.data_bytes += HOST_JIT_DATA_BYTES;
        *ret = g_steal_pointer(&launch);
        return 0;
}

int host_launch_probe(const HostContext *context, uint64_t unit_generation, HostLaunch **ret, sd_bus_error *reterr) {
        int r = launch_new(context, "probe", HOST_TIER_PLUGIN, unit_generation, ret);

        if (r < 0)
                return errors_set(reterr, ERROR_IO, "The probe can't be prepared: %s.", g_strerror(-r));
        (*ret)->spec.probe = true;
        return 0;
}

/* A shell expects to find its programs, and nothing else of ours. */
static const char *const core_environment[] = {
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "HOME=" SANDBOX_TMP_PATH,
        "TMPDIR=" SANDBOX_TMP_PATH,
        "LANG=C.UTF-8",
        "TERM=dumb",
        NULL,
};

/* What all core calls have in common; @program stands beside the launcher. */
static int launch_core_new(
                const HostContext *context, const CoreLaunch *core, const char *program, uint64_t unit_generation, HostLaunch **ret,
                sd_bus_error *reterr) {
        g_autofree char *folder = g_path_get_dirname(context->launcher_path), *shown = g_strdup_printf("core:%s", core->tool);
        HostLaunch *launch = NULL;
        int r = launch_new(context, shown, HOST_TIER_PLUGIN, unit_generation, &launch);

        if (r < 0)
                return errors_set(reterr, ERROR_IO, "The unit of a core tool can't be prepared: %s.", g_strerror(-r));
        g_free(launch->plugin_id);
        launch->plugin_id = g_strdup(core->plugin_id);
        launch->description = g_strdup_printf("Core tool %s for extension %s", core->tool, core->plugin_id);
        launch->program = g_build_filename(folder, program, NULL);
        launch->spec.plugin_id = launch->plugin_id;
        launch->spec.description = launch->description;
        launch->spec.environment = core_environment;
        *ret = launch;
        return 0;
}

int host_launch_core(
                const HostContext *context, const CoreLaunch *core, uint64_t unit_generation, HostLaunch **ret, sd_bus_error *reterr) {
        HostLaunch *launch = NULL;
        int r = launch_core_new(context, core, "codewhale-core-tool", unit_generation, &launch, reterr);

        if (r < 0)
                return r;
        launch->workspace = g_strdup(core->workspace);
        launch->spec.runtime = launch->program;
        launch->spec.workspace = launch->workspace;
        launch->spec.workspace_access = core->access;
        launch->spec.memory_bytes = CORE_RUN_MEMORY_BYTES;
        launch->spec.tasks = CORE_RUN_TASKS_MAX;
        *ret = launch;
        return 0;
}

static void add_web_arguments(HostLaunch *launch, const Config *config) {
        launch->arguments = g_ptr_array_new_with_free_func(g_free);
        add(launch->arguments, g_strdup(WEB_FETCH_OPTION));
        if (config->certificates)
                add(launch->arguments, g_strdup(WEB_FETCH_CERTIFICATES SANDBOX_CERTIFICATES_PATH));
        add(launch->arguments, g_strdup_printf(WEB_FETCH_MSEC "%" G_GUINT64_FORMAT, config->web_fetch_msec));
        for (char **prefix = config->web_fetch_private; prefix && *prefix; prefix++)
                add(launch->arguments, g_strconcat(WEB_FETCH_PRIVATE, *prefix, NULL));
        add(launch->arguments, NULL);
}

int host_launch_web(
                const HostContext *context, const CoreLaunch *core, uint64_t unit_generation, HostLaunch **ret, sd_bus_error *reterr) {
        HostLaunch *launch = NULL;
        int r = launch_core_new(context, core, DOWNLOAD_PROGRAM, unit_generation, &launch, reterr);

        if (r < 0)
                return r;
        add_web_arguments(launch, context->config);
        launch->certificates = g_strdup(context->config->certificates);
        launch->spec.network = true;
        launch->spec.launcher = launch->program;
        launch->spec.certificates = launch->certificates;
        launch->spec.arguments = (const char *const *) launch->arguments->pdata;
        launch->spec.memory_bytes = launch->spec.data_bytes = DOWNLOAD_MEMORY_BYTES;
        launch->spec.tasks = DOWNLOAD_TASKS_MAX;
        *ret = launch;
        return 0;
}

void host_launch_expect(const HostLaunch *launch, const Runtime *runtime, HostTier tier, HostExpectation *ret) {
        (void) launch;
        *ret = (HostExpectation) {
                .bundle_sha256 = g_strdup(HOST_BUNDLE_SHA256),
                .runtime = g_strdup(runtime_kind_to_string(runtime->kind)),
                .version = g_strdup(runtime->version),
                .tier = tier,
        };
}
