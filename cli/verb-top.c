/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "cli/top-view.h"
#include "cli/verbs.h"
#include "common/cleanup.h"

#define INTERVAL_DEFAULT_USEC (G_USEC_PER_SEC * UINT64_C(2))
#define INTERVAL_SECONDS_MIN  0.1
#define INTERVAL_SECONDS_MAX  3600.0
#define VIEWS_MAX             G_MAXUINT32

typedef struct Top {
        Cli *cli;
        sd_event *event;
        sd_event_source *timer;
        Screen screen;
        TopSample *sample;
        TopOrder order;
        uint64_t interval_usec;
        guint64 left; /* views until the end; 0: no end */
        int status;
} Top;

static void top_done(Top *top) {
        screen_leave(&top->screen);
        sd_event_source_disable_unref(top->timer);
        if (top->event && top->cli->bus)
                (void) sd_bus_detach_event(top->cli->bus);
        sd_event_unref(top->event);
        top_sample_free(top->sample);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Top, top_done)

static int top_refresh(Top *top, sd_bus_error *reterr) {
        g_autoptr(TopSample) sample = NULL;
        int r = top_sample_take(top->cli, top->sample, &sample, reterr);

        if (r < 0)
                return r;

        top_sample_sort(sample, top->order);
        top_sample_free(top->sample);
        top->sample = g_steal_pointer(&sample);
        return 0;
}

/* Once, for a pipe or a program: no screen, no end of lines that a person would miss. */
static int top_print(Top *top) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(GString) page = g_string_new(NULL);
        g_autofree char *json = NULL;
        int r;

        r = top_refresh(top, &error);
        if (r < 0)
                return failure_report(top->cli, r, &error, NULL);
        if (cli_has(top->cli, OPTION_JSON)) {
                json = top_sample_json(top->sample);
                return output_json(json);
        }

        top_view_render(top->cli, top->sample, top->order, output_columns(), 0, page);
        return output_text(page->str);
}

static void top_draw(Top *top) {
        g_autoptr(GString) page = g_string_new(NULL);
        unsigned rows, columns;

        screen_size(&rows, &columns);
        top_view_render(top->cli, top->sample, top->order, columns, rows, page);
        screen_draw(page->str);
}

static void top_end(Top *top, int status) {
        top->status = status;
        (void) sd_event_exit(top->event, 0);
}

/* A service that is being started again is no reason to end: the screen says so and goes on. */
static int top_show(Top *top) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = top_refresh(top, &error);

        if (r >= 0)
                top_draw(top);
        else if (!top->cli->bus || !sd_bus_is_open(top->cli->bus)) {
                screen_leave(&top->screen);
                top_end(top, failure_report(top->cli, r, &error, NULL));
                return 0;
        } else
                screen_draw("The service does not answer. Waiting for it; q quits.\n");

        if (top->left > 0 && --top->left == 0)
                top_end(top, EXIT_STATUS_OK);
        return 0;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata) {
        Top *top = userdata;
        uint64_t now = usec;

        (void) top_show(top);
        (void) sd_event_now(top->event, CLOCK_MONOTONIC, &now);
        (void) sd_event_source_set_time(source, now + top->interval_usec);
        return 0;
}

static void top_sort_by(Top *top, TopOrder order) {
        top->order = order;
        if (!top->sample)
                return;
        top_sample_sort(top->sample, order);
        top_draw(top);
}

static void top_key(Top *top, char key) {
        switch (key) {
        case 'q':
        case 'Q':
                top_end(top, EXIT_STATUS_OK);
                break;
        case 'm':
                top_sort_by(top, TOP_ORDER_MEMORY);
                break;
        case 'c':
                top_sort_by(top, TOP_ORDER_CPU);
                break;
        case 'l':
                top_sort_by(top, TOP_ORDER_CALLS);
                break;
        case 'n':
                top_sort_by(top, TOP_ORDER_NAME);
                break;
        case ' ':
                (void) sd_event_source_set_time(top->timer, 0);
                break;
        default: /* other keys mean nothing */
                break;
        }
}

