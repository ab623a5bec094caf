/* SPDX-License-Identifier: MIT */
/* Stops the service after each system call that changes the disk, in every transition, and starts it again: what it finds
 * must be the old state or the new one. The stops come from outside (ptrace), so the code under test is the real one. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/safe-file.h"
#include "fixture.h"
#include "service/installer.h"
#include "service/plugin-private.h"
#include "service/plugin-set.h"

#define FILES 18

typedef struct World {
        char *folder, *home, *pattern, *source, *archive;
} World;

/* Everything that a person can see of the plugin "sample" */
typedef struct Seen {
        bool there, installed, enabled, staged;
        TrustStatus trust;
        char *hash, *reviewed; /* content: of the source; of the sealed copy */
        uint64_t generation;
        size_t plugins, copies; /* names in the folder of bundles; sealed copies of all plugins */
} Seen;

static PluginSet *start(const char *home_path) {
        PluginSetOptions options = { .extension_host = true };
        CodewhaleHome *home = NULL;
        PluginSet *set;

        g_assert_cmpint(codewhale_home_new(home_path, &home, NULL), ==, 0);
        set = plugin_set_new(home, &options);
        codewhale_home_unref(home);
        g_assert_cmpint(plugin_set_reload(set, NULL), ==, 0);
        return set;
}

static size_t count_copies(const char *home) {
        g_autofree char *staged = g_build_filename(home, "extensions/staged", NULL);
        g_autoptr(GDir) directory = g_dir_open(staged, 0, NULL);
        const char *name;
        size_t count = 0;

        while (directory && (name = g_dir_read_name(directory)))
                count += fixture_count(staged, name);
        return count;
}

/* What a download or an archive needs on its way; after a start nothing of it may be left. */
static size_t count_scratch(const char *home) {
        g_autoptr(GDir) directory = g_dir_open(home, 0, NULL);
        const char *name;
        size_t count = 0;

        while (directory && (name = g_dir_read_name(directory)))
                count += g_str_has_prefix(name, INSTALL_FETCHED_PREFIX) || g_str_has_prefix(name, INSTALL_UNPACKED_PREFIX);
        return count;
}

static Seen look(const char *home) {
        g_autoptr(PluginSet) set = start(home);
        Plugin *plugin = NULL;
        Seen seen = { .plugins = fixture_count(home, "plugins"), .copies = count_copies(home) };

        g_assert_cmpuint(count_scratch(home), ==, 0);
        g_assert_null(diagnostics_first_error(plugin_set_get_diagnostics(set)));
        seen.there = plugin_set_find(set, "sample", &plugin, NULL) >= 0;
        if (!seen.there)
                return seen;
        g_assert_false(diagnostics_has_error(plugin_get_diagnostics(plugin)));
        seen.installed = plugin_is_installed(plugin);
        seen.enabled = plugin_is_enabled(plugin);
        seen.staged = plugin_is_staged(plugin);
        seen.trust = plugin_get_trust(plugin);
        seen.generation = plugin_get_generation(plugin);
        seen.hash = g_strdup(plugin_get_content_hash(plugin));
        if (plugin_get_staged(plugin))
                seen.reviewed = g_path_get_basename(staged_copy_get_path(plugin_get_staged(plugin)));
        return seen;
}

static void seen_done(Seen *seen) {
        g_free(seen->hash);
        g_free(seen->reviewed);
}

static bool seen_equal(const Seen *a, const Seen *b) {
        return a->there == b->there && a->installed == b->installed && a->enabled == b->enabled && a->staged == b->staged &&
                        a->trust == b->trust && a->generation == b->generation && g_strcmp0(a->hash, b->hash) == 0 &&
                        g_strcmp0(a->reviewed, b->reviewed) == 0 && a->copies == b->copies;
}

/* The transitions. Each runs in a process of its own, after a start. */

static int do_install(PluginSet *set, const World *world) {
        Plugin *plugin = NULL;

        return plugin_set_install(set, world->source, NULL, &plugin, NULL);
}

static Plugin *sample(PluginSet *set) {
        Plugin *plugin = NULL;

        return plugin_set_find(set, "sample", &plugin, NULL) < 0 ? NULL : plugin;
}

static int do_trust(PluginSet *set, const World *world) {
        Plugin *plugin = sample(set);
        g_autofree char *token = g_strdup_printf("%s.%s", plugin_get_content_hash(plugin), plugin_get_capability_hash(plugin));

        (void) world;
        return plugin_set_trust(set, plugin, token, "token", NULL);
}

static int do_enable(PluginSet *set, const World *world) {
        (void) world;
        return plugin_set_enable(set, sample(set), NULL);
}

static int do_disable(PluginSet *set, const World *world) {
        (void) world;
        return plugin_set_disable(set, sample(set), NULL);
}

static int do_revoke(PluginSet *set, const World *world) {
        (void) world;
        return plugin_set_revoke(set, sample(set), NULL);
}

