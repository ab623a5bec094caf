/* SPDX-License-Identifier: MIT */
/* The same transitions without holding up the loop. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "fixture.h"
#include "service/plugin-job.h"
#include "service/plugin-watch.h"
#include "service/worker.h"

typedef struct World {
        char *folder, *home, *source;
        PluginSet *set;
        sd_event *event;
        /* Of the job that ended last */
        unsigned done;
        int r;
        char *error;
} World;

static void world_init(World *world) {
        PluginSetOptions options = { .extension_host = true };
        CodewhaleHome *home = NULL;

        *world = (World) { .folder = fixture_new_folder() };
        world->home = g_build_filename(world->folder, "home", NULL);
        world->source = g_build_filename(world->folder, "sample", NULL);
        fixture_bundle(world->source, "sample");
        g_assert_cmpint(codewhale_home_new(world->home, &home, NULL), ==, 0);
        world->set = plugin_set_new(home, &options);
        codewhale_home_unref(home);
        g_assert_cmpint(sd_event_new(&world->event), ==, 0);
}

static void world_done(World *world) {
        plugin_set_free(world->set);
        sd_event_unref(world->event);
        g_free(world->home);
        g_free(world->source);
        g_free(world->error);
        fixture_remove(world->folder);
}

static void on_done(PluginJob *job, int r, const sd_bus_error *error, void *userdata) {
        World *world = userdata;

        (void) job;
        world->done++;
        world->r = r;
        g_free(world->error);
        world->error = g_strdup(error->name);
}

static int run_until(World *world, unsigned done) {
        while (world->done < done)
                g_assert_cmpint(sd_event_run(world->event, UINT64_MAX), >=, 0);
        return world->r;
}

static int finish(World *world, PluginJob *job) {
        unsigned before = world->done;
        int r;

        g_assert_nonnull(job);
        r = run_until(world, before + 1);
        plugin_job_free(job);
        return r;
}

static Plugin *install(World *world) {
        PluginJob *job = plugin_job_install(world->set, world->event, world->source, NULL, false, on_done, world);
        Plugin *plugin;

        g_assert_cmpint(run_until(world, world->done + 1), ==, 0);
        plugin = plugin_job_get_plugin(job);
        g_assert_nonnull(plugin);
        plugin_job_free(job); /* the set still has it */
        return plugin;
}

static char *token_of(const Plugin *plugin) {
        return g_strdup_printf("%s.%s", plugin_get_content_hash(plugin), plugin_get_capability_hash(plugin));
}

static PluginJob *begin_trust(World *world, Plugin *plugin) {
        g_autofree char *token = token_of(plugin);

        return plugin_job_trust(world->set, world->event, plugin, token, "token", on_done, world);
}

static void test_life(void) {
        World world;
        Plugin *plugin;
        PluginJob *job;

        world_init(&world);
        g_assert_cmpint(finish(&world, plugin_job_reload(world.set, world.event, on_done, &world)), ==, 0);
        plugin = install(&world);
        job = plugin_job_review(world.set, world.event, plugin, REVIEW_FILES, on_done, &world);
        g_assert_cmpint(run_until(&world, world.done + 1), ==, 0);
        g_assert_nonnull(strstr(plugin_job_get_text(job), "\"token\":\""));
        plugin_job_free(job);

        g_assert_cmpint(finish(&world, begin_trust(&world, plugin)), ==, 0);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_TRUSTED);
        g_assert_true(plugin_is_staged(plugin));
        g_assert_cmpint(finish(&world, plugin_job_enable(world.set, world.event, plugin, on_done, &world)), ==, 0);
        g_assert_cmpint(plugin_get_label(plugin), ==, PLUGIN_ACTIVE);
        g_assert_cmpint(finish(&world, plugin_job_verify(world.set, world.event, plugin, 2, on_done, &world)), ==, 0);
        g_assert_cmpint(finish(&world, plugin_job_verify(world.set, world.event, plugin, 1, on_done, &world)), <, 0);
        g_assert_cmpstr(world.error, ==, ERROR_NOT_ACTIVE);

        g_assert_cmpint(finish(&world, plugin_job_uninstall(world.set, world.event, plugin, on_done, &world)), <, 0);
        g_assert_cmpstr(world.error, ==, ERROR_STILL_ENABLED);
        g_assert_cmpint(plugin_set_disable(world.set, plugin, NULL), ==, 0);
        g_assert_cmpint(finish(&world, plugin_job_uninstall(world.set, world.event, plugin, on_done, &world)), ==, 0);
        g_assert_cmpuint(plugin_set_count(world.set), ==, 0);
        g_assert_cmpuint(fixture_count(world.home, "plugins"), ==, 2); /* the state and its lock */
        g_assert_cmpuint(fixture_count(world.home, "extensions/staged"), ==, 0);
        world_done(&world);
}

