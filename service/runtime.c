/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "service/runtime.h"

#define PROBE_MSEC 10000u
#define PROBE_OUTPUT_BYTES_MAX 256u

typedef struct Waiter {
        RuntimeSelected selected;
        void *userdata;
} Waiter;

struct RuntimeSelector {
        sd_event *event;
        RuntimeKind kind;
        char *node, *bun, *search_path, *bun_install;
        Runtime runtime; /* path is NULL while nothing is chosen */
        bool pinned;
        char *why; /* what the last search found, for people */
        char *fallback; /* why an automatic choice is not Bun; NULL while it may be */

        /* One search at a time */
        GArray *waiters;
        char **candidates;
        size_t next;
        RuntimeKind probing; /* which kind the candidates are of */
        GString *findings;
        int output; /* of the candidate that runs */
        bool late;  /* it was ended because it took too long */
        sd_event_source *child;
        sd_event_source *timer;
};

static void selector_probe_next(RuntimeSelector *selector);

static void runtime_clear(Runtime *runtime) {
        g_free(runtime->path);
        g_free(runtime->version);
        *runtime = (Runtime) {};
}

static void selector_configure(RuntimeSelector *selector, const RuntimeConfig *config) {
        g_free(selector->node);
        g_free(selector->bun);
        g_free(selector->search_path);
        g_free(selector->bun_install);
        selector->kind = config->kind;
        selector->node = g_strdup(config->node);
        selector->bun = g_strdup(config->bun);
        selector->search_path = g_strdup(config->search_path);
        selector->bun_install = g_strdup(config->bun_install);
}

RuntimeSelector *runtime_selector_new(sd_event *event, const RuntimeConfig *config) {
        RuntimeSelector *selector = g_new0(RuntimeSelector, 1);

        selector->event = sd_event_ref(event);
        selector->output = -EBADF;
        selector->waiters = g_array_new(FALSE, FALSE, sizeof(Waiter));
        selector->findings = g_string_new(NULL);
        selector_configure(selector, config);
        return selector;
}

static void selector_end_probe(RuntimeSelector *selector) {
        selector->child = sd_event_source_disable_unref(selector->child);
        selector->timer = sd_event_source_disable_unref(selector->timer);
        close_fd(&selector->output);
}

RuntimeSelector *runtime_selector_free(RuntimeSelector *selector) {
        if (!selector)
                return NULL;

        selector_end_probe(selector);
        g_array_unref(selector->waiters);
        g_string_free(selector->findings, TRUE);
        g_strfreev(selector->candidates);
        runtime_clear(&selector->runtime);
        g_free(selector->node);
        g_free(selector->bun);
        g_free(selector->search_path);
        g_free(selector->bun_install);
        g_free(selector->fallback);
        g_free(selector->why);
        sd_event_unref(selector->event);
        g_free(selector);
        return NULL;
}

/* What was chosen and why, or what is needed and what was found instead. */
static char *selector_explain(const RuntimeSelector *selector) {
        static const char *const needs[_RUNTIME_KIND_MAX] = {
                [RUNTIME_NODE] = "Node ^22.19 or >=24 is needed",
                [RUNTIME_BUN] = "Bun 1.4 or newer is needed",
                [RUNTIME_AUTO] = "Bun 1.4 or newer, or Node ^22.19 or >=24, is needed",
        };
        const char *findings = selector->findings->len > 0 ? selector->findings->str : "None was found on PATH. ";
        const Runtime *runtime = &selector->runtime;
        bool bun = runtime->kind == RUNTIME_BUN;

        if (!runtime->path)
                return g_strdup_printf("No suitable JavaScript runtime: %s. %sSet [extension_host] %s in config.toml to one.",
                                       needs[selector->kind], findings, selector->kind == RUNTIME_BUN ? "bun" : "node");
        if (selector->kind == RUNTIME_AUTO && !bun)
                return g_strdup_printf("Node %s at %s, not Bun: %s", runtime->version, runtime->path,
                                       selector->fallback ?: findings);
        return g_strdup_printf("%s %s at %s%s", bun ? "Bun" : "Node", runtime->version, runtime->path,
                               (bun ? selector->bun : selector->node) ? ", as configured" : "");
}

