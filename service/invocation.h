/* SPDX-License-Identifier: MIT */
#pragma once

/* One call of a tool or one run of a command, from the caller's words to the answer (design 6): read, look up, validate,
 * ask the listeners, decide, ask a person, check again, execute, shape the result, write the record. It is answered exactly
 * once, and every way to end it leaves a decision record. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "service/session.h"

typedef struct Service Service;
typedef struct Invocation Invocation;

typedef struct InvocationAnswer {
        const char *call_id;
        const char *result; /* one JSON object; NULL when it failed */
        size_t result_size;
        const char *error_name;    /* one of errors.h; NULL when there is a result */
        const char *error_message; /* for people, sanitised */
        bool cancelled;            /* by the caller (invocation_cancel()), so that a request can say so */
} InvocationAnswer;

/* Called exactly once, from the loop or from invocation_cancel(), never from within invocation_start_…(). What it points to
 * lives during the call; the invocation is gone afterwards. */
typedef void (*InvocationDone)(const InvocationAnswer *answer, void *userdata);

/* Who makes a call. Only one of the model itself may ask the core for more (contract 6.1). */
typedef enum InvocationOrigin {
        INVOCATION_ORIGIN_MODEL,
        INVOCATION_ORIGIN_SUB_AGENT,
        INVOCATION_ORIGIN_PROGRAM, /* a program that the model wrote, as for execute_tools: it gets no tool of a plugin (O16) */
        _INVOCATION_ORIGIN_MAX,
        _INVOCATION_ORIGIN_INVALID = -EINVAL,
} InvocationOrigin;

InvocationOrigin invocation_origin_from_string(const char *word); /* "model", "sub-agent", "program" */

typedef struct InvocationRequest {
        Session *session;
        const char *client;     /* unique name of the caller */
        const char *client_exe;  /* what runs there and its systemd unit, for people; NULL when not known */
        const char *client_unit;
        uid_t client_uid;
        const char *name;       /* of the tool or command */
        const char *input;      /* tool: JSON text of its arguments; command: what was typed after its name */
        size_t input_size;
        uint64_t deadline_msec; /* 0: the most that is allowed */
        const char *agent_id;       /* NULL or a label for correlation */
        const char *origin_turn_id; /* NULL or a label for correlation */
        const char *provenance;     /* NULL or where the wish came from (policy/provenance.h) */
        InvocationOrigin origin;
} InvocationRequest;

/**
 * invocation_start_tool(), invocation_start_command() - begin
 * @done: called when it ends; not called when this fails
 * @ret:  a handle for cancelling, dead once @done was called
 *
 * What is wrong with the request itself is told at once: ERROR_NO_SUCH_TOOL, ERROR_NO_SUCH_COMMAND, ERROR_INVALID_ARGUMENTS,
 * ERROR_TOO_LARGE. Everything later comes through @done. Return: 0 or the errno of the error.
 */
int invocation_start_tool(
                Service *service, const InvocationRequest *request, InvocationDone done, void *userdata, Invocation **ret,
                sd_bus_error *reterr);
int invocation_start_command(
                Service *service, const InvocationRequest *request, InvocationDone done, void *userdata, Invocation **ret,
                sd_bus_error *reterr);

/** invocation_cancel() - the caller wants no answer any more: @done comes with ERROR_CANCELLED before this returns */
void invocation_cancel(Invocation *invocation, const char *reason);

/** invocation_count_for() - how many of a plugin's calls have begun and not ended */
unsigned invocation_count_for(const Service *service, const Plugin *plugin);

/** invocation_get_call_id() - "c-…": what the decision record goes by; unpredictable, unique for ever */
const char *invocation_get_call_id(const Invocation *invocation);

/** invocation_get_state() - "hooks", "approval" or "executing", for progress */
const char *invocation_get_state(const Invocation *invocation);
