/* SPDX-License-Identifier: MIT */
#pragma once

/* A call of a tool or run of a command that somebody on the bus waits for, and where its answer goes: into the answer of
 * the method (Call, Run), or into the Response signal of a request object (Start). */

#include <stdbool.h>
#include <stddef.h>

#include "dbus/face.h"
#include "dbus/reply.h"

typedef enum BusCallForm {
        BUS_CALL_STRING,  /* the answer is a string (s) */
        BUS_CALL_BYTES,   /* bytes (ay) */
        BUS_CALL_FD,      /* a sealed memory file (h) */
        BUS_CALL_REQUEST, /* the method answers with a request; the answer is its signal */
        _BUS_CALL_FORM_MAX,
        _BUS_CALL_FORM_INVALID = -EINVAL,
} BusCallForm;

typedef struct BusCall {
        BusServer *server;
        Face *face;
        Caller *caller;
        Invocation *invocation;
        BusCallForm form;
        Reply *reply; /* NULL for a request */
        char *path;   /* of the request object; NULL for the others */
        size_t bytes;
} BusCall;

typedef struct BusCallInput {
        BusCallForm form;
        bool command; /* else: tool */
        const char *name;
        const char *text;
        size_t size;
} BusCallInput;

/**
 * bus_call_begin() - read the options, which stand next in @m, and begin
 *
 * Answers @m, now or later. Return: 1, or the error of the call itself (options, session, name, arguments, limits).
 */
int bus_call_begin(Face *face, Caller *caller, sd_bus_message *m, const BusCallInput *input, sd_bus_error *reterr);

/** bus_call_cancel() - its client wants no answer any more; the answer says so and comes before this returns */
void bus_call_cancel(BusCall *call, const char *reason);

/** bus_calls_cancel() - all that came over @face (NULL: any) from @caller (NULL: anybody) */
void bus_calls_cancel(BusServer *server, const Face *face, const Caller *caller, const char *reason);