static int on_keys(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Top *top = userdata;
        char bytes[64];
        ssize_t n;

        (void) source;
        (void) events;

        n = read(fd, bytes, sizeof(bytes));
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n <= 0) { /* the terminal is gone */
                top_end(top, EXIT_STATUS_OK);
                return 0;
        }
        /* Cursor keys and the like begin with an escape: they are no letters. */
        for (ssize_t i = 0; i < n && bytes[i] != '\033'; i++)
                top_key(top, bytes[i]);
        return 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Top *top = userdata;

        (void) source;

        switch (info->ssi_signo) {
        case SIGWINCH:
                if (top->sample)
                        top_draw(top);
                break;
        case SIGTSTP: /* the shell gets its screen, and we ours when we go on */
                screen_leave(&top->screen);
                (void) kill(getpid(), SIGSTOP);
                break;
        case SIGCONT:
                (void) screen_enter(&top->screen);
                (void) sd_event_source_set_time(top->timer, 0);
                break;
        default:
                top_end(top, info->ssi_signo == SIGINT ? EXIT_STATUS_OK : EXIT_STATUS_INTERRUPTED);
                break;
        }
        return 0;
}

static int top_arm(Top *top) {
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT };
        sigset_t set;
        int r;

        (void) sigemptyset(&set);
        for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
                (void) sigaddset(&set, signals[i]);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;

        r = sd_event_default(&top->event);
        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(signals); i++)
                r = sd_event_add_signal(top->event, NULL, signals[i], on_signal, top);
        if (r >= 0)
                r = sd_event_add_io(top->event, NULL, STDIN_FILENO, EPOLLIN, on_keys, top);
        if (r >= 0)
                r = sd_event_add_time(top->event, &top->timer, CLOCK_MONOTONIC, 0, 1000, on_time, top);
        if (r >= 0)
                r = sd_event_source_set_enabled(top->timer, SD_EVENT_ON);
        return r;
}

static int top_watch(Top *top) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        /* What does not work at all is said on the ordinary screen. */
        r = top_refresh(top, &error);
        if (r < 0)
                return failure_report(top->cli, r, &error, NULL);
        r = top_arm(top);
        if (r >= 0)
                r = screen_enter(&top->screen);
        if (r >= 0)
                r = sd_event_loop(top->event);

        screen_leave(&top->screen);
        return r < 0 ? failure_say("%s", g_strerror(-r)) : top->status;
}

static int top_options(Top *top, char **ret_error) {
        const char *interval = top->cli->options[OPTION_INTERVAL], *sort = top->cli->options[OPTION_SORT];
        char *end;
        double seconds;

        top->interval_usec = INTERVAL_DEFAULT_USEC;
        if (interval) {
                seconds = g_ascii_strtod(interval, &end);
                if (end == interval || *end != '\0' || !(seconds >= INTERVAL_SECONDS_MIN) ||
                                seconds > INTERVAL_SECONDS_MAX) {
                        *ret_error = g_strdup("--interval is a number of seconds from 0.1 to 3600.");
                        return -EINVAL;
                }
                top->interval_usec = (uint64_t) (seconds * G_USEC_PER_SEC);
        }
        top->order = sort ? top_order_from_string(sort) : TOP_ORDER_MEMORY;
        if (top->order < 0) {
                *ret_error = g_strdup("--sort is one of memory, cpu, calls, name.");
                return -EINVAL;
        }
        return option_number(top->cli, OPTION_LINES, 1, VIEWS_MAX, 0, &top->left, ret_error);
}

int verb_top(Cli *cli, int argc, char **argv) {
        g_auto(Top) top = { .cli = cli };
        g_autofree char *error = NULL;

        (void) argc;
        (void) argv;

        if (top_options(&top, &error) < 0)
                return failure_usage(cli, "%s", error);
        if (cli_has(cli, OPTION_ONCE) || cli_has(cli, OPTION_JSON) || !screen_is_possible())
                return top_print(&top);

        return top_watch(&top);
}
