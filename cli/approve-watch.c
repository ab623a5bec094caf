/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli/approve-watch.h"
#include "cli/approver.h"
#include "cli/card-keys.h"
#include "cli/card-queue.h"
#include "cli/card-signals.h"
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/key-guard.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "common/cleanup.h"
#include "common/errors.h"

typedef struct Watch {
        Cli *cli;
        sd_event *event;
        Terminal terminal;
        KeyGuard guard;
        CardQueue waiting;
        Card *card;      /* the shown one */
        CardSignals heard;
        int status;
        sd_event_source *keys, *timer, *signals[6];
} Watch;

static void watch_done(Watch *watch) {
        terminal_leave(&watch->terminal);
        card_signals_done(&watch->heard);
        for (size_t i = 0; i < G_N_ELEMENTS(watch->signals); i++)
                watch->signals[i] = sd_event_source_disable_unref(watch->signals[i]);
        watch->keys = sd_event_source_disable_unref(watch->keys);
        watch->timer = sd_event_source_disable_unref(watch->timer);
        if (watch->cli->bus)
                (void) sd_bus_detach_event(watch->cli->bus);
        watch->event = sd_event_unref(watch->event);
        watch->card = card_free(watch->card);
        card_queue_done(&watch->waiting);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Watch, watch_done)

static uint64_t now_usec(void) {
        struct timespec now;

        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

static void say_line(const char *text) {
        (void) printf("%s\n", text);
        (void) fflush(stdout);
}

static void watch_ask(const Watch *watch) {
        card_keys_print(watch->cli, watch->card, card_queue_count(&watch->waiting));
}

/* Draws the card. Only what is typed after this can answer it. */
static void watch_draw(Watch *watch) {
        (void) fputs("\n", stdout);
        (void) fputs(watch->card->page, stdout);
        watch_ask(watch);
        terminal_flush();
        key_guard_show(&watch->guard, now_usec());
}

/* The next card that can still be read; those that are gone by now are passed over. */
static void watch_next(Watch *watch) {
        uint64_t id;

        watch->card = card_free(watch->card);

        while (!watch->card && card_queue_take(&watch->waiting, &id)) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                int r;

                r = approver_describe(watch->cli, id, &watch->card, NULL, &error);
                if (r < 0 && !sd_bus_error_has_name(&error, ERROR_NO_SUCH_APPROVAL))
                        (void) failure_report(watch->cli, r, &error, NULL);
        }

        if (watch->card)
                watch_draw(watch);
        else
                say_line("Waiting for calls that need approval. q quits.");
}

/* A password may be asked for on this terminal, so that it must be as its owner left it. */
static int watch_grant(Watch *watch, const CardAnswer *answer, sd_bus_error *reterr) {
        int r, back;

        terminal_leave(&watch->terminal);
        r = approver_answer(watch->cli, watch->card->id, watch->card->digest, true, answer->scope, 0, reterr);
        back = terminal_enter(&watch->terminal);
        if (back < 0)
                (void) sd_event_exit(watch->event, back);
        return r;
}

static void watch_answer(Watch *watch, const CardAnswer *answer) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        r = answer->grant ? watch_grant(watch, answer, &error)
                          : approver_answer(watch->cli, watch->card->id, watch->card->digest, answer->allow, answer->scope, 0, &error);
        if (r < 0) {
                (void) failure_report(watch->cli, r, &error, NULL);
                /* Nobody proved to be the person: the card waits on, and may still be allowed once. */
                if (sd_bus_error_has_name(&error, ERROR_NOT_AUTHORIZED)) {
                        watch_draw(watch);
                        return;
                }
        } else if (answer->grant)
                (void) printf("Card %" PRIu64 ": allowed %s.\n", watch->card->id, answer->grant->words);
        else
                (void) printf("Card %" PRIu64 ": %s.\n", watch->card->id, answer->allow ? "allowed once" : "denied");
        watch_next(watch);
}

