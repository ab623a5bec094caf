/* SPDX-License-Identifier: MIT */
/* What bench/trust measures, told line by line. Where nothing waits for a disk it is processor time, which other programs on the
 * machine hardly move:
 *   load PATH          hash the bundle in PATH: {"seconds", "bytes", "files"}
 *   prepare HOME PATH  install PATH into HOME, trust and enable it: {}
 *   verify TIMES       verify it so often: {"microseconds"} for one, and {"stat"} for as many bare stat() calls
 *   review             hash and describe it in a loop with a timer: {"longest_ms", "seconds"} that the loop was held up */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/safe-file.h"
#include "service/bundle.h"
#include "service/plugin-job.h"

static PluginSet *set;
static Plugin *plugin;

static double read_clock(clockid_t clock) {
        struct timespec time;

        (void) clock_gettime(clock, &time);
        return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static double now(void) {
        return read_clock(CLOCK_MONOTONIC);
}

static double used(void) {
        return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

_Noreturn static void die(const char *what, const sd_bus_error *error) {
        (void) fprintf(stderr, "%s: %s\n", what, error && error->message ? error->message : "failed");
        exit(EXIT_FAILURE);
}

static void load(const char *path) {
        BundleOptions options = { .extension_host = true };
        _cleanup_close_ int root = safe_open_directory(path);
        g_autoptr(BundleLoad) loading = bundle_load_new(root, &options);
        g_autoptr(Bundle) bundle = NULL;
        double begin = now();

        if (bundle_load_run(loading) < 0)
                die(path, NULL);
        bundle = bundle_load_steal(loading);
        if (!bundle->tree)
                die(path, NULL);
        printf("{\"seconds\": %.6f, \"bytes\": %" PRIu64 ", \"files\": %zu}\n", now() - begin, bundle->tree->n_bytes,
                        bundle->tree->n_files);
}

static void prepare(const char *home_path, const char *source) {
        PluginSetOptions options = { .extension_host = true };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(CodewhaleHome) home = NULL;
        g_autofree char *token = NULL;
        sd_event *event = NULL; /* for as long as the process */

        if (codewhale_home_new(home_path, &home, &error) < 0)
                die(home_path, &error);
        set = plugin_set_new(home, &options);
        /* As the service does; nobody writes here, so the loop is not needed. */
        if (sd_event_new(&event) < 0 || plugin_set_use_leases(set, event) < 0)
                die("leases", NULL);
        if (plugin_set_reload(set, &error) < 0 || plugin_set_install(set, source, NULL, &plugin, &error) < 0)
                die(source, &error);
        token = g_strdup_printf("%s.%s", plugin_get_content_hash(plugin), plugin_get_capability_hash(plugin));
        if (plugin_set_trust(set, plugin, token, "token", &error) < 0 || plugin_set_enable(set, plugin, &error) < 0)
                die("trust", &error);
        (void) usleep(300 * 1000); /* fingerprints of files that were just written prove nothing yet */
        if (plugin_set_verify(set, plugin, plugin_get_generation(plugin), &error) < 0)
                die("verify", &error);
        puts("{}");
}

/* The least that looking at so many files can cost */
static double time_of_stats(size_t count) {
        struct stat status;
        double begin = used();

        for (size_t i = 0; i < count; i++)
                (void) fstatat(AT_FDCWD, plugin_get_root(plugin), &status, AT_SYMLINK_NOFOLLOW);
        return used() - begin;
}

static void verify(unsigned long times) {
        size_t nodes = 2 * (staged_copy_get_tree(plugin_get_staged(plugin))->nodes->len + 1);
        double begin = used(), end;

        for (unsigned long i = 0; i < times; i++)
                if (plugin_set_verify(set, plugin, plugin_get_generation(plugin), NULL) < 0)
                        die("verify", NULL);
        end = used();
        printf("{\"microseconds\": %.3f, \"stat\": %.3f}\n", (end - begin) / (double) times * 1e6,
                        time_of_stats(nodes * times) / (double) times * 1e6);
}

static void on_done(PluginJob *job, int r, const sd_bus_error *error, void *userdata) {
        bool *done = userdata;

        (void) job;
        if (r < 0)
                die("review", error);
        *done = true;
}

static void review(void) {
        g_autoptr(sd_event) event = NULL;
        double begin = now(), longest = 0;
        bool done = false;
        PluginJob *job;

        if (sd_event_new(&event) < 0)
                die("event", NULL);
        job = plugin_job_review(set, event, plugin, 0, on_done, &done);
        while (!done) {
                double turn = used();

                /* What a probe call would have to wait: one turn of the loop, but not the waiting in it. */
                if (sd_event_run(event, 0) == 0)
                        (void) usleep(200);
                else
                        longest = MAX(longest, used() - turn);
        }
        plugin_job_free(job);
        printf("{\"longest_ms\": %.3f, \"seconds\": %.6f}\n", longest * 1e3, now() - begin);
}

int main(void) {
        char line[8192], first[4096], second[4096];

        (void) errors_register();
        while (fgets(line, sizeof line, stdin)) {
                if (sscanf(line, "load %4095s", first) == 1)
                        load(first);
                else if (sscanf(line, "prepare %4095s %4095s", first, second) == 2)
                        prepare(first, second);
                else if (sscanf(line, "verify %4095s", first) == 1)
                        verify(strtoul(first, NULL, 10));
                else if (strcmp(line, "review\n") == 0)
                        review();
                (void) fflush(stdout);
        }
        plugin_set_free(set);
        return EXIT_SUCCESS;
}
