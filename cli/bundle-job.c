/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/bundle-job.h"
#include "cli/request.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

#define BAR_COLUMNS_MAX 40u
#define STAGE_BYTES_MAX 32u

typedef struct Running {
        sd_event *event;
        sd_bus_message *reply;
        sd_bus_slot *progressed, *answered;
        bool shown; /* there is a line to take away */
} Running;

static unsigned columns_of_stderr(void) {
        struct winsize size;

        return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static const char *words_for(const char *stage) {
        static const struct {
                const char *stage, *words;
        } known[] = {
                { "waiting", "Waiting for other work" },
                { "fetching", "Fetching" },
                { "reading", "Reading" },
                { "writing", "Writing" },
                { "starting", "Starting" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
                if (strcmp(stage, known[i].stage) == 0)
                        return known[i].words;
        return stage;
}

static char *format_bytes(uint64_t bytes) {
        static const char *const units[] = { "kB", "MB", "GB", "TB" };
        double size = (double) bytes / 1000;
        size_t unit = 0;

        if (bytes < 1000)
                return g_strdup_printf("%u B", (unsigned) bytes);
        for (; size >= 1000 && unit + 1 < G_N_ELEMENTS(units); unit++)
                size /= 1000;
        return g_strdup_printf("%.1f %s", size, units[unit]);
}

static unsigned percent_of(uint64_t done, uint64_t total) {
        if (done >= total)
                return 100;
        return (unsigned) (total >= 100 ? MIN(done / (total / 100), 99) : done * 100 / total);
}

char *bundle_job_line(const char *stage, uint64_t done, uint64_t total, unsigned columns) {
        g_autofree char *clean = sanitize_line(stage, STAGE_BYTES_MAX, NULL), *size = format_bytes(done);
        g_autoptr(GString) line = g_string_new(words_for(clean));
        unsigned bar, filled, percent;

        if (total == 0) {
                if (done > 0)
                        g_string_append_printf(line, " %s", size);
                return g_string_free(g_steal_pointer(&line), FALSE);
        }

        percent = percent_of(done, total);
        bar = columns > line->len + 24 ? MIN(columns - (unsigned) line->len - 24, BAR_COLUMNS_MAX) : 0;
        filled = bar * percent / 100;
        if (bar > 0) {
                g_string_append(line, " [");
                for (unsigned i = 0; i < bar; i++)
                        g_string_append_c(line, i < filled ? '#' : ' ');
                g_string_append_c(line, ']');
        }
        g_string_append_printf(line, " %3u %% %s", percent, size);
        return g_string_free(g_steal_pointer(&line), FALSE);
}

static void erase(Running *running) {
        if (running->shown)
                (void) fputs("\r\033[K", stderr);
        running->shown = false;
}

static int on_progressed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Running *running = userdata;
        g_autofree char *line = NULL;
        uint64_t done, total;
        const char *stage;

        (void) reterr;
        if (running->reply || sd_bus_message_read(m, "stt", &stage, &done, &total) < 0)
                return 0;

        if (strcmp(stage, "asking") == 0) {
                erase(running);
                return 0;
        }
        line = bundle_job_line(stage, done, total, columns_of_stderr());
        (void) fprintf(stderr, "\r\033[K%s", line);
        (void) fflush(stderr);
        running->shown = true;
        return 0;
}

static int on_answered(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Running *running = userdata;

        (void) reterr;
        running->reply = sd_bus_message_ref(m);
        return sd_event_exit(running->event, 0);
}

static void running_done(Running *running, Cli *cli) {
        erase(running);
        sd_bus_slot_unref(running->progressed);
        sd_bus_slot_unref(running->answered);
        if (cli->bus)
                (void) sd_bus_detach_event(cli->bus);
        sd_event_unref(running->event);
}

/* Attached to a loop that the answer ends; the bar is drawn from inside it. */
static int run(Running *running, Cli *cli, sd_bus_message *m, const char *path) {
        int r;

        r = sd_event_new(&running->event);
        if (r >= 0)
                r = sd_bus_attach_event(cli->bus, running->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_bus_match_signal(cli->bus, &running->progressed, CLIENT_SERVICE, path, CLIENT_SERVICE ".Request",
                                "Progressed", on_progressed, running);
        if (r >= 0)
                r = sd_bus_call_async(cli->bus, &running->answered, m, on_answered, running,
                                client_wait_usec(cli, CLIENT_WAIT_PERSON));
        return r < 0 ? r : sd_event_loop(running->event);
}

static int call_with_bar(Cli *cli, sd_bus_message *m, const char *path, sd_bus_message **ret, sd_bus_error *reterr) {
        Running running = {};
        int r = run(&running, cli, m, path);

        running_done(&running, cli);
        if (r < 0 || !running.reply)
                return r < 0 ? r : -EIO;
        if (sd_bus_message_is_method_error(running.reply, NULL)) {
                r = sd_bus_error_copy(reterr, sd_bus_message_get_error(running.reply));
                sd_bus_message_unref(running.reply);
                return r;
        }
        *ret = running.reply;
        return 0;
}

static int call(Cli *cli, sd_bus_message *m, const char *path, sd_bus_message **ret, sd_bus_error *reterr) {
        return path ? call_with_bar(cli, m, path, ret, reterr) : client_send(cli, m, CLIENT_WAIT_PERSON, ret, reterr);
}

static int append_options(sd_bus_message *m, const CallOption *options, const char *token) {
        CallOption all[BUNDLE_JOB_OPTIONS_MAX + 2] = {};
        size_t n = 0;

        for (; options && options->name && n < BUNDLE_JOB_OPTIONS_MAX; options++)
                all[n++] = *options;
        all[n] = (CallOption) { "handle-token", 's', .text = token };
        return client_append_options(m, all);
}

static int run_words(
                Cli *cli, const char *member, const char *const *words, const CallOption *options, sd_bus_message **ret,
                sd_bus_error *reterr) {
        g_autofree char *token = isatty(STDERR_FILENO) ? g_strdup_printf("cli%08x", g_random_int()) : NULL, *path = NULL;
        g_autoptr(sd_bus_message) m = NULL;
        const char *unique_name = NULL;
        int r;

        r = client_new_call(cli, NULL, ".Plugins", member, &m, reterr);
        for (size_t i = 0; r >= 0 && words[i]; i++)
                r = sd_bus_message_append(m, "s", words[i]);
        if (r >= 0)
                r = append_options(m, options, token);
        if (r >= 0 && token)
                r = sd_bus_get_unique_name(cli->bus, &unique_name);
        if (r < 0)
                return r;

        path = token ? request_path(unique_name, token) : NULL;
        return call(cli, m, path, ret, reterr);
}

int bundle_job_run(Cli *cli, const char *member, const char *word, const CallOption *options, char **ret,
                sd_bus_error *reterr) {
        const char *const words[] = { word, NULL };
        g_autoptr(sd_bus_message) reply = NULL;
        const char *text = NULL;
        int r;

        r = run_words(cli, member, words, options, &reply, reterr);
        if (r >= 0)
                r = sd_bus_message_read(reply, "s", &text);
        if (r < 0)
                return r;

        *ret = g_strdup(text);
        return 0;
}

int bundle_job_change(Cli *cli, const char *member, const char *const *words, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) reply = NULL;

        return run_words(cli, member, words, NULL, &reply, reterr);
}