static void test_errors(void) {
        World world;
        Plugin *plugin;
        PluginJob *job;
        g_autofree char *placed = NULL;

        world_init(&world);
        g_assert_cmpint(finish(&world, plugin_job_install(world.set, world.event, "/nowhere", NULL, false, on_done, &world)), <, 0);
        g_assert_cmpstr(world.error, ==, ERROR_INVALID_ARGUMENTS);
        g_assert_cmpint(finish(&world, plugin_job_preview(world.set, world.event, "/nowhere", false, on_done, &world)), <, 0);
        g_assert_cmpstr(world.error, ==, ERROR_INVALID_ARGUMENTS);
        job = plugin_job_preview(world.set, world.event, world.source, false, on_done, &world);
        g_assert_cmpint(run_until(&world, world.done + 1), ==, 0);
        g_assert_nonnull(strstr(plugin_job_get_text(job), "native/main.mjs"));
        plugin_job_free(job);
        g_assert_false(fixture_exists(world.home, "."));

        plugin = install(&world);
        job = begin_trust(&world, plugin);
        placed = g_build_filename(world.home, "plugins/sample", NULL);
        fixture_write(placed, "native/main.mjs", "changed\n", -1);
        g_assert_cmpint(finish(&world, job), <, 0);
        g_assert_cmpstr(world.error, ==, ERROR_CONTENT_CHANGED);
        g_assert_cmpint(finish(&world, plugin_job_enable(world.set, world.event, plugin, on_done, &world)), <, 0);
        g_assert_cmpstr(world.error, ==, ERROR_NOT_TRUSTED);
        world_done(&world);
}

static void test_in_order(void) {
        World world;
        Plugin *plugin;
        PluginJob *jobs[4];

        world_init(&world);
        plugin = install(&world);
        jobs[0] = begin_trust(&world, plugin);
        jobs[1] = plugin_job_enable(world.set, world.event, plugin, on_done, &world);
        jobs[2] = plugin_job_reload(world.set, world.event, on_done, &world);
        jobs[3] = plugin_job_review(world.set, world.event, plugin, 0, on_done, &world);
        for (unsigned i = 0; i < 4; i++) {
                g_assert_cmpint(run_until(&world, 2 + i), ==, 0);
                g_assert_cmpint(plugin_is_enabled(plugin), ==, i >= 1);
        }
        for (unsigned i = 0; i < 4; i++)
                plugin_job_free(jobs[i]);
        world_done(&world);
}

/* Taken back in every stage: the next job runs, and nothing half done stays. */
static void test_taken_back(void) {
        World world;
        Plugin *plugin;

        world_init(&world);
        plugin = install(&world);
        for (unsigned turns = 0; turns < 60; turns++) {
                PluginJob *job = begin_trust(&world, plugin);
                unsigned before = world.done;

                for (unsigned i = 0; i < turns && world.done == before; i++)
                        g_assert_cmpint(sd_event_run(world.event, 0), >=, 0);
                plugin_job_free(job);
        }
        g_assert_cmpint(finish(&world, begin_trust(&world, plugin)), ==, 0);
        g_assert_cmpint(finish(&world, plugin_job_reload(world.set, world.event, on_done, &world)), ==, 0);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_TRUSTED);
        g_assert_true(plugin_is_staged(plugin));
        g_autofree char *folder = g_path_get_dirname(staged_copy_get_path(plugin_get_staged(plugin)));
        g_assert_cmpuint(fixture_count(folder, "."), ==, 1);
        world_done(&world);
}

static void erase_now(PluginJob *job, const char *path, const char *source, size_t size, void *userdata) {
        unsigned *asked = userdata;

        (*asked)++;
        g_assert_true(g_str_has_suffix(path, ".mts"));
        g_assert_cmpuint(size, ==, strlen(source));
        plugin_job_take_erased(job, "export {};\n", strlen("export {};\n"), NULL);
}

