/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/approve-watch.h"
#include "cli/approver.h"
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/key-guard.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/wrap.h"
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"

typedef struct Watch {
        Cli *cli;
        sd_event *event;
        Terminal terminal;
        KeyGuard guard;
        GArray *waiting; /* ids of cards behind the shown one, oldest first */
        Card *card;      /* the shown one */
        char *owner;     /* unique name of the service we are registered with; NULL while there is none */
        int status;
        sd_bus_slot *slots[5];
        sd_event_source *keys, *timer, *signals[6];
} Watch;

static void watch_done(Watch *watch) {
        terminal_leave(&watch->terminal);
        for (size_t i = 0; i < G_N_ELEMENTS(watch->slots); i++)
                watch->slots[i] = sd_bus_slot_unref(watch->slots[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(watch->signals); i++)
                watch->signals[i] = sd_event_source_disable_unref(watch->signals[i]);
        watch->keys = sd_event_source_disable_unref(watch->keys);
        watch->timer = sd_event_source_disable_unref(watch->timer);
        if (watch->cli->bus)
                (void) sd_bus_detach_event(watch->cli->bus);
        watch->event = sd_event_unref(watch->event);
        watch->card = card_free(watch->card);
        g_clear_pointer(&watch->waiting, g_array_unref);
        g_clear_pointer(&watch->owner, g_free);
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

/* The keys of the grants that a card offers, in its order. */
static const char grant_keys[] = "st3456789";

static const CardGrant *watch_grant(const Watch *watch, char key) {
        const char *place = strchr(grant_keys, key);
        size_t index = place ? (size_t) (place - grant_keys) : SIZE_MAX;

        return index < watch->card->grants->len ? watch->card->grants->pdata[index] : NULL;
}

/* Words that somebody else's text may stand in. */
static void print_wrapped(const char *first, const char *words) {
        unsigned columns = output_columns();
        g_autoptr(GString) rows = g_string_new(NULL);

        wrap_append(rows, first, "  │ ", words, strlen(words), columns > 4 ? columns - 4 : columns);
        (void) fputs(rows->str, stdout);
}

/* A card of an act that only a person may do is about no call that comes again. */
static bool can_deny_for_session(const Card *card) {
        return strcmp(card->kind, "personal-act") != 0;
}

static void watch_ask(const Watch *watch) {
        const char *bold = style_on(watch->cli, STYLE_BOLD), *plain = style_on(watch->cli, STYLE_PLAIN);

        (void) printf("%s[y]%s allow once\n", bold, plain);
        for (guint i = 0; i < watch->card->grants->len && i < strlen(grant_keys); i++) {
                const CardGrant *grant = watch->card->grants->pdata[i];

                (void) printf("%s[%c]%s ", bold, grant_keys[i], plain);
                print_wrapped("allow ", grant->words);
        }
        if (can_deny_for_session(watch->card))
                (void) printf("%s[d]%s deny this very call for the rest of the session\n", bold, plain);
        (void) printf("%s[n]%s deny   %s[f]%s full arguments   %s[q]%s quit\n", bold, plain, bold, plain,
                        bold, plain);
        if (watch->waiting->len > 0)
                (void) printf("(%u more waiting)\n", watch->waiting->len);
        (void) fflush(stdout);
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
        watch->card = card_free(watch->card);

        while (!watch->card && watch->waiting->len > 0) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                uint64_t id = g_array_index(watch->waiting, uint64_t, 0);
                int r;

                g_array_remove_index(watch->waiting, 0);
                r = approver_describe(watch->cli, id, &watch->card, NULL, &error);
                if (r < 0 && !sd_bus_error_has_name(&error, ERROR_NO_SUCH_APPROVAL))
                        (void) failure_report(watch->cli, r, &error, NULL);
        }

        if (watch->card)
                watch_draw(watch);
        else
                say_line("Waiting for calls that need approval. q quits.");
}

static void watch_answer(Watch *watch, bool allow, const CardGrant *grant, const char *no_scope) {
        const char *scope = grant ? grant->scope : no_scope;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        r = approver_answer(watch->cli, watch->card->id, watch->card->digest, allow, scope, 0, &error);
        if (r < 0)
                (void) failure_report(watch->cli, r, &error, NULL);
        else if (grant)
                (void) printf("Card %" PRIu64 ": allowed %s.\n", watch->card->id, grant->words);
        else
                (void) printf("Card %" PRIu64 ": %s.\n", watch->card->id, allow ? "allowed once" : "denied");
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
        if (key == 'q' || key == 4) { /* Ctrl-D */
                (void) sd_event_exit(watch->event, 0);
                return;
        }
        if (!watch->card)
                return;

        if (key == 'y')
                watch_answer(watch, true, NULL, NULL);
        else if (key == 'n')
                watch_answer(watch, false, NULL, NULL);
        else if (key == 'd' && can_deny_for_session(watch->card))
                watch_answer(watch, false, NULL, "session");
        else if (watch_grant(watch, key))
                watch_answer(watch, true, watch_grant(watch, key), NULL);
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
        for (guint i = 0; i < watch->waiting->len; i++)
                if (g_array_index(watch->waiting, uint64_t, i) == id)
                        return;
        if ((watch->card && watch->card->id == id) || watch->waiting->len >= APPROVALS_MAX)
                return;

        g_array_append_val(watch->waiting, id);
        if (!watch->card)
                watch_next(watch);
}

/* A person clicked on the notification about this card: it comes next, and now if another one is shown. */
static void watch_raise(Watch *watch, uint64_t id) {
        for (guint i = 0; i < watch->waiting->len; i++) {
                if (g_array_index(watch->waiting, uint64_t, i) != id)
                        continue;
                g_array_remove_index(watch->waiting, i);
                g_array_prepend_val(watch->waiting, id);
                if (watch->card)
                        g_array_insert_val(watch->waiting, 1, watch->card->id);
                watch_next(watch);
                return;
        }
}

static bool is_from_service(const Watch *watch, sd_bus_message *m) {
        return watch->owner && g_strcmp0(sd_bus_message_get_sender(m), watch->owner) == 0;
}

static int on_opened(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Watch *watch = userdata;
        uint64_t id;

        (void) reterr;

        if (is_from_service(watch, m) && sd_bus_message_read(m, "t", &id) >= 0)
                watch_add(watch, id);
        return 0;
}

static int on_raised(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Watch *watch = userdata;
        uint64_t id;

        (void) reterr;

        if (is_from_service(watch, m) && sd_bus_message_read(m, "t", &id) >= 0)
                watch_raise(watch, id);
        return 0;
}

static int on_closed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Watch *watch = userdata;
        const char *outcome;
        uint64_t id;

        (void) reterr;

        if (!is_from_service(watch, m) || sd_bus_message_read(m, "ts", &id, &outcome) < 0)
                return 0;

        for (guint i = watch->waiting->len; i > 0; i--)
                if (g_array_index(watch->waiting, uint64_t, i - 1) == id)
                        g_array_remove_index(watch->waiting, i - 1);
        if (watch->card && watch->card->id == id) {
                note_say("Card %" PRIu64 " is gone: %s.", id, outcome);
                watch_next(watch);
        }
        return 0;
}

