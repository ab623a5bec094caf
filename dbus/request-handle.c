/* SPDX-License-Identifier: MIT */
#include "dbus/request-handle.h"

#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/bus-request.h"
#include "dbus/paths.h"
#include "dbus/server.h"

struct RequestHandle {
        BusServer *server;
        Caller *caller;
        char *path;
        sd_bus *bus;
        char *destination; /* NULL on a channel */
        const RequestWork *work;
        void *userdata;
        sd_event_source *ticker;
        const char *told_stage;
        uint64_t told_done, told_total;
};

static RequestAddress address_of(const RequestHandle *handle) {
        return (RequestAddress) { .bus = handle->bus, .destination = handle->destination, .path = handle->path };
}

/* Says how far it is when that is news. */
static int on_tick(sd_event_source *source, uint64_t usec, void *userdata) {
        RequestHandle *handle = userdata;
        const RequestAddress to = address_of(handle);
        uint64_t done = 0, total = 0;
        const char *stage = request_handle_measure(handle, &done, &total);

        (void) usec;
        (void) sd_event_source_set_time_relative(source, PROGRESS_SIGNAL_MSEC * 1000);
        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        if (g_strcmp0(stage, handle->told_stage) == 0 && done == handle->told_done && total == handle->told_total)
                return 0;
        handle->told_stage = stage;
        handle->told_done = done;
        handle->told_total = total;
        bus_request_tell(&to, stage, done, total);
        return 0;
}

RequestHandle *request_handle_free(RequestHandle *handle) {
        if (!handle)
                return NULL;

        g_hash_table_remove(handle->server->handles, handle->path);
        sd_event_source_disable_unref(handle->ticker);
        sd_bus_unref(handle->bus);
        caller_unref(handle->caller);
        g_free(handle->destination);
        g_free(handle->path);
        g_free(handle);
        return NULL;
}

int request_handle_new(
                Face *face, Caller *caller, const char *token, const RequestWork *work, void *userdata, RequestHandle **ret,
                sd_bus_error *reterr) {
        BusServer *server = face->server;
        g_autofree char *path = NULL;
        RequestHandle *handle;
        int r;

        if (!handle_token_is_valid(token))
                return errors_set(reterr, ERROR_INVALID_OPTION,
                                "Option 'handle-token' is made of 1 to %u letters, digits and underscores.",
                                HANDLE_TOKEN_CHARS_MAX);
        path = path_of_request(caller_get_name(caller), token);
        if (g_hash_table_contains(server->requests, path) || request_handle_find(server, path))
                return errors_set(reterr, ERROR_INVALID_OPTION, "Handle token '%s' belongs to a call in progress.", token);

        handle = g_new0(RequestHandle, 1);
        *handle = (RequestHandle) {
                .server = server, .caller = caller_ref(caller), .path = g_steal_pointer(&path), .bus = sd_bus_ref(face->bus),
                .destination = face->caller ? NULL : g_strdup(caller_get_name(caller)), .work = work, .userdata = userdata,
        };
        g_hash_table_insert(server->handles, handle->path, handle);
        r = sd_event_add_time_relative(server->event, &handle->ticker, CLOCK_MONOTONIC, PROGRESS_SIGNAL_MSEC * 1000, 0, on_tick,
                        handle);
        if (r < 0) {
                request_handle_free(handle);
                return errors_set(reterr, ERROR_IO, "No place in the loop: %s.", g_strerror(-r));
        }
        *ret = handle;
        return 0;
}

void request_handle_end(const RequestHandle *handle, const InvocationAnswer *answer) {
        if (handle && !caller_is_gone(handle->caller)) {
                const RequestAddress to = address_of(handle);

                bus_request_end(&to, answer);
        }
}

RequestHandle *request_handle_find(const BusServer *server, const char *path) {
        return g_hash_table_lookup(server->handles, path);
}

const char *request_handle_measure(const RequestHandle *handle, uint64_t *ret_done, uint64_t *ret_total) {
        *ret_done = *ret_total = 0;
        return handle->work->measure(ret_done, ret_total, handle->userdata);
}

int request_handle_close(RequestHandle *handle, const Caller *caller, sd_bus_error *reterr) {
        if (handle->caller != caller)
                return errors_set(reterr, ERROR_NO_SUCH_REQUEST, "You have no such request; it may have ended.");
        if (!handle->work->close(handle->userdata))
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "It is done but for its end; it can't be taken back any more.");
        return 0;
}