static void selector_finish(RuntimeSelector *selector) {
        g_autoptr(GArray) waiters = g_steal_pointer(&selector->waiters);

        selector->waiters = g_array_new(FALSE, FALSE, sizeof(Waiter));
        g_clear_pointer(&selector->candidates, g_strfreev);
        g_free(selector->why);
        selector->why = selector_explain(selector);

        for (size_t i = 0; i < waiters->len; i++) {
                Waiter waiter = g_array_index(waiters, Waiter, i);

                waiter.selected(selector->runtime.path ? &selector->runtime : NULL, selector->why, waiter.userdata);
        }
}

static void selector_judge(RuntimeSelector *selector, const char *path, const char *output) {
        unsigned version[3];

        if (runtime_version_parse(output, version) < 0) {
                g_string_append_printf(selector->findings, "%s does not say its version. ", path);
                return;
        }
        if (!runtime_version_meets_floor(selector->probing, version)) {
                g_string_append_printf(selector->findings, "%s is %u.%u.%u, which is not supported. ", path, version[0], version[1],
                                       version[2]);
                return;
        }

        selector->runtime = (Runtime) {
                .kind = selector->probing,
                .path = g_strdup(path),
                .version = g_strdup_printf("%u.%u.%u", version[0], version[1], version[2]),
                .major = version[0], .minor = version[1], .patch = version[2],
        };
}

static int on_probe_exit(sd_event_source *source, const siginfo_t *info, void *userdata) {
        RuntimeSelector *selector = userdata;
        const char *path = selector->candidates[selector->next - 1];
        char output[PROBE_OUTPUT_BYTES_MAX + 1] = "";
        ssize_t n;

        (void) source;
        n = read(selector->output, output, PROBE_OUTPUT_BYTES_MAX);
        output[n > 0 ? n : 0] = '\0';
        /* Whatever it left behind; its number is nobody else's before this function has returned. */
        (void) kill(-info->si_pid, SIGKILL);
        if (selector->late)
                g_string_append_printf(selector->findings, "%s --version gave no answer in %u seconds. ", path, PROBE_MSEC / 1000);
        else if (info->si_code != CLD_EXITED || info->si_status != 0)
                g_string_append_printf(selector->findings, "%s --version failed. ", path);
        else
                selector_judge(selector, path, output);

        selector_end_probe(selector);
        selector_probe_next(selector);
        return 0;
}

static int on_probe_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        RuntimeSelector *selector = userdata;

        (void) source;
        (void) usec;
        selector->late = true;
        /* The exit that follows is judged by on_probe_exit(). */
        (void) sd_event_source_send_child_signal(selector->child, SIGKILL, NULL, 0);
        return 0;
}

static int selector_spawn(RuntimeSelector *selector, const char *path) {
        char *const argv[] = { (char *) path, (char *) "--version", NULL };
        char *const environment[] = { NULL };
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        _cleanup_close_ int output_end = -EBADF;
        sigset_t none;
        pid_t pid;
        int pair[2], r;

        if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) < 0)
                return -errno;
        selector->output = pair[0];
        output_end = pair[1];

        (void) sigemptyset(&none);
        (void) posix_spawnattr_init(&attributes);
        (void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        (void) posix_spawnattr_setsigmask(&attributes, &none);
        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        (void) posix_spawn_file_actions_adddup2(&actions, output_end, 1);
        (void) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        r = -posix_spawn(&pid, path, &actions, &attributes, argv, environment);
        (void) posix_spawn_file_actions_destroy(&actions);
        (void) posix_spawnattr_destroy(&attributes);
        if (r < 0)
                return r;

        selector->late = false;
        r = sd_event_add_child(selector->event, &selector->child, pid, WEXITED, on_probe_exit, selector);
        if (r >= 0)
                r = sd_event_source_set_child_process_own(selector->child, true);
        if (r < 0)
                return r;
        return sd_event_add_time_relative(selector->event, &selector->timer, CLOCK_MONOTONIC, PROBE_MSEC * 1000, 0,
                                          on_probe_timer, selector);
}

