/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "sandbox/manager.h"

/* The next try after a loss; each that fails doubles the wait. */
#define RECONNECT_USEC     UINT64_C(250000)
#define RECONNECT_USEC_MAX UINT64_C(8000000)

typedef struct Follower {
        UnitManagerFollower function;
        void *userdata;
} Follower;

struct UnitManager {
        unsigned n_ref;
        UnitManagerKind kind;
        char *address;
        sd_event *event;
        const UnitManagerEvents *events; /* NULL after unit_manager_close() */
        void *userdata;

        sd_bus *bus;
        sd_bus_slot *subscribe_slot;
        sd_bus_slot *disconnect_slot;
        sd_event_source *reconnect;
        bool ready;
        bool told_lost;
        uint64_t wait_usec; /* before the next try */

        GArray *followers; /* of Follower; a removed one has no function until nobody walks the list */
        unsigned walking;
};

static const char *const unit_manager_kind_table[_UNIT_MANAGER_MAX] = {
        [UNIT_MANAGER_USER] = "user",
        [UNIT_MANAGER_SESSION_BUS] = "session-bus",
        [UNIT_MANAGER_SYSTEM] = "system",
        [UNIT_MANAGER_ADDRESS] = "address",
};

const char *unit_manager_kind_to_string(UnitManagerKind kind) {
        return kind >= 0 && kind < _UNIT_MANAGER_MAX ? unit_manager_kind_table[kind] : NULL;
}

UnitManagerKind unit_manager_kind_from_string(const char *word) {
        for (int i = 0; i < _UNIT_MANAGER_MAX; i++)
                if (g_strcmp0(word, unit_manager_kind_table[i]) == 0)
                        return i;

        return _UNIT_MANAGER_INVALID;
}

static void manager_connect(UnitManager *manager);

static void manager_tell_followers(UnitManager *manager) {
        bool ready = manager->ready;

        manager->walking++;
        for (guint i = 0; i < manager->followers->len; i++) {
                Follower follower = g_array_index(manager->followers, Follower, i);

                if (follower.function)
                        follower.function(manager, ready, follower.userdata);
        }
        if (--manager->walking > 0)
                return;

        for (guint i = manager->followers->len; i > 0; i--)
                if (!g_array_index(manager->followers, Follower, i - 1).function)
                        g_array_remove_index(manager->followers, i - 1);
}

static void manager_drop_bus(UnitManager *manager) {
        manager->ready = false;
        manager->subscribe_slot = sd_bus_slot_unref(manager->subscribe_slot);
        manager->disconnect_slot = sd_bus_slot_unref(manager->disconnect_slot);
        if (manager->bus) {
                sd_bus_close(manager->bus);
                (void) sd_bus_detach_event(manager->bus);
                manager->bus = sd_bus_unref(manager->bus);
        }
}

static int on_reconnect(sd_event_source *source, uint64_t usec, void *userdata) {
        UnitManager *manager = userdata;

        (void) source;
        (void) usec;

        manager->reconnect = sd_event_source_disable_unref(manager->reconnect);
        manager_connect(manager);
        return 0;
}

/* Tells everybody and tries again a little later. */
static void manager_lose(UnitManager *manager, int error, const char *reason) {
        G_GNUC_UNUSED g_autoptr(UnitManager) held = unit_manager_ref(manager);
        G_GNUC_UNUSED int r;

        manager_drop_bus(manager);
        if (!manager->reconnect && manager->events) {
                r = sd_event_add_time_relative(manager->event, &manager->reconnect, CLOCK_MONOTONIC,
                                manager->wait_usec, manager->wait_usec / 10, on_reconnect, manager);
                assert(r >= 0);
                manager->wait_usec = MIN(manager->wait_usec * 2, RECONNECT_USEC_MAX);
        }
        if (manager->told_lost)
                return;

        manager->told_lost = true;
        if (manager->events && manager->events->lost)
                manager->events->lost(manager, error, reason, manager->userdata);
        manager_tell_followers(manager);
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        UnitManager *manager = userdata;

        (void) m;
        (void) reterr;

        manager_lose(manager, -ECONNRESET, "systemd's manager closed the connection");
        return 0;
}

static int on_subscribed(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        UnitManager *manager = userdata;
        g_autoptr(UnitManager) held = unit_manager_ref(manager);
        const sd_bus_error *error = sd_bus_message_get_error(reply);

        (void) reterr;
        (void) held;

        manager->subscribe_slot = sd_bus_slot_unref(manager->subscribe_slot);
        if (error && !sd_bus_error_has_name(error, "org.freedesktop.systemd1.AlreadySubscribed")) {
                manager_lose(manager, -sd_bus_error_get_errno(error),
                                error->message ? error->message : "systemd's manager does not answer");
                return 0;
        }

        manager->ready = true;
        manager->told_lost = false;
        manager->wait_usec = RECONNECT_USEC;
        if (manager->events && manager->events->ready)
                manager->events->ready(manager, manager->userdata);
        if (manager->ready)
                manager_tell_followers(manager);
        return 0;
}

static int bus_set_user_address(sd_bus *bus) {
        const char *runtime = g_getenv("XDG_RUNTIME_DIR");
        g_autofree char *path = NULL, *escaped = NULL, *address = NULL;

        path = runtime ? g_strdup_printf("%s/systemd/private", runtime)
                       : g_strdup_printf("/run/user/%u/systemd/private", (unsigned) getuid());
        escaped = g_uri_escape_string(path, "/", FALSE);
        address = g_strdup_printf("unix:path=%s", escaped);
        return sd_bus_set_address(bus, address);
}

