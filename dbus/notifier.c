/* SPDX-License-Identifier: MIT */
#include "dbus/notifier.h"

#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/log.h"
#include "dbus/announcer.h"

#define NAME      "org.freedesktop.Notifications"
#define PATH      "/org/freedesktop/Notifications"
#define INTERFACE NAME

#define ACTION_SHOW "default"

struct Notifier {
        BusServer *server;
        sd_bus *bus;
        sd_bus_slot *slots[3];
        sd_bus_slot *owner_call, *abilities_call, *notify_call;
        char *owner; /* unique name of the notification server; NULL while there is none */
        bool markup; /* it reads the body as markup */
        bool actions;
        uint64_t tried_usec; /* when we last had one started */
        sd_event_source *timer;
        uint32_t id;   /* of what is shown; 0: nothing */
        uint64_t card; /* the one that is pointed to */
        unsigned shown; /* how many cards it speaks of */
};

/* ---- the server ---- */

static int on_abilities(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Notifier *notifier = userdata;
        const char *word;

        (void) reterr;
        notifier->abilities_call = sd_bus_slot_unref(notifier->abilities_call);
        if (sd_bus_message_is_method_error(m, NULL) || sd_bus_message_enter_container(m, 'a', "s") < 0)
                return 0;
        while (sd_bus_message_read_basic(m, 's', &word) > 0) {
                notifier->markup = notifier->markup || strcmp(word, "body-markup") == 0;
                notifier->actions = notifier->actions || strcmp(word, "actions") == 0;
        }
        notifier_cards_changed(notifier);
        return 0;
}

static void notifier_set_owner(Notifier *notifier, const char *owner) {
        if (g_strcmp0(notifier->owner, owner[0] ? owner : NULL) == 0)
                return;

        /* What another server showed is gone with it. */
        g_free(notifier->owner);
        notifier->owner = owner[0] ? g_strdup(owner) : NULL;
        notifier->id = 0;
        notifier->shown = 0;
        notifier->markup = notifier->actions = false;
        notifier->abilities_call = sd_bus_slot_unref(notifier->abilities_call);
        notifier->notify_call = sd_bus_slot_unref(notifier->notify_call);
        if (notifier->owner)
                (void) sd_bus_call_method_async(notifier->bus, &notifier->abilities_call, notifier->owner, PATH, INTERFACE,
                                                "GetCapabilities", on_abilities, notifier, NULL);
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Notifier *notifier = userdata;
        const char *owner;

        (void) reterr;
        notifier->owner_call = sd_bus_slot_unref(notifier->owner_call);
        if (!sd_bus_message_is_method_error(m, NULL) && sd_bus_message_read(m, "s", &owner) >= 0)
                notifier_set_owner(notifier, owner);
        return 0;
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const char *name, *before, *after;

        (void) reterr;
        if (sd_bus_message_read(m, "sss", &name, &before, &after) >= 0)
                notifier_set_owner(userdata, after);
        return 0;
}

/* Desktops whose server is started by its first notification. Without one the bus answers with an error, which is fine. */
static void start_server(Notifier *notifier) {
        uint64_t now = 0;

        (void) sd_event_now(notifier->server->event, CLOCK_MONOTONIC, &now);
        if (notifier->tried_usec > 0 && now < notifier->tried_usec + NOTIFICATION_START_SEC * G_USEC_PER_SEC)
                return;

        notifier->tried_usec = now;
        (void) sd_bus_call_method_async(notifier->bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                        "StartServiceByName", NULL, NULL, "su", NAME, 0);
}

/* ---- what is shown ---- */

static int on_notified(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Notifier *notifier = userdata;

        (void) reterr;
        notifier->notify_call = sd_bus_slot_unref(notifier->notify_call);
        if (sd_bus_message_is_method_error(m, NULL) || sd_bus_message_read(m, "u", &notifier->id) < 0) {
                log_debug("The notification server took no notification.");
                notifier->id = 0;
        }
        notifier_cards_changed(notifier); /* what happened meanwhile */
        return 0;
}

static char *make_body(const Notifier *notifier, const Approval *approval, unsigned n) {
        g_autofree char *more = n > 1 ? g_strdup_printf(" %u cards wait.", n) : g_strdup("");
        g_autofree char *body = g_strdup_printf("%s.%s Answer in your approver, such as 'codewhalectl approve --watch'.",
                                                approval_get_title(approval), more);

        return notifier->markup ? g_markup_escape_text(body, -1) : g_steal_pointer(&body);
}

static void notifier_show(Notifier *notifier, const Approval *approval, unsigned n) {
        g_autofree char *body = make_body(notifier, approval, n);
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = sd_bus_message_new_method_call(notifier->bus, &m, notifier->owner, PATH, INTERFACE, "Notify");
        if (r >= 0)
                r = sd_bus_message_append(m, "susss", "codewhalectl", notifier->id, "dialog-question", "Approval needed", body);
        if (r >= 0)
                r = notifier->actions ? sd_bus_message_append(m, "as", 2, ACTION_SHOW, "Show the card")
                                      : sd_bus_message_append(m, "as", 0);
        if (r >= 0)
                r = sd_bus_message_append(m, "a{sv}i", 2, "category", "s", "presence", "urgency", "y", 1, 0);
        if (r >= 0)
                r = sd_bus_call_async(notifier->bus, &notifier->notify_call, m, on_notified, notifier, 0);
        if (r < 0) {
                log_debug("No notification can be sent: %s", g_strerror(-r));
                return;
        }
        notifier->card = approval_get_id(approval);
        notifier->shown = n;
}

