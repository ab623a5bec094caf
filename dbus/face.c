/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/act-record.h"
#include "dbus/authorize.h"
#include "dbus/bus-interfaces.h"
#include "dbus/face.h"
#include "dbus/paths.h"
#include "dbus/server.h"

static void slot_free(void *slot) {
        sd_bus_slot_unref(slot);
}

static int face_export(Face *face, const BusInterface *interface) {
        sd_bus_slot *slot = NULL;
        int r;

        if (interface->find)
                r = sd_bus_add_fallback_vtable(
                                face->bus, &slot, interface->path, interface->name, interface->vtable, interface->find, face);
        else
                r = sd_bus_add_object_vtable(face->bus, &slot, interface->path, interface->name, interface->vtable, face);
        if (r < 0)
                return r;
        g_ptr_array_add(face->slots, slot);

        if (!interface->enumerate)
                return 0;
        r = sd_bus_add_node_enumerator(face->bus, &slot, interface->path, interface->enumerate, face);
        if (r < 0)
                return r;
        g_ptr_array_add(face->slots, slot);
        return 0;
}

static int face_export_all(Face *face) {
        sd_bus_slot *slot = NULL;
        int r;

        for (const BusInterface *const *interface = bus_interfaces; *interface; interface++) {
                r = face_export(face, *interface);
                if (r < 0)
                        return r;
        }

        r = sd_bus_add_object_manager(face->bus, &slot, PATH_ROOT);
        if (r < 0)
                return r;
        g_ptr_array_add(face->slots, slot);
        return 0;
}

int face_new(BusServer *server, sd_bus *bus, Caller *caller, Face **ret) {
        g_autoptr(Face) face = g_new0(Face, 1);
        int r;

        face->server = server;
        face->service = server->service;
        face->bus = sd_bus_ref(bus);
        face->caller = caller ? caller_ref(caller) : NULL;
        face->slots = g_ptr_array_new_with_free_func(slot_free);

        r = face_export_all(face);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&face);
        return 0;
}

Face *face_free(Face *face) {
        if (!face)
                return NULL;

        g_ptr_array_unref(face->slots);
        if (face->caller) {
                sd_bus_detach_event(face->bus);
                sd_bus_close(face->bus);
                caller_unref(face->caller);
        }
        sd_bus_unref(face->bus);
        g_free(face);
        return NULL;
}

void face_sent(Face *face, size_t bytes) {
        uint64_t queued = 0;

        /* The bus bounds what it queues for a client and drops him; on a channel that is our part. */
        if (!face->caller || face->doomed)
                return;

        if (sd_bus_get_n_queued_write(face->bus, &queued) < 0 || queued == 0) {
                face->unread = 0;
                return;
        }
        face->unread += bytes;
        if (queued > CHANNEL_QUEUE_MAX || face->unread > CHANNEL_QUEUE_BYTES_MAX)
                bus_server_doom_face(face->server, face);
}

/* ---- dispatching ---- */

static const char *error_name_of(int r) {
        switch (r) {
        case -EINVAL:
        case -ENXIO:
        case -EBADMSG:
                return ERROR_INVALID_ARGUMENTS;
        case -E2BIG:
        case -EFBIG:
                return ERROR_TOO_LARGE;
        case -ENOBUFS:
        case -EMFILE:
        case -ENFILE:
        case -ENOMEM:
                return ERROR_LIMIT_EXCEEDED;
        case -EBUSY:
                return ERROR_BUSY;
        default:
                return ERROR_IO;
        }
}

/* Nothing leaves with a name that is not ours. */
static int name_error(int r, const char *member, sd_bus_error *reterr) {
        g_auto(sd_bus_error) other = SD_BUS_ERROR_NULL;

        if (sd_bus_error_is_set(reterr) && g_str_has_prefix(reterr->name, ERROR_PREFIX))
                return r;
        if (sd_bus_error_is_set(reterr))
                (void) sd_bus_error_move(&other, reterr);

        return errors_set(reterr, error_name_of(r), "%s failed: %s", member, other.message ?: g_strerror(-r));
}

int face_dispatch(Face *face, sd_bus_message *m, FaceHandler handler, sd_bus_error *reterr) {
        const char *member = sd_bus_message_get_member(m);
        Caller *caller = face->caller ?: caller_table_find(face->server->callers, sd_bus_message_get_sender(m));
        int r;

        if (!caller || caller_is_gone(caller))
                return errors_set(reterr, ERROR_ACCESS_DENIED, "Nobody knows who calls.");

        r = authorize_call(caller, sd_bus_message_get_interface(m), member, reterr);
        if (r > 0)
                r = handler(face, caller, m, reterr);
        if (r < 0) {
                r = name_error(r, member, reterr);
                refusal_record(face->service, caller, m, reterr);
                return r;
        }

        face_sent(face, 0);
        return 1;
}

/* ---- what handlers share ---- */

int face_find_session(Face *face, Caller *caller, const char *path, Session **ret, sd_bus_error *reterr) {
        const char *name = caller_get_name(caller);
        Session *session = NULL;
        uint64_t number;

        if (!path)
                return session_table_implicit(face->service->sessions, name, ret, reterr);

        if (path_to_number(path, PATH_SESSION, &number))
                session = session_table_find(face->service->sessions, number);
        /* Another's session is none of his: he learns nothing about it here. */
        if (!session || strcmp(session->client, name) != 0)
                return errors_set(reterr, ERROR_NO_SUCH_SESSION, "You have no session '%s'.", path);

        *ret = session;
        return 0;
}

int face_find_plugin(Face *face, const char *word, Plugin **ret, sd_bus_error *reterr) {
        return plugin_set_find(face->service->plugins, word, ret, reterr);
}
