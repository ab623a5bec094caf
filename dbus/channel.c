/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/socket.h>
#include <systemd/sd-id128.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/channel.h"
#include "dbus/memfd.h"

#define MATCH_DISCONNECTED                                                                                      \
        "type='signal',sender='org.freedesktop.DBus.Local',path='/org/freedesktop/DBus/Local',"                 \
        "interface='org.freedesktop.DBus.Local',member='Disconnected'"

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Face *face = userdata;

        (void) m;
        (void) reterr;
        bus_server_doom_face(face->server, face);
        return 0;
}

/* ---- authentication ----
 *
 * A client may send its first call together with the end of the authentication. sd-bus then has the call in its buffer, and
 * nothing wakes it, because the socket is empty. So while a channel authenticates, it is asked after every event. */

static void greet(Face *face) {
        int r;

        do
                r = sd_bus_process(face->bus, NULL);
        while (r > 0 && !face->doomed);

        if (r < 0)
                bus_server_doom_face(face->server, face);
        else if (sd_bus_is_ready(face->bus) > 0)
                face->greeted = true;
}

static int on_greet(sd_event_source *source, void *userdata) {
        BusServer *server = userdata;
        bool waiting = false;

        for (size_t i = 0; i < server->channels->len; i++) {
                Face *face = g_ptr_array_index(server->channels, i);

                if (!face->greeted && !face->doomed)
                        greet(face);
                waiting = waiting || (!face->greeted && !face->doomed);
        }
        return waiting ? 0 : sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

int channels_init(BusServer *server) {
        int r = sd_event_add_post(server->event, &server->greet, on_greet, server);

        return r < 0 ? r : sd_event_source_set_enabled(server->greet, SD_EVENT_OFF);
}

/* ---- opening ---- */

static int prepare_bus(sd_bus *bus) {
        sd_id128_t id;
        int r;

        r = sd_id128_randomize(&id);
        if (r >= 0)
                r = sd_bus_set_server(bus, true, id);
        /* Nobody else can hold the other end: whoever has it got it from us over the bus. */
        if (r >= 0)
                r = sd_bus_set_anonymous(bus, true);
        if (r >= 0)
                r = sd_bus_set_trusted(bus, true);
        if (r >= 0)
                r = sd_bus_negotiate_fds(bus, true);
        return r;
}

/* Takes @fd in any case. No g_autoptr(sd_bus) here: that one flushes, which waits for the other end. */
static int start_bus(int fd, sd_bus **ret) {
        sd_bus *bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = prepare_bus(bus);
        if (r >= 0)
                r = sd_bus_set_fd(bus, fd, fd);
        if (r < 0) {
                (void) close(fd);
                sd_bus_unref(bus);
                return r;
        }

        r = sd_bus_start(bus);
        if (r < 0) {
                sd_bus_close(bus);
                sd_bus_unref(bus);
                return r;
        }

        *ret = bus;
        return 0;
}

static int add_face(BusServer *server, Caller *caller, sd_bus *bus) {
        g_autoptr(Face) face = NULL;
        sd_bus_slot *slot = NULL;
        int r;

        r = face_new(server, bus, caller, &face);
        if (r >= 0)
                r = sd_bus_add_match(bus, &slot, MATCH_DISCONNECTED, on_disconnected, face);
        if (r < 0)
                return r;
        g_ptr_array_add(face->slots, slot);

        (void) sd_bus_set_close_on_exit(bus, false);
        r = sd_bus_attach_event(bus, server->event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;

        g_ptr_array_add(server->channels, g_steal_pointer(&face));
        return sd_event_source_set_enabled(server->greet, SD_EVENT_ON);
}

static int check_limits(const BusServer *server, const Caller *caller, sd_bus_error *reterr) {
        unsigned n = 0;

        for (size_t i = 0; i < server->channels->len; i++)
                n += ((Face *) g_ptr_array_index(server->channels, i))->caller == caller;
        if (n >= CLIENT_CHANNELS_MAX)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "One client may have %u direct channels.", CLIENT_CHANNELS_MAX);

        return memfd_check_room(reterr);
}

int channel_open(BusServer *server, Caller *caller, int *ret_fd, sd_bus_error *reterr) {
        _cleanup_close_ int theirs = -EBADF;
        sd_bus *bus = NULL;
        int ends[2], r;

        r = check_limits(server, caller, reterr);
        if (r < 0)
                return r;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
                return errors_set(reterr, ERROR_IO, "There is no socket for a channel: %s", g_strerror(errno));

        theirs = ends[1];
        r = start_bus(ends[0], &bus);
        if (r >= 0)
                r = add_face(server, caller, bus);
        sd_bus_unref(bus);
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "The channel can't be served: %s", g_strerror(-r));

        *ret_fd = steal_fd(&theirs);
        return 0;
}

void channels_close(BusServer *server, const Caller *caller) {
        for (size_t i = 0; i < server->channels->len; i++) {
                Face *face = g_ptr_array_index(server->channels, i);

                if (face->caller == caller)
                        bus_server_doom_face(server, face);
        }
}