static int do_update(PluginSet *set, const World *world) {
        return plugin_set_update(set, sample(set), world->source, NULL, NULL);
}

static int do_uninstall(PluginSet *set, const World *world) {
        (void) world;
        return plugin_set_uninstall(set, sample(set), NULL);
}

/* What the downloader does with the bytes of a server (downloader.c): a file in the home that grows. */
static char *fetch(const World *world) {
        g_autofree char *path = g_build_filename(world->home, INSTALL_FETCHED_PREFIX "kill", NULL), *bytes = NULL;
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        gsize size = 0;

        if (fd < 0 || !g_file_get_contents(world->archive, &bytes, &size, NULL))
                return NULL;
        for (gsize at = 0; at < size; at += 4096)
                if (write(fd, bytes + at, MIN(size - at, 4096)) < 0)
                        return NULL;
        return g_steal_pointer(&path);
}

static int do_fetched_install(PluginSet *set, const World *world) {
        g_autofree char *fetched = fetch(world), *name = NULL, *hash = NULL;
        int r = fetched ? plugin_set_place(set, "https://example.org/x", fetched, NULL, &name, &hash, NULL) : -EIO;

        if (fetched)
                (void) unlink(fetched);
        return r < 0 ? r : plugin_set_reload(set, NULL);
}

static int do_fetched_update(PluginSet *set, const World *world) {
        g_autofree char *fetched = fetch(world);
        int r = fetched ? plugin_set_update(set, sample(set), fetched, NULL, NULL) : -EIO;

        if (fetched)
                (void) unlink(fetched);
        return r;
}

typedef int (*Transition)(PluginSet *set, const World *world);

static void copy_folder(const char *from, const char *to) {
        const char *const command[] = { "cp", "-a", from, to, NULL };
        int status = -1;

        g_assert_true(g_spawn_sync(NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, NULL));
        g_assert_cmpint(status, ==, 0);
}

/* The C library declares what the kernel tells about a call under a name of its own. */
typedef struct __ptrace_syscall_info SyscallInfo;

static bool creates(pid_t child, const SyscallInfo *entry) {
        switch (entry->entry.nr) {
        case SYS_openat:
                return (entry->entry.args[2] & O_CREAT) != 0;
        case SYS_openat2:
                return (ptrace(PTRACE_PEEKDATA, child, (void *) (uintptr_t) entry->entry.args[2], NULL) & O_CREAT) != 0;
        default:
                return false;
        }
}

/* Whether this call, when it succeeds, leaves another disk behind */
static bool changes_disk(pid_t child, const SyscallInfo *entry) {
        switch (entry->entry.nr) {
#ifdef SYS_mkdir
        case SYS_mkdir:
#endif
#ifdef SYS_renameat
        case SYS_renameat:
#endif
        case SYS_mkdirat:
        case SYS_renameat2:
        case SYS_unlinkat:
        case SYS_fchmod:
        case SYS_write:
        case SYS_ftruncate:
        case SYS_fsync:
                return true;
        default:
                return creates(child, entry);
        }
}

/* Lets the child run to the @stop th such call and kills it right after. False: it was through before. */
static bool run_to_stop(pid_t child, unsigned stop) {
        SyscallInfo info, entry = {};
        unsigned count = 0;
        bool counts = false;
        int status;

        g_assert_cmpint(waitpid(child, &status, 0), ==, child); /* stopped by itself */
        g_assert_cmpint(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), ==, 0);
        for (;;) {
                g_assert_cmpint(ptrace(PTRACE_SYSCALL, child, NULL, NULL), ==, 0);
                g_assert_cmpint(waitpid(child, &status, 0), ==, child);
                if (WIFEXITED(status)) {
                        g_assert_cmpint(WEXITSTATUS(status), ==, 0);
                        return false;
                }
                g_assert_true(WIFSTOPPED(status));
                if (WSTOPSIG(status) != (SIGTRAP | 0x80))
                        continue;
                g_assert_cmpint(ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info), >, 0);
                if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
                        entry = info;
                        counts = changes_disk(child, &entry);
                } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && counts && !info.exit.is_error && ++count == stop) {
                        g_assert_cmpint(kill(child, SIGKILL), ==, 0);
                        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
                        return true;
                }
        }
}

static bool run_killed(const World *world, const char *home, Transition transition, unsigned stop) {
        pid_t child = fork();

        g_assert_cmpint(child, >=, 0);
        if (child == 0) {
                PluginSet *set = start(home);

                if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0)
                        _exit(77);
                _exit(transition(set, world) < 0 ? 1 : 0);
        }
        return run_to_stop(child, stop);
}

/* A plugin's id comes from its path, so every trial takes place in the same home, copied back from a pattern. */
static void restore(const World *world) {
        _cleanup_close_ int folder = safe_open_directory(world->folder);

        (void) safe_remove_tree_at(folder, "home");
        copy_folder(world->pattern, world->home);
}