static void notifier_hide(Notifier *notifier) {
        if (notifier->id > 0 && notifier->owner)
                (void) sd_bus_call_method_async(notifier->bus, NULL, notifier->owner, PATH, INTERFACE, "CloseNotification", NULL, NULL,
                                                "u", notifier->id);
        notifier->id = 0;
        notifier->shown = 0;
}

static void pick_first(Approval *approval, void *userdata) {
        Approval **first = userdata;

        if (!*first)
                *first = approval;
}

static int on_due(sd_event_source *source, uint64_t usec, void *userdata) {
        Notifier *notifier = userdata;
        const Service *service = notifier->server->service;
        unsigned n = service->config->notify ? approval_table_count(service->approvals) : 0;
        Approval *first = NULL;

        (void) source;
        (void) usec;
        if (notifier->notify_call || notifier->abilities_call)
                return 0; /* its answer brings us back */
        if (n == 0) {
                notifier_hide(notifier);
                return 0;
        }
        if (!notifier->owner) {
                start_server(notifier);
                return 0;
        }
        approval_table_foreach(service->approvals, pick_first, &first);
        if (notifier->shown != n || notifier->card != approval_get_id(first))
                notifier_show(notifier, first, n);
        return 0;
}

void notifier_cards_changed(Notifier *notifier) {
        int waits = SD_EVENT_OFF;

        if (!notifier || sd_event_source_get_enabled(notifier->timer, &waits) < 0 || waits != SD_EVENT_OFF)
                return;
        (void) sd_event_source_set_time_relative(notifier->timer, NOTIFICATION_PAUSE_MSEC * UINT64_C(1000));
        (void) sd_event_source_set_enabled(notifier->timer, SD_EVENT_ONESHOT);
}

/* ---- what the server says ---- */

/* Only the server's own word, and only about what it shows for us. It raises a card and answers none. */
static bool is_about_ours(const Notifier *notifier, sd_bus_message *m, uint32_t *ret_id) {
        return notifier->owner && notifier->id > 0 && g_strcmp0(sd_bus_message_get_sender(m), notifier->owner) == 0 &&
               sd_bus_message_read(m, "u", ret_id) >= 0 && *ret_id == notifier->id;
}

static int on_action(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Notifier *notifier = userdata;
        const char *action;
        uint32_t id;

        (void) reterr;
        if (is_about_ours(notifier, m, &id) && sd_bus_message_read(m, "s", &action) >= 0 && strcmp(action, ACTION_SHOW) == 0 &&
            approval_table_find(notifier->server->service->approvals, notifier->card))
                announcer_raise_card(notifier->server->announcer, notifier->card);
        return 0;
}

/* Swept away by a person: it comes back with the next change. */
static int on_dismissed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Notifier *notifier = userdata;
        uint32_t id;

        (void) reterr;
        if (is_about_ours(notifier, m, &id))
                notifier->id = 0;
        return 0;
}

/* ---- life ---- */

static int notifier_watch(Notifier *notifier) {
        int r;

        r = sd_bus_add_match_async(notifier->bus, &notifier->slots[0],
                                   "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                                   "member='NameOwnerChanged',arg0='" NAME "'",
                                   on_owner_changed, NULL, notifier);
        if (r >= 0)
                r = sd_bus_match_signal_async(notifier->bus, &notifier->slots[1], NAME, PATH, INTERFACE, "ActionInvoked", on_action, NULL,
                                              notifier);
        if (r >= 0)
                r = sd_bus_match_signal_async(notifier->bus, &notifier->slots[2], NAME, PATH, INTERFACE, "NotificationClosed",
                                              on_dismissed, NULL, notifier);
        if (r >= 0)
                r = sd_bus_call_method_async(notifier->bus, &notifier->owner_call, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                             "org.freedesktop.DBus", "GetNameOwner", on_owner, notifier, "s", NAME);
        return r;
}

int notifier_new(BusServer *server, sd_bus *bus, Notifier **ret) {
        g_autoptr(Notifier) notifier = g_new0(Notifier, 1);
        int r;

        notifier->server = server;
        notifier->bus = sd_bus_ref(bus);
        r = sd_event_add_time(server->event, &notifier->timer, CLOCK_MONOTONIC, 0, 0, on_due, notifier);
        if (r >= 0)
                r = sd_event_source_set_enabled(notifier->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = notifier_watch(notifier);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&notifier);
        return 0;
}

Notifier *notifier_free(Notifier *notifier) {
        if (!notifier)
                return NULL;

        notifier_hide(notifier);
        for (size_t i = 0; i < G_N_ELEMENTS(notifier->slots); i++)
                sd_bus_slot_unref(notifier->slots[i]);
        sd_bus_slot_unref(notifier->owner_call);
        sd_bus_slot_unref(notifier->abilities_call);
        sd_bus_slot_unref(notifier->notify_call);
        sd_event_source_disable_unref(notifier->timer);
        sd_bus_unref(notifier->bus);
        g_free(notifier->owner);
        g_free(notifier);
        return NULL;
}