static void erase_never(PluginJob *job, const char *path, const char *source, size_t size, void *userdata) {
        (void) path;
        (void) source;
        (void) size;
        (void) userdata;
        plugin_job_take_erased(job, NULL, 0, "enums can't be erased");
}

static void test_erased(void) {
        static const PluginEraser now = { .erase = erase_now }, never = { .erase = erase_never };
        World world;
        Plugin *plugin;
        PluginFile file;
        unsigned asked = 0;
        g_autofree char *path = NULL, *text = NULL, *sha256 = NULL;

        world_init(&world);
        fixture_write(world.source, "lib/a.mts", "export type A = number\n", -1);
        fixture_write(world.source, "lib/b.mts", "export type B = number\n", -1);
        plugin = install(&world);
        plugin_set_set_eraser(world.set, &never, NULL);
        g_assert_cmpint(finish(&world, begin_trust(&world, plugin)), <, 0);
        g_assert_cmpstr(world.error, ==, ERROR_INVALID_BUNDLE);

        plugin_set_set_eraser(world.set, &now, &asked);
        g_assert_cmpint(finish(&world, begin_trust(&world, plugin)), ==, 0);
        g_assert_cmpuint(asked, ==, 2);
        g_assert_true(plugin_find_file(plugin, "lib/b.mts", &file));
        sha256 = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "export {};\n", -1);
        g_assert_cmpstr(file.erased_sha256, ==, sha256);
        text = fixture_read(staged_copy_get_path(plugin_get_staged(plugin)), file.erased_path);
        g_assert_cmpstr(text, ==, "export {};\n");
        g_assert_true(plugin_find_file(plugin, "native/main.mjs", &file));
        g_assert_null(file.erased_path);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);

        /* It is part of what is verified. */
        g_assert_true(plugin_find_file(plugin, "lib/a.mts", &file));
        path = g_build_filename(staged_copy_get_path(plugin_get_staged(plugin)), file.erased_path, NULL);
        g_assert_cmpint(chmod(path, 0600), ==, 0);
        fixture_write("/", path, "evil();\n", -1);
        g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), <, 0);
        g_assert_cmpint(plugin_get_label(plugin), ==, PLUGIN_UNSTAGED);
        world_done(&world);
}

/* Answers one turn of the loop after it was asked */
static void erase_later(PluginJob *job, const char *path, const char *source, size_t size, void *userdata) {
        PluginJob **waiting = userdata;

        (void) path;
        (void) source;
        (void) size;
        *waiting = job;
}

static void erase_forget(PluginJob *job, void *userdata) {
        PluginJob **waiting = userdata;

        (void) job;
        *waiting = NULL;
}

static void turn(World *world, PluginJob **waiting, uint64_t usec) {
        PluginJob *job = *waiting;

        *waiting = NULL;
        if (job)
                plugin_job_take_erased(job, "export {};\n", strlen("export {};\n"), NULL);
        g_assert_cmpint(sd_event_run(world->event, job ? 0 : usec), >=, 0);
}

/* A call looks at the plugin again, whose bytes changed, while a job works with what was known before: in every turn of the loop. */
static void look_again_during(World *world, Plugin *plugin, PluginJob **waiting, PluginJob *job, unsigned turns) {
        static unsigned number;
        g_autofree char *placed = g_build_filename(world->home, "plugins", "sample", NULL);
        g_autofree char *text = g_strdup_printf("export type A = %u\n", ++number);
        unsigned before = world->done;

        for (unsigned i = 0; i < turns && world->done == before; i++)
                turn(world, waiting, 0);
        fixture_write(placed, "lib/a.mts", text, -1);
        (void) plugin_set_verify(world->set, plugin, plugin_get_generation(plugin), NULL);
        while (world->done == before)
                turn(world, waiting, UINT64_MAX);
        plugin_job_free(job);
        *waiting = NULL;
        /* Done, or refused for what happened: changed since, changed while it was read, not trusted any more. */
        g_assert_true(world->r >= 0 || g_str_equal(world->error, ERROR_CONTENT_CHANGED) ||
                      g_str_equal(world->error, ERROR_INVALID_BUNDLE) || g_str_equal(world->error, ERROR_NOT_TRUSTED));
}

