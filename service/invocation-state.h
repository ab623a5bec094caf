/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of an invocation, for the files that carry one along: invocation.c (life and record), tool-call.c and
 * tool-hooks.c (the steps of a tool call), command-run.c (the steps of a command). Nobody else includes this. */

#include "policy/decision.h"
#include "service/ledger.h"
#include "service/service.h"

typedef struct CoreGate CoreGate; /* service/core-gate.h */
typedef struct CoreCall CoreCall; /* service/core-call.h */

typedef enum InvocationState {
        INVOCATION_HOOKS,     /* -> APPROVAL, STARTING, EXECUTING, over */
        INVOCATION_APPROVAL,  /* -> STARTING, EXECUTING, over */
        INVOCATION_STARTING,  /* it may execute, once the host is up; -> EXECUTING, over */
        INVOCATION_EXECUTING, /* -> over                      */
        _INVOCATION_STATE_MAX,
        _INVOCATION_STATE_INVALID = -EINVAL,
} InvocationState;

struct Invocation {
        Service *service;
        Session *session;
        char *client, *client_exe, *client_unit;
        uid_t client_uid;
        char call_id[LEDGER_ID_SIZE];
        char *agent_id, *origin_turn_id, *provenance;
        Registration *target;
        InvocationState state;
        uint64_t deadline_msec;
        uint64_t started_usec; /* monotonic */

        char *input; /* what will run: owns what @arguments reads */
        size_t input_size;
        Jdoc *arguments;         /* NULL for a command */
        char *original;          /* before a listener revised it; NULL when nobody did */
        Jdoc *original_arguments;

        OverlayWait *wait; /* until the rules of the workspace were read */
        void (*after_wait)(Invocation *invocation);

        HookFold *fold;
        GString *verdicts; /* of the listeners, for the record; NULL when none was asked */
        GPtrArray *listeners; /* Registration; those that are to be asked */
        unsigned next_listener;
        uint64_t hooks_due_usec;

        Decision decision;
        bool decided;
        ApprovalKeys keys;
        Approval *card;
        char *card_id, *answered_by;
        uint64_t grant;
        RpcCall *rpc_call;

        /* While hosts start for it (invocation-host.c). */
        unsigned n_awaited;
        char *await_error, *await_reason; /* of the first host that can't */
        void (*await_next)(Invocation *invocation);
        void (*host_next)(Invocation *invocation);
        sd_event_source *await_timer; /* of the deadline, or of the listeners' time */
        Host *ending;                 /* that of a listener which went away while it was asked (tool-hook-end.c) */
        uint64_t due_usec;            /* when the deadline is over; 0: it has not begun */
        InvocationOrigin origin;
        CoreGate *gate;   /* of an extension's call that may ask the core, while it runs */
        CoreCall *nested; /* this is such a core call; else NULL */
        char *parent;     /* then: id of the call that made it */

        /* While invocation_start_…() runs, an end is kept here and told by its return value. */
        bool starting;
        bool verifying; /* who does that still looks at it after its end */
        bool over;
        char *error_name, *error_message;
        InvocationDone done;
        void *userdata;
};

/** invocation_new() - the common part of both kinds; takes a reference on @target */
Invocation *invocation_new(
                Service *service, const InvocationRequest *request, Registration *target, uint64_t deadline_max_msec,
                InvocationDone done, void *userdata);

/** invocation_started() - the end of invocation_start_…(): hands the invocation out, or returns why it is over already */
int invocation_started(Invocation *invocation, Invocation **ret, sd_bus_error *reterr);

/** invocation_drop() - what was asked can't be read: forget it without a record, before it began */
void invocation_drop(Invocation *invocation);

/** invocation_succeed() - the answer; @result is one JSON object. Ends the invocation. */
void invocation_succeed(Invocation *invocation, const char *result, size_t size);

/** invocation_fail() - it ends without an answer; the text is sanitised here */
void invocation_fail(Invocation *invocation, const char *error_name, const char *format, ...)
                __attribute__((format(printf, 3, 4)));

/**
 * invocation_find() - what the name of a request means in its session (session_find())
 * @ret: borrowed
 *
 * Return: 0; ERROR_NO_SUCH_TOOL, ERROR_NO_SUCH_COMMAND; ERROR_HOST_UNAVAILABLE when its host is only down.
 */
int invocation_find(
                Service *service, const InvocationRequest *request, RegistrationKind kind, Registration **ret, sd_bus_error *reterr);

/**
 * invocation_with_host() - go on with @next when the host of the target is up; it is started if it sleeps
 *
 * The call's deadline begins here, and with it the state STARTING. Without a host the invocation ends with the host's reason.
 */
void invocation_with_host(Invocation *invocation, void (*next)(Invocation *invocation));

/** invocation_with_listeners() - go on with @next when the hosts of all listeners are up or have failed */
void invocation_with_listeners(Invocation *invocation, void (*next)(Invocation *invocation));

/** invocation_with_guards() - go on with @next when no guard of its session is on its way any more (host_is_missing_guard()) */
void invocation_with_guards(Invocation *invocation, void (*next)(Invocation *invocation));

/** invocation_stop_waiting() - it is over: no host is waited for any more */
void invocation_stop_waiting(Invocation *invocation);

/** invocation_left_msec() - what is left of the deadline, at least 1 */
uint64_t invocation_left_msec(const Invocation *invocation);

/** invocation_rpc() - the connection to the host of a registration; NULL when it is down */
Rpc *invocation_rpc(Service *service, const Registration *registration);

/** invocation_fail_answer() - end with what an RPC answer other than a result means */
void invocation_fail_answer(Invocation *invocation, const RpcAnswer *answer);

/** invocation_note_envelope() - what kept it from running, whatever was decided: a step of its record */
void invocation_note_envelope(Invocation *invocation, const char *source, const char *why);

/** invocation_verify() - the target may still be used: registered, active, trusted, unchanged (2.8); else it ends */
bool invocation_verify(Invocation *invocation);

/** invocation_write_context() - members that tool/call and command/run share: workspace, session_id, labels */
void invocation_write_context(const Invocation *invocation, JWriter *writer);

/** invocation_subject() - what exactly is approved, for keys, grants and cards; borrows from @invocation and @build */
void invocation_subject(const Invocation *invocation, BuildScope *build, ApprovalSubject *ret);

/** tool_call_begin() - all steps of a new call whose target and input are known; ends it when they are no good */
void tool_call_begin(Invocation *invocation);

/* The steps of a tool call after the listeners were asked. */
void tool_call_decide(Invocation *invocation);

/** tool_call_reconsider() - the rules or the session changed while a person is being asked: refuse what may not be asked any more */
void tool_call_reconsider(Invocation *invocation);

/** tool_call_open_card() - ask a person; its decision says so */
void tool_call_open_card(Invocation *invocation);

/** invocation_note_verdict() - what a listener said, or that it was not there, for the record; cut where it gets long */
void invocation_note_verdict(Invocation *invocation, const char *label, const char *verdict);

/** tool_hook_source() - who a listener is, in the words of the fold */
HookSource tool_hook_source(const Registration *listener);

/** tool_hooks_begin() - ask the listeners, then go on with tool_call_decide() */
void tool_hooks_begin(Invocation *invocation);

/** tool_result_shape() - the JSON for the caller out of a host's result; -EBADMSG or -EFBIG with words in @ret_reason */
int tool_result_shape(const Invocation *invocation, Jval result, char **ret_json, size_t *ret_size, char **ret_reason);
