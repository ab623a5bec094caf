/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/approver.h"
#include "cli/client.h"
#include "cli/dev-bundle.h"
#include "cli/dev-service.h"
#include "cli/dev-watch.h"
#include "cli/failure.h"
#include "cli/verbs.h"
#include "common/cleanup.h"

typedef struct Dev {
        Cli *cli;
        sd_event *event;
        DevService service;
        DevBundle bundle;
        DevChild journal;
        DevWatch *watch;
        int status;
} Dev;

static void dev_done(Dev *dev) {
        dev_watch_free(dev->watch);
        dev_child_stop(&dev->journal);
        if (dev->cli->bus && dev->event)
                (void) sd_bus_detach_event(dev->cli->bus);
        dev_service_stop(&dev->service);
        dev_bundle_done(&dev->bundle);
        dev->cli->options[OPTION_ADDRESS] = NULL; /* it is gone with the service */
        sd_event_unref(dev->event);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Dev, dev_done)

/* What the plugin said through ctx.logger stands in the service's log, behind its id; so does what befell it, which is
 * shown here in other ways. */
static void say_of_plugin(const Dev *dev, const char *text) {
        const char *name = strrchr(dev->bundle.id, '/') + 1;
        size_t size = strlen(name);
        static const char *const told[] = { " was ", " is active", " failed (" };

        for (size_t i = 0; i < G_N_ELEMENTS(told); i++)
                if (strncmp(text, name, size) == 0 && g_str_has_prefix(text + size, told[i]))
                        return;
        dev_say(dev->cli, "log", "%s", text);
}

static void on_service_line(const char *line, void *userdata) {
        const char *text = line[0] == '<' && line[1] && line[2] == '>' ? line + 3 : line;
        Dev *dev = userdata;
        size_t size = dev->bundle.id ? strlen(dev->bundle.id) : 0;

        if (size > 0 && strchr(dev->bundle.id, '/') && strncmp(text, dev->bundle.id, size) == 0 &&
                        g_str_has_prefix(text + size, ": "))
                say_of_plugin(dev, text + size + 2);
        else if (text == line || line[1] <= '4') /* a warning, or worse */
                dev_say(dev->cli, "service", "%s", text);
}

static void on_journal_line(const char *line, void *userdata) {
        Dev *dev = userdata;

        dev_say(dev->cli, "log", "%s", line);
}

/* What it wrote to its console is in the journal, as for any other; each run of its host has a unit of its own, the plugin's id is
 * in all of their lines. From this moment on, and not from when journalctl is up: what is written in between is not lost. */
static void follow_journal(Dev *dev) {
        g_autofree char *match = NULL, *since = NULL;
        int64_t now = g_get_real_time();
        int r;

        if (!dev->bundle.id || dev_child_is_running(&dev->journal))
                return;
        match = g_strconcat("CODEWHALE_PLUGIN=", dev->bundle.id, NULL);
        since = g_strdup_printf("--since=@%" PRId64 ".%06d", now / G_USEC_PER_SEC, (int) (now % G_USEC_PER_SEC));

        /* Only its console: what it said through ctx.logger is there too, and was shown already. */
        const char *arguments[] = { "journalctl", "--user", "--quiet", "--follow", "--lines=all", since, "--output=cat", match,
                "_TRANSPORT=stdout", NULL };

        dev_child_stop(&dev->journal);
        r = dev_child_start(&dev->journal, arguments, NULL);
        if (r >= 0)
                r = dev_child_read(&dev->journal, dev->event, on_journal_line, dev);
        if (r < 0)
                dev_say(dev->cli, "log", "cannot be shown: journalctl: %s", g_strerror(-r));
}

static void on_changed(void *userdata) {
        Dev *dev = userdata;

        dev_say(dev->cli, "reload", "something changed");
        (void) dev_bundle_bring_up(dev->cli, &dev->bundle);
        follow_journal(dev);
}

/* The author is who wrote the code, and nothing else runs in this service: his own calls need no second person. */
static int on_card(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(Card) card = NULL;
        Dev *dev = userdata;
        uint64_t id;
        int r;

        (void) reterr;

        if (sd_bus_message_read(m, "t", &id) < 0)
                return 0;
        r = approver_describe(dev->cli, id, &card, NULL, &error);
        if (r >= 0)
                r = approver_answer(dev->cli, id, card->digest, true, NULL, 0, &error);
        if (r >= 0)
                dev_say(dev->cli, "allowed", "%s", card->title);
        else
                dev_say(dev->cli, "card", "%" PRIu64 " was not answered: %s", id,
                                error.message ? error.message : g_strerror(-r));
        return 0;
}

static int on_recorded(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Dev *dev = userdata;

        (void) m;
        (void) reterr;

        dev_bundle_show_calls(dev->cli, &dev->bundle);
        return 0;
}

