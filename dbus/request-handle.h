/* SPDX-License-Identifier: MIT */
#pragma once

/* The request object of work on bundles that was given a handle-token: it tells how far the work is and takes it back. The calls of
 * tools have one of their own making (bus-call.h). */

#include <stdbool.h>
#include <stdint.h>

#include "dbus/face.h"
#include "service/invocation.h"

typedef struct RequestHandle RequestHandle;

typedef struct RequestWork {
        /* What it is at, static text, and how far; 0 of 0 while that is not known */
        const char *(*measure)(uint64_t *ret_done, uint64_t *ret_total, void *userdata);
        /* Takes it back, which ends it and the handle; false when it is too late for that */
        bool (*close)(void *userdata);
} RequestWork;

/**
 * request_handle_new() - show work of @caller at the path that @token makes
 * @work: static
 *
 * Return: 0; ERROR_INVALID_OPTION when the token is none or in use.
 */
int request_handle_new(
                Face *face, Caller *caller, const char *token, const RequestWork *work, void *userdata, RequestHandle **ret,
                sd_bus_error *reterr);
RequestHandle *request_handle_free(RequestHandle *handle);

/** request_handle_end() - tell its caller, if there still is one, how it ended; @handle NULL: nobody asked for that */
void request_handle_end(const RequestHandle *handle, const InvocationAnswer *answer);

/** request_handle_find() - what is at @path, or NULL */
RequestHandle *request_handle_find(const BusServer *server, const char *path);

/** request_handle_measure() - see RequestWork */
const char *request_handle_measure(const RequestHandle *handle, uint64_t *ret_done, uint64_t *ret_total);

/** request_handle_close() - 0; ERROR_NO_SUCH_REQUEST when it is another's; ERROR_NOT_SUPPORTED when it is too late */
int request_handle_close(RequestHandle *handle, const Caller *caller, sd_bus_error *reterr);
