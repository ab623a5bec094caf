/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/progress.h"
#include "common/cleanup.h"
#include "common/jdoc.h"
#include "common/limits.h"

struct Progress {
        Cli *cli;
        char *name;
        uint64_t card;  /* 0: none is open */
        GArray *unseen; /* ids of cards that opened and were not looked at yet */
        sd_bus_slot *opened, *closed, *describe;
};

Progress *progress_free(Progress *progress) {
        if (!progress)
                return NULL;

        sd_bus_slot_unref(progress->opened);
        sd_bus_slot_unref(progress->closed);
        sd_bus_slot_unref(progress->describe);
        g_array_unref(progress->unseen);
        g_free(progress->name);
        g_free(progress);
        return NULL;
}

/* Whether a card is about our call: its tool, or the tool that its chain began with. */
static bool is_ours(const Progress *progress, Jval card) {
        JIter iter = jval_iterate(jval_member(card, "origin"));
        Jval key, item;

        if (jval_equals_text(jval_member(card, "tool"), progress->name))
                return true;
        while (jiter_next(&iter, &key, &item)) {
                const char *text = jval_text(item);

                if (text && strstr(text, progress->name))
                        return true;
        }

        return false;
}

static void progress_look(Progress *progress);

static void take_card(Progress *progress, const char *card) {
        g_autoptr(Jdoc) doc = NULL;
        uint64_t id;

        if (jdoc_parse(card, strlen(card), NULL, &doc, NULL) < 0 || !is_ours(progress, jdoc_root(doc)) ||
                        jval_uint64(jval_member(jdoc_root(doc), "id"), &id) < 0)
                return;

        progress->card = id;
        note_say("Waiting for approval (card %" PRIu64 "). Ctrl-C cancels the call.", id);
}

static int on_described(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Progress *progress = userdata;
        const char *card;

        (void) reterr;

        progress->describe = sd_bus_slot_unref(progress->describe);
        if (!sd_bus_message_is_method_error(m, NULL) && sd_bus_message_read(m, "s", &card) >= 0)
                take_card(progress, card);
        progress_look(progress);
        return 0;
}

/* Looks at the next card that opened, one at a time, until ours is found. */
static void progress_look(Progress *progress) {
        uint64_t id;

        if (progress->describe || progress->card != 0 || progress->unseen->len == 0)
                return;

        id = g_array_index(progress->unseen, uint64_t, 0);
        g_array_remove_index(progress->unseen, 0);
        (void) sd_bus_call_method_async(progress->cli->bus, &progress->describe, CLIENT_SERVICE, CLIENT_ROOT,
                        CLIENT_SERVICE ".Approvals", "Describe", on_described, progress, "t", id);
}

static int on_opened(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Progress *progress = userdata;
        uint64_t id;

        (void) reterr;

        if (sd_bus_message_read(m, "t", &id) < 0 || progress->unseen->len >= APPROVALS_MAX)
                return 0;

        g_array_append_val(progress->unseen, id);
        progress_look(progress);
        return 0;
}

static int on_closed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Progress *progress = userdata;
        const char *outcome;
        uint64_t id;

        (void) reterr;

        if (progress->card == 0 || sd_bus_message_read(m, "ts", &id, &outcome) < 0 || id != progress->card)
                return 0;

        progress->card = 0;
        note_say("Card %" PRIu64 ": %s.", id, outcome);
        return 0;
}

Progress *progress_new(Cli *cli, const char *name) {
        Progress *progress;

        if (!isatty(STDERR_FILENO))
                return NULL;

        progress = g_new0(Progress, 1);
        progress->cli = cli;
        progress->unseen = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        progress->name = g_strdup(name);
        if (sd_bus_match_signal(cli->bus, &progress->opened, CLIENT_SERVICE, CLIENT_ROOT,
                            CLIENT_SERVICE ".Approvals", "Opened", on_opened, progress) < 0 ||
                        sd_bus_match_signal(cli->bus, &progress->closed, CLIENT_SERVICE, CLIENT_ROOT,
                                        CLIENT_SERVICE ".Approvals", "Closed", on_closed, progress) < 0)
                return progress_free(progress);

        return progress;
}