static void test_looked_at_again(void) {
        PluginJob *waiting = NULL;
        const PluginEraser later = { .erase = erase_later, .forget = erase_forget };
        World world;
        Plugin *plugin;

        world_init(&world);
        for (unsigned i = 0; i < 40; i++) {
                g_autofree char *path = g_strdup_printf("lib/%c%u.mts", i % 2 ? 'a' : 'z', i);

                fixture_write(world.source, path, "export type X = number\n", -1);
        }
        fixture_write(world.source, "lib/a.mts", "export type A = number\n", -1);
        plugin = install(&world);
        plugin_set_set_eraser(world.set, &later, &waiting);
        for (unsigned turns = 0; turns < 48; turns += 3) {
                g_autofree char *token = NULL;

                look_again_during(&world, plugin, &waiting, begin_trust(&world, plugin), turns);
                look_again_during(&world, plugin, &waiting, plugin_job_enable(world.set, world.event, plugin, on_done, &world), turns / 8);
                token = token_of(plugin);
                (void) plugin_set_trust(world.set, plugin, token, "token", NULL);
                if (plugin_set_enable(world.set, plugin, NULL) >= 0)
                        look_again_during(&world, plugin, &waiting,
                                          plugin_job_verify(world.set, world.event, plugin, plugin_get_generation(plugin), on_done, &world),
                                          turns / 8);
        }
        plugin_set_set_eraser(world.set, NULL, NULL);
        world_done(&world);
}

static int64_t now_msec(void) {
        return g_get_monotonic_time() / 1000;
}

/* Whatever the machine is doing, a slice must end in a small part of the time that the whole takes. */
static void test_slices(void) {
        World world;
        PluginJob *job;
        g_autofree char *large = g_malloc(1024 * 1024);
        unsigned turns = 0;
        uint64_t done = 0, total = 0, last = 0;
        Plugin *plugin;

        world_init(&world);
        plugin = install(&world);
        g_autofree char *placed = g_build_filename(world.home, "plugins/sample", NULL);
        for (unsigned i = 0; i < 40; i++) {
                g_autofree char *name = g_strdup_printf("data/%u", i);

                memset(large, (int) i, 1024 * 1024);
                fixture_write(placed, name, large, 1024 * 1024);
        }
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        job = plugin_job_review(world.set, world.event, plugin, 0, on_done, &world);
        for (unsigned before = world.done; world.done == before; turns++) {
                g_assert_cmpint(sd_event_run(world.event, UINT64_MAX), >=, 0);
                if (plugin_job_get_progress(job, &done, &total) != PLUGIN_STAGE_READING)
                        continue;
                g_assert_cmpuint(done, >=, last);
                last = done;
        }
        (void) plugin_job_get_progress(job, &done, &total);
        g_assert_cmpint(world.r, ==, 0);
        g_test_message("%u turns of the loop, at %" G_GINT64_FORMAT " ms", turns, now_msec());
        g_assert_cmpuint(total, >=, 40 * 1024 * 1024);
        g_assert_cmpuint(done, ==, total);
        g_assert_cmpuint(turns, >=, 4);
        plugin_job_free(job);
        world_done(&world);
}

static void on_changed(PluginSet *set, Plugin *plugin, void *userdata) {
        World *world = userdata;

        (void) set;
        (void) plugin;
        world->done++;
}