static void watch_full(Watch *watch) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *text = NULL;
        int r;

        r = approver_arguments(watch->cli, watch->card->id, &text, &error);
        if (r < 0) {
                (void) failure_report(watch->cli, r, &error, NULL);
                return;
        }

        terminal_leave(&watch->terminal);
        if (cli_has(watch->cli, OPTION_NO_PAGER) || output_pager(text) < 0)
                (void) output_text(text);
        r = terminal_enter(&watch->terminal);
        if (r < 0)
                (void) sd_event_exit(watch->event, r);
        watch_draw(watch);
}

static void watch_key(Watch *watch, char key) {
        CardAnswer answer;

        if (key == 'q' || key == 4) { /* Ctrl-D */
                (void) sd_event_exit(watch->event, 0);
                return;
        }
        if (!watch->card)
                return;

        if (card_keys_read(watch->card, key, &answer))
                watch_answer(watch, &answer);
        else if (key == 'f')
                watch_full(watch);
        else
                watch_ask(watch);
}

static int on_key_due(sd_event_source *source, uint64_t usec, void *userdata) {
        Watch *watch = userdata;
        char key;

        (void) source;
        (void) usec;

        key = key_guard_take(&watch->guard, now_usec());
        if (key != 0)
                watch_key(watch, key);
        return 0;
}

static int on_keys(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Watch *watch = userdata;
        char bytes[256];
        ssize_t n = read(fd, bytes, sizeof bytes);
        uint64_t due;

        (void) source;

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return 0;
        if (n <= 0 || (events & (EPOLLHUP | EPOLLERR))) { /* the terminal is gone */
                watch->status = EXIT_STATUS_FAILURE;
                return sd_event_exit(watch->event, 0);
        }

        if (!key_guard_feed(&watch->guard, now_usec(), bytes, (size_t) n) && watch->card)
                say_line("That was no answer: read the card, then press one key alone.");

        due = key_guard_due(&watch->guard);
        if (due == 0)
                return 0;
        (void) sd_event_source_set_time(watch->timer, due);
        (void) sd_event_source_set_enabled(watch->timer, SD_EVENT_ONESHOT);
        return 0;
}

static void watch_add(Watch *watch, uint64_t id) {
        if ((watch->card && watch->card->id == id) || !card_queue_add(&watch->waiting, id))
                return;
        if (!watch->card)
                watch_next(watch);
}

/* A person clicked on the notification about this card: it comes next, and now if another one is shown. */
static void watch_raise(Watch *watch, uint64_t id) {
        if (!card_queue_remove(&watch->waiting, id))
                return;
        if (watch->card)
                card_queue_put_first(&watch->waiting, watch->card->id);
        card_queue_put_first(&watch->waiting, id);
        watch_next(watch);
}

static void on_opened(uint64_t id, void *userdata) {
        watch_add(userdata, id);
}

static void on_raised(uint64_t id, void *userdata) {
        watch_raise(userdata, id);
}

static void on_closed(uint64_t id, const char *outcome, void *userdata) {
        Watch *watch = userdata;

        (void) card_queue_remove(&watch->waiting, id);
        if (watch->card && watch->card->id == id) {
                note_say("Card %" PRIu64 " is gone: %s.", id, outcome);
                watch_next(watch);
        }
}

/* Registers with the service that runs now and takes over the cards that are open already. */
static int watch_register(Watch *watch, sd_bus_error *reterr) {
        g_autoptr(GArray) ids = NULL;
        char *owner = NULL;
        int r;

        r = approver_register(watch->cli, &owner, reterr);
        card_signals_set_owner(&watch->heard, owner);
        if (r >= 0)
                r = approver_list(watch->cli, &ids, reterr);
        if (r < 0)
                return r;

        card_queue_set(&watch->waiting, ids);
        watch_next(watch);
        return 0;
}