static int manager_open_peer(UnitManager *manager, sd_bus **ret) {
        g_autoptr(sd_bus) bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r < 0)
                return r;
        r = manager->kind == UNIT_MANAGER_USER ? bus_set_user_address(bus)
                                               : sd_bus_set_address(bus, manager->address);
        if (r < 0)
                return r;
        r = sd_bus_start(bus);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&bus);
        return 0;
}

static int manager_open(UnitManager *manager, sd_bus **ret) {
        switch (manager->kind) {
        case UNIT_MANAGER_SESSION_BUS:
                return sd_bus_open_user(ret);
        case UNIT_MANAGER_SYSTEM:
                return sd_bus_open_system(ret);
        default:
                return manager_open_peer(manager, ret);
        }
}

static int manager_setup(UnitManager *manager) {
        int r;

        r = manager_open(manager, &manager->bus);
        if (r < 0)
                return r;
        /* When the loop ends, units are yet to be stopped. */
        (void) sd_bus_set_close_on_exit(manager->bus, false);
        r = sd_bus_attach_event(manager->bus, manager->event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;
        r = sd_bus_match_signal_async(manager->bus, &manager->disconnect_slot, "org.freedesktop.DBus.Local",
                        "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected",
                        on_disconnected, NULL, manager);
        if (r < 0)
                return r;

        return sd_bus_call_method_async(manager->bus, &manager->subscribe_slot,
                        unit_manager_destination(manager), "/org/freedesktop/systemd1",
                        "org.freedesktop.systemd1.Manager", "Subscribe", on_subscribed, manager, NULL);
}

static void manager_connect(UnitManager *manager) {
        int r = manager_setup(manager);

        if (r < 0)
                manager_lose(manager, r, "no connection to systemd's manager");
}

static int on_first_connect(sd_event_source *source, void *userdata) {
        UnitManager *manager = userdata;

        (void) source;

        manager->reconnect = sd_event_source_disable_unref(manager->reconnect);
        manager_connect(manager);
        return 0;
}

int unit_manager_new(sd_event *event, UnitManagerKind kind, const char *address,
                const UnitManagerEvents *events, void *userdata, UnitManager **ret) {
        g_autoptr(UnitManager) manager = NULL;
        int r;

        assert(event);
        assert(kind >= 0 && kind < _UNIT_MANAGER_MAX);
        assert((kind == UNIT_MANAGER_ADDRESS) == (address != NULL));
        assert(events);
        assert(ret);

        manager = g_new(UnitManager, 1);
        *manager = (UnitManager){
                .n_ref = 1,
                .kind = kind,
                .address = g_strdup(address),
                .event = sd_event_ref(event),
                .events = events,
                .userdata = userdata,
                .wait_usec = RECONNECT_USEC,
                .followers = g_array_new(FALSE, FALSE, sizeof(Follower)),
        };

        /* From the loop, so that no event comes from within this call. */
        r = sd_event_add_defer(event, &manager->reconnect, on_first_connect, manager);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&manager);
        return 0;
}

UnitManager *unit_manager_ref(UnitManager *manager) {
        assert(manager);
        manager->n_ref++;
        return manager;
}

UnitManager *unit_manager_unref(UnitManager *manager) {
        if (!manager || --manager->n_ref > 0)
                return NULL;

        if (manager->bus)
                (void) sd_bus_flush(manager->bus);
        manager_drop_bus(manager);
        sd_event_source_disable_unref(manager->reconnect);
        g_array_unref(manager->followers);
        sd_event_unref(manager->event);
        g_free(manager->address);
        g_free(manager);
        return NULL;
}

UnitManager *unit_manager_close(UnitManager *manager) {
        if (!manager)
                return NULL;

        manager->events = NULL;
        manager->reconnect = sd_event_source_disable_unref(manager->reconnect);
        return unit_manager_unref(manager);
}

bool unit_manager_is_ready(const UnitManager *manager) {
        assert(manager);
        return manager->ready;
}

UnitManagerKind unit_manager_get_kind(const UnitManager *manager) {
        assert(manager);
        return manager->kind;
}

bool unit_manager_get_system(const UnitManager *manager) {
        assert(manager);
        return manager->kind == UNIT_MANAGER_SYSTEM;
}

sd_bus *unit_manager_bus(UnitManager *manager) {
        assert(manager);
        return manager->ready ? manager->bus : NULL;
}

sd_event *unit_manager_event(UnitManager *manager) {
        assert(manager);
        return manager->event;
}

const char *unit_manager_destination(const UnitManager *manager) {
        bool direct = manager->kind == UNIT_MANAGER_USER || manager->kind == UNIT_MANAGER_ADDRESS;

        return direct ? NULL : "org.freedesktop.systemd1";
}

void unit_manager_follow(UnitManager *manager, UnitManagerFollower function, void *userdata) {
        Follower follower = { .function = function, .userdata = userdata };

        assert(manager);
        assert(function);
        g_array_append_val(manager->followers, follower);

        /* Somebody wants a unit: don't make them wait for the next try. */
        manager->wait_usec = RECONNECT_USEC;
        if (!manager->ready && manager->reconnect)
                (void) sd_event_source_set_time_relative(manager->reconnect, 0);
}

void unit_manager_unfollow(UnitManager *manager, void *userdata) {
        assert(manager);

        for (guint i = 0; i < manager->followers->len; i++) {
                Follower *follower = &g_array_index(manager->followers, Follower, i);

                if (follower->userdata != userdata)
                        continue;
                if (manager->walking > 0)
                        *follower = (Follower){ .userdata = NULL };
                else
                        g_array_remove_index(manager->followers, i--);
        }
}