/* Registers with the service that runs now and takes over the cards that are open already. */
static int watch_register(Watch *watch, sd_bus_error *reterr) {
        g_autoptr(GArray) ids = NULL;
        int r;

        g_clear_pointer(&watch->owner, g_free);
        r = approver_register(watch->cli, &watch->owner, reterr);
        if (r >= 0)
                r = approver_list(watch->cli, &ids, reterr);
        if (r < 0)
                return r;

        g_array_set_size(watch->waiting, 0);
        g_array_append_vals(watch->waiting, ids->data, ids->len);
        watch_next(watch);
        return 0;
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const char *name, *before, *after;
        Watch *watch = userdata;
        int r;

        (void) reterr;

        if (sd_bus_message_read(m, "sss", &name, &before, &after) < 0 || strcmp(name, CLIENT_SERVICE) != 0 ||
                        g_strcmp0(after, watch->owner) == 0)
                return 0;

        if (!*after) {
                g_clear_pointer(&watch->owner, g_free);
                g_array_set_size(watch->waiting, 0);
                watch->card = card_free(watch->card);
                note_say("The service stopped. Its cards are withdrawn; waiting for it to come back.");
                return 0;
        }

        r = watch_register(watch, &error);
        if (r < 0) {
                watch->status = failure_report(watch->cli, r, &error, NULL);
                (void) sd_event_exit(watch->event, 0);
        }
        return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Watch *watch = userdata;

        (void) m;
        (void) reterr;

        (void) failure_say("The connection to the bus was lost.");
        watch->status = EXIT_STATUS_UNREACHABLE;
        return sd_event_exit(watch->event, 0);
}

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

static int watch_matches(Watch *watch) {
        sd_bus *bus = watch->cli->bus;
        int r;

        r = sd_bus_match_signal(bus, &watch->slots[0], CLIENT_SERVICE, CLIENT_ROOT,
                        CLIENT_SERVICE ".Approvals", "Opened", on_opened, watch);
        if (r >= 0)
                r = sd_bus_match_signal(bus, &watch->slots[1], CLIENT_SERVICE, CLIENT_ROOT,
                                CLIENT_SERVICE ".Approvals", "Closed", on_closed, watch);
        if (r >= 0)
                r = sd_bus_match_signal(bus, &watch->slots[4], CLIENT_SERVICE, CLIENT_ROOT,
                                CLIENT_SERVICE ".Approvals", "Raised", on_raised, watch);
        if (r >= 0)
                r = sd_bus_match_signal(bus, &watch->slots[2], "org.freedesktop.DBus",
                                "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
                                on_owner_changed, watch);
        if (r >= 0)
                r = sd_bus_match_signal_async(bus, &watch->slots[3], "org.freedesktop.DBus.Local",
                                "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected",
                                on_disconnected, NULL, watch);
        return r;
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
        return r < 0 ? r : watch_matches(watch);
}

int approve_watch(Cli *cli) {
        g_auto(Watch) watch = { .cli = cli, .waiting = g_array_new(FALSE, FALSE, sizeof(uint64_t)) };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

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
        if (watch.card || watch.waiting->len > 0)
                note_say("Left with cards open; another approver can answer them.");
        return watch.status;
}