static void on_service_changed(const char *owner, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Watch *watch = userdata;
        int r;

        if (!owner) {
                card_signals_set_owner(&watch->heard, NULL);
                card_queue_set(&watch->waiting, NULL);
                watch->card = card_free(watch->card);
                note_say("The service stopped. Its cards are withdrawn; waiting for it to come back.");
                return;
        }

        r = watch_register(watch, &error);
        if (r < 0) {
                watch->status = failure_report(watch->cli, r, &error, NULL);
                (void) sd_event_exit(watch->event, 0);
        }
}

static void on_disconnected(void *userdata) {
        Watch *watch = userdata;

        (void) failure_say("The connection to the bus was lost.");
        watch->status = EXIT_STATUS_UNREACHABLE;
        (void) sd_event_exit(watch->event, 0);
}

static const CardEvents card_events = {
        .opened = on_opened,
        .raised = on_raised,
        .closed = on_closed,
        .service_changed = on_service_changed,
        .disconnected = on_disconnected,
};

static int on_end(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Watch *watch = userdata;

        (void) source;
        (void) info;

        return sd_event_exit(watch->event, 0);
}

/* Back in the foreground: the shell may have changed the terminal, and what stood there is gone from view.
 */
static int on_continue(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Watch *watch = userdata;

        (void) source;
        (void) info;

        (void) terminal_enter(&watch->terminal);
        if (watch->card)
                watch_draw(watch);
        return 0;
}

/* Rows that were broken for another width would be broken again, by the terminal and where it likes. */
static int on_resize(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Watch *watch = userdata;

        (void) source;
        (void) info;

        if (watch->card) {
                card_fit(watch->cli, watch->card);
                watch_draw(watch);
        }
        return 0;
}

static int watch_signals(Watch *watch) {
        static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
        sigset_t set;
        int r = 0;

        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGCONT);
        (void) sigaddset(&set, SIGWINCH);
        for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
                (void) sigaddset(&set, ends[i]);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;

        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(ends); i++)
                r = sd_event_add_signal(watch->event, &watch->signals[i], ends[i], on_end, watch);
        if (r >= 0)
                r = sd_event_add_signal(watch->event, &watch->signals[4], SIGCONT, on_continue, watch);
        return r < 0 ? r : sd_event_add_signal(watch->event, &watch->signals[5], SIGWINCH, on_resize, watch);
}

static int watch_arm(Watch *watch) {
        int r;

        r = sd_event_default(&watch->event);
        if (r >= 0)
                r = sd_bus_attach_event(watch->cli->bus, watch->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = watch_signals(watch);
        if (r >= 0)
                r = sd_event_add_io(watch->event, &watch->keys, STDIN_FILENO, EPOLLIN, on_keys, watch);
        if (r >= 0)
                r = sd_event_add_time(watch->event, &watch->timer, CLOCK_MONOTONIC, UINT64_MAX, 1,
                                on_key_due, watch);
        if (r >= 0)
                r = sd_event_source_set_enabled(watch->timer, SD_EVENT_OFF);
        return r < 0 ? r : card_signals_begin(&watch->heard, watch->cli->bus, &card_events, watch);
}

int approve_watch(Cli *cli) {
        g_auto(Watch) watch = { .cli = cli };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        card_queue_init(&watch.waiting);
        r = client_connect(cli, &error);
        if (r >= 0)
                r = watch_arm(&watch);
        if (r >= 0)
                r = terminal_enter(&watch.terminal);
        if (r >= 0)
                r = watch_register(&watch, &error);
        if (r < 0) {
                terminal_leave(&watch.terminal);
                return failure_report(cli, r, &error, NULL);
        }

        r = sd_event_loop(watch.event);
        if (r < 0)
                return failure_say("%s", g_strerror(-r));
        if (watch.card || card_queue_count(&watch.waiting) > 0)
                note_say("Left with cards open; another approver can answer them.");
        return watch.status;
}