static void selector_look_for(RuntimeSelector *selector, RuntimeKind kind) {
        const RuntimeConfig config = {
                .kind = kind, .node = selector->node, .bun = selector->bun, .search_path = selector->search_path,
                .bun_install = selector->bun_install,
        };
        g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *directory = g_get_current_dir();

        g_strfreev(selector->candidates);
        selector->next = 0;
        selector->probing = kind;
        selector->candidates = runtime_candidates(&config, directory, g_get_home_dir(), skipped);
        for (size_t i = 0; i < skipped->len; i++)
                g_string_append_printf(selector->findings, "Skipped %s. ", (char *) g_ptr_array_index(skipped, i));
        if (kind == RUNTIME_BUN && !selector->candidates[0])
                g_string_append(selector->findings, "There is no Bun on PATH. ");
}

static void selector_probe_next(RuntimeSelector *selector) {
        if (!selector->runtime.path && !selector->candidates[selector->next] && selector->kind == RUNTIME_AUTO &&
                        selector->probing == RUNTIME_BUN)
                selector_look_for(selector, RUNTIME_NODE);
        while (!selector->runtime.path && selector->candidates[selector->next]) {
                const char *path = selector->candidates[selector->next++];
                int r = path[0] == '/' ? selector_spawn(selector, path) : -EINVAL;

                if (r >= 0)
                        return;
                g_string_append_printf(selector->findings, "%s can't be run: %s. ", path, g_strerror(-r));
                selector_end_probe(selector);
                if (!selector->candidates[selector->next]) {
                        selector_probe_next(selector);
                        return;
                }
        }
        selector_finish(selector);
}

void runtime_selector_select(RuntimeSelector *selector, RuntimeSelected selected, void *userdata) {
        const Waiter waiter = { selected, userdata };

        if (selector->runtime.path) {
                selected(&selector->runtime, selector->why, userdata);
                return;
        }
        g_array_append_val(selector->waiters, waiter);
        if (selector->candidates)
                return;

        g_string_truncate(selector->findings, 0);
        selector_look_for(selector, selector->kind == RUNTIME_BUN || (selector->kind == RUNTIME_AUTO && !selector->fallback)
                                                    ? RUNTIME_BUN : RUNTIME_NODE);
        selector_probe_next(selector);
}

bool runtime_selector_fail(RuntimeSelector *selector, RuntimeKind kind, const char *reason, bool *ret_first) {
        if (selector->pinned)
                return false;
        if (selector->kind != RUNTIME_AUTO || kind != RUNTIME_BUN) {
                /* Nothing came of it, so nothing is kept: the next launch looks for one anew. */
                runtime_clear(&selector->runtime);
                return false;
        }

        *ret_first = !selector->fallback;
        if (selector->fallback)
                return true;
        selector->fallback = g_strdup_printf("Bun %s at %s did not come up: %s", selector->runtime.version ?: "?",
                                             selector->runtime.path ?: "?", reason);
        runtime_clear(&selector->runtime);
        return true;
}

void runtime_selector_forget(RuntimeSelector *selector, void *userdata) {
        for (size_t i = selector->waiters->len; i > 0; i--)
                if (g_array_index(selector->waiters, Waiter, i - 1).userdata == userdata)
                        g_array_remove_index(selector->waiters, (unsigned) i - 1);
}

void runtime_selector_reset(RuntimeSelector *selector, const RuntimeConfig *config) {
        selector_configure(selector, config);
        if (selector->pinned)
                return;
        g_clear_pointer(&selector->fallback, g_free);
        runtime_clear(&selector->runtime);
}

void runtime_selector_pin(RuntimeSelector *selector) {
        selector->pinned = true;
}

void runtime_selector_describe(const RuntimeSelector *selector, JWriter *writer) {
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "wanted", runtime_kind_to_string(selector->kind));
        jwriter_member_string(writer, "kind", selector->runtime.path ? runtime_kind_to_string(selector->runtime.kind) : NULL);
        jwriter_member_string(writer, "path", selector->runtime.path);
        jwriter_member_string(writer, "version", selector->runtime.version);
        jwriter_member_boolean(writer, "pinned", selector->pinned);
        jwriter_member_string(writer, "why", selector->why);
        jwriter_member_string(writer, "fallback", selector->fallback);
        jwriter_end_object(writer);
}