static void test_watch(void) {
        static const PluginSetEvents events = { .changed = on_changed };
        g_autoptr(PluginWatch) watch = NULL;
        g_autofree char *placed = NULL, *moved = NULL;
        World world;
        Plugin *plugin;

        world_init(&world);
        plugin = install(&world);
        g_assert_cmpint(finish(&world, begin_trust(&world, plugin)), ==, 0);
        g_assert_cmpint(plugin_watch_new(world.set, world.event, &watch), ==, 0);
        g_assert_cmpint(plugin_set_enable(world.set, plugin, NULL), ==, 0);
        plugin_set_set_events(world.set, &events, &world);

        /* Nobody calls; the loop alone finds it. */
        placed = g_build_filename(world.home, "plugins/sample", NULL);
        world.done = 0;
        fixture_write(placed, "native/main.mjs", "changed\n", -1);
        (void) run_until(&world, 1);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_CONTENT_CHANGED);
        g_assert_cmpint(plugin_get_label(plugin), ==, PLUGIN_ENABLED_UNTRUSTED);
        fixture_write(placed, "native/main.mjs", "export function apply() {}\n", -1);
        (void) run_until(&world, 2);
        g_assert_cmpint(plugin_get_label(plugin), ==, PLUGIN_ACTIVE);
        fixture_write(placed, "deeper/new", "x", -1);
        (void) run_until(&world, 3);
        g_assert_cmpint(plugin_get_trust(plugin), ==, TRUST_CONTENT_CHANGED);

        /* The whole bundle goes away. */
        moved = g_build_filename(world.folder, "moved", NULL);
        g_assert_cmpint(rename(placed, moved), ==, 0);
        (void) run_until(&world, 4);
        g_assert_null(plugin_get_content_hash(plugin));
        plugin_set_set_events(world.set, NULL, NULL);
        g_assert_cmpint(plugin_set_reload(world.set, NULL), ==, 0);
        g_clear_pointer(&watch, plugin_watch_free);
        world_done(&world);
}

static int run_text(void *data, GString *ret_text, sd_bus_error *reterr) {
        (void) reterr;
        g_string_append(ret_text, data);
        return 7;
}

static int run_error(void *data, GString *ret_text, sd_bus_error *reterr) {
        g_string_append(ret_text, "left over");
        return errors_set(reterr, ERROR_TOO_LARGE, "too large: %s", (const char *) data);
}

static int run_large(void *data, GString *ret_text, sd_bus_error *reterr) {
        (void) data;
        (void) reterr;
        g_string_set_size(ret_text, 1024 * 1024);
        memset(ret_text->str, 'x', ret_text->len);
        return 0;
}

static int run_death(void *data, GString *ret_text, sd_bus_error *reterr) {
        (void) data;
        (void) ret_text;
        (void) reterr;
        abort();
}

typedef struct Answer {
        bool there;
        int r;
        size_t size;
        char *text, *name, *message;
} Answer;

static void on_answer(int r, const char *text, size_t size, const sd_bus_error *error, void *userdata) {
        Answer *answer = userdata;

        *answer = (Answer) { true, r, size, g_strdup(text), g_strdup(error->name), g_strdup(error->message) };
}

static Answer ask_worker(WorkerRun run) {
        g_autoptr(sd_event) event = NULL;
        g_autoptr(Worker) worker = NULL;
        Answer answer = {};

        g_assert_cmpint(sd_event_new(&event), ==, 0);
        g_assert_cmpint(worker_start(event, run, (void *) "hello", on_answer, &answer, &worker), ==, 0);
        while (!answer.there)
                g_assert_cmpint(sd_event_run(event, UINT64_MAX), >=, 0);
        return answer;
}

static void test_worker(void) {
        static const struct {
                WorkerRun run;
                int r;
                size_t size;
                const char *name;
        } cases[] = {
                { run_text, 7, 5, NULL },
                { run_large, 0, 1024 * 1024, NULL },
                { run_error, -E2BIG, 0, ERROR_TOO_LARGE },
                { run_death, -EPIPE, 0, ERROR_IO },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Answer answer = ask_worker(cases[i].run);

                g_test_message("case %zu: %d %s", i, answer.r, answer.message);
                g_assert_cmpint(answer.r, ==, cases[i].r);
                g_assert_cmpuint(answer.size, ==, cases[i].size);
                g_assert_cmpuint(strlen(answer.text), ==, cases[i].size);
                g_assert_cmpstr(answer.name, ==, cases[i].name);
                g_free(answer.text);
                g_free(answer.name);
                g_free(answer.message);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);

        g_test_add_func("/service/worker/answers", test_worker);
        g_test_add_func("/service/plugin-job/life", test_life);
        g_test_add_func("/service/plugin-job/errors", test_errors);
        g_test_add_func("/service/plugin-job/in-order", test_in_order);
        g_test_add_func("/service/plugin-job/taken-back", test_taken_back);
        g_test_add_func("/service/plugin-job/erased-modules", test_erased);
        g_test_add_func("/service/plugin-job/looked-at-again", test_looked_at_again);
        g_test_add_func("/service/plugin-watch/T10-seen-without-a-call", test_watch);
        g_test_add_func("/service/plugin-job/slices-and-progress", test_slices);
        return g_test_run();
}