static Seen see_after(const World *world, Transition transition) {
        g_autoptr(PluginSet) set = start(world->home);

        g_assert_cmpint(transition(set, world), >=, 0);
        return look(world->home);
}

static void compare(const Seen *found, const Seen *before, const Seen *after, unsigned stop) {
        if (!seen_equal(found, before) && !seen_equal(found, after))
                g_error("a third state after stop %u: there %d enabled %d trust %d staged %d generation %u copies %zu", stop,
                                found->there, found->enabled, found->trust, found->staged, (unsigned) found->generation,
                                found->copies);
}

/* Every stop of one transition from the state in the home, which has the new state at the end. */
static unsigned try_every_stop(const World *world, Transition transition) {
        _cleanup_close_ int folder = safe_open_directory(world->folder);
        Seen before = look(world->home), after;
        unsigned stop, n_old = 0;
        bool killed;

        (void) safe_remove_tree_at(folder, "pattern");
        copy_folder(world->home, world->pattern);
        after = see_after(world, transition);
        g_assert_false(seen_equal(&before, &after));

        for (stop = 1, killed = true; killed; stop++) {
                Seen found;

                restore(world);
                killed = run_killed(world, world->home, transition, stop);
                found = look(world->home);
                compare(&found, &before, &after, stop);
                n_old += seen_equal(&found, &before);
                seen_done(&found);
        }
        g_test_message("%u stops, %u times the old state", stop - 2, n_old);
        seen_done(&before);
        seen_done(&after);
        return stop - 2; /* the last run went through */
}

static void pack(const World *world) {
        const char *const command[] = { "tar", "-C", world->folder, "-cf", world->archive, "sample", NULL };
        int status = -1;

        g_assert_true(g_spawn_sync(NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, NULL));
        g_assert_cmpint(status, ==, 0);
}

static void write_source(const char *folder) {
        fixture_bundle(folder, "sample");
        for (unsigned i = 0; i < FILES; i++) {
                g_autofree char *path = g_strdup_printf("data/%u/%u", i % 4, i);

                fixture_write(folder, path, "text\n", -1);
        }
}

static bool may_trace(void) {
        pid_t child = fork();
        int status;

        if (child == 0)
                _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0);
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_every_stop(void) {
        World world = { .folder = fixture_new_folder() };
        g_autofree char *placed = NULL;
        unsigned stops = 0;

        g_test_message("in %s", world.folder);
        if (!may_trace()) {
                fixture_remove(world.folder);
                g_test_skip("this machine does not allow ptrace()");
                return;
        }
        world.home = g_build_filename(world.folder, "home", NULL);
        world.pattern = g_build_filename(world.folder, "pattern", NULL);
        world.source = g_build_filename(world.folder, "sample", NULL);
        world.archive = g_build_filename(world.folder, "archive", NULL);
        placed = g_build_filename(world.home, "plugins/sample", NULL);
        fixture_make_directory(world.home, ".");
        write_source(world.source);

        stops += try_every_stop(&world, do_install);
        stops += try_every_stop(&world, do_trust);
        stops += try_every_stop(&world, do_enable);
        fixture_write(placed, "native/main.mjs", "export function apply() { }\n", -1);
        stops += try_every_stop(&world, do_trust); /* of newer bytes, while it is enabled */
        stops += try_every_stop(&world, do_enable);
        /* As if it had been downloaded: the source differs from what is there. */
        fixture_write(placed, ".installed-from",
                        "{\"source\":\"https://example.org/x\",\"content_hash\":\"another\",\"installed_at\":1}", -1);
        stops += try_every_stop(&world, do_update);
        stops += try_every_stop(&world, do_disable);
        stops += try_every_stop(&world, do_revoke);
        stops += try_every_stop(&world, do_uninstall);

        /* The same for what lies elsewhere. */
        pack(&world);
        stops += try_every_stop(&world, do_fetched_install);
        stops += try_every_stop(&world, do_trust);
        stops += try_every_stop(&world, do_enable);
        fixture_write(world.source, "native/main.mjs", "export function apply() {   }\n", -1);
        pack(&world);
        stops += try_every_stop(&world, do_fetched_update);
        g_test_message("%u stops, no third state", stops);
        g_assert_cmpuint(stops, >=, 500);

        g_free(world.archive);
        g_free(world.home);
        g_free(world.pattern);
        g_free(world.source);
        fixture_remove(world.folder);
}

int main(int argc, char **argv) {
        /* Thousands of fsync() calls, which say nothing here: SIGKILL leaves the page cache alone. */
        if (access("/dev/shm", W_OK) == 0)
                (void) g_setenv("TMPDIR", "/dev/shm", TRUE);
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        g_test_add_func("/service/kill/after-every-change-of-the-disk", test_every_stop);
        return g_test_run();
}