static int on_failed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const char *id, *stage, *reason;
        Dev *dev = userdata;

        (void) reterr;

        /* An activation that failed was the answer to Enable already. */
        if (sd_bus_message_read(m, "sss", &id, &stage, &reason) >= 0 && strcmp(stage, "running") == 0)
                dev_say(dev->cli, "host", "failed (%s): %s", stage, reason);
        return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Dev *dev = userdata;

        (void) m;
        (void) reterr;

        dev_child_drain(&dev->service.program);
        dev->status = failure_say("The throw-away service ended by itself.");
        return sd_event_exit(dev->event, 0);
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const char *name, *before, *after;

        if (sd_bus_message_read(m, "sss", &name, &before, &after) < 0 || strcmp(name, CLIENT_SERVICE) != 0 || *after)
                return 0;
        return on_disconnected(m, userdata, reterr);
}

static int dev_listen(Dev *dev, sd_bus_error *reterr) {
        static const struct {
                const char *sender, *path, *interface, *member;
                sd_bus_message_handler_t handler;
        } matches[] = {
                { CLIENT_SERVICE, CLIENT_ROOT, CLIENT_SERVICE ".Decisions", "Recorded", on_recorded },
                { CLIENT_SERVICE, CLIENT_ROOT, CLIENT_SERVICE ".Plugins", "Failed", on_failed },
                { CLIENT_SERVICE, CLIENT_ROOT, CLIENT_SERVICE ".Approvals", "Opened", on_card },
                { "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
                                on_owner },
        };
        int r;

        r = client_connect(dev->cli, reterr);
        if (r >= 0)
                r = sd_bus_attach_event(dev->cli->bus, dev->event, SD_EVENT_PRIORITY_NORMAL);
        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(matches); i++) {
                if (matches[i].handler == on_card && cli_has(dev->cli, OPTION_ASK))
                        continue;
                r = sd_bus_match_signal(dev->cli->bus, NULL, matches[i].sender, matches[i].path,
                                matches[i].interface, matches[i].member, matches[i].handler, dev);
        }
        if (r >= 0)
                r = sd_bus_match_signal_async(dev->cli->bus, NULL, "org.freedesktop.DBus.Local",
                                "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected",
                                on_disconnected, NULL, dev);
        if (r >= 0 && !cli_has(dev->cli, OPTION_ASK))
                r = approver_register(dev->cli, NULL, reterr);
        return r;
}

static void dev_greet(const Dev *dev) {
        dev_say(dev->cli, "dev", "a service of its own runs for %s; all that it keeps is in %s and goes away with Ctrl-C",
                        dev->bundle.folder, dev->service.folder);
        (void) printf("In another terminal:\n\n    export CODEWHALE_BUS_ADDRESS=%s\n    codewhalectl tools\n\n",
                        dev->service.address);
        (void) fflush(stdout);
}

static int dev_run(Dev *dev) {
        static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        sigset_t set;
        int r = 0;

        (void) sigemptyset(&set);
        for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
                (void) sigaddset(&set, ends[i]);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                r = -errno;
        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(ends); i++)
                r = sd_event_add_signal(dev->event, NULL, ends[i], NULL, NULL);
        if (r >= 0)
                r = dev_listen(dev, &error);
        if (r < 0)
                return failure_report(dev->cli, r, &error, NULL);

        dev_greet(dev);
        (void) dev_bundle_bring_up(dev->cli, &dev->bundle);
        follow_journal(dev);
        r = dev_watch_new(dev->event, dev->bundle.folder, on_changed, dev, &dev->watch);
        if (r < 0)
                dev_say(dev->cli, "reload", "changes are not noticed: %s", g_strerror(-r));

        r = sd_event_loop(dev->event);
        return r < 0 ? failure_say("%s", g_strerror(-r)) : dev->status;
}

static const char *refused_option(const Cli *cli) {
        return cli_has(cli, OPTION_JSON)      ? "--json"
               : cli_has(cli, OPTION_SYSTEM)  ? "--system"
               : cli_has(cli, OPTION_ADDRESS) ? "--address"
                                              : NULL;
}

int verb_dev(Cli *cli, int argc, char **argv) {
        g_autofree char *folder = g_canonicalize_filename(argc > 1 ? argv[1] : ".", NULL), *error = NULL;
        g_auto(Dev) dev = { .cli = cli, .bundle = { .folder = folder } };
        int r, status;

        if (refused_option(cli))
                return failure_usage(cli, "dev takes no %s: it talks to a service of its own.", refused_option(cli));
        if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
                return failure_say("%s is no folder. codewhalectl new NAME makes one to start from.", folder);

        r = sd_event_default(&dev.event);
        if (r < 0)
                return failure_say("%s", g_strerror(-r));
        r = dev_service_start(&dev.service, cli->options[OPTION_NODE], cli->options[OPTION_CONFIG], dev.event,
                        on_service_line, &dev, &error);
        if (r < 0)
                return failure_say("%s", error);

        cli->options[OPTION_ADDRESS] = dev.service.address;
        status = dev_run(&dev);
        if (status == EXIT_STATUS_OK)
                dev_say(cli, "dev", "ended; nothing is left of it");
        return status;
}
