/* SPDX-License-Identifier: MIT */
#pragma once

/* JSON-RPC 2.0 with one host over one channel (contract 3.15-3.18): requests of ours with deadlines and cancellation, and
 * requests and notifications of the host, checked against the method table before anyone sees them. Whatever breaks a rule
 * is a violation and ends the connection. */

#include <systemd/sd-event.h>

#include "common/jdoc.h"
#include "service/wire-method.h"

/* How the reason of an end begins when the host broke the protocol, as people are told it. */
#define PROTOCOL_VIOLATION "protocol violation"

typedef struct Rpc Rpc;
typedef struct RpcCall RpcCall;

typedef enum RpcOutcome {
        RPC_OUTCOME_RESULT,
        RPC_OUTCOME_ERROR,     /* the host answered with an error */
        RPC_OUTCOME_TIMED_OUT, /* the deadline passed; the host was told to cancel */
        RPC_OUTCOME_CANCELLED, /* rpc_call_cancel(); the host was told */
        RPC_OUTCOME_CLOSED,    /* the connection ended first */
} RpcOutcome;

typedef struct RpcAnswer {
        RpcOutcome outcome;
        Jval result;         /* with RESULT; lives as long as the callback */
        int64_t code;        /* with ERROR */
        const char *message; /* for people; with every outcome but RESULT; not yet sanitised */
} RpcAnswer;

typedef void (*RpcReply)(const RpcAnswer *answer, void *userdata);

typedef struct RpcEvents {
        /* The very first frame, raw: it comes from the launcher, before any foreign code runs. NULL: there is none. */
        void (*launcher)(Rpc *rpc, const char *payload, size_t size, void *userdata);
        /* A valid request; answer it now or later with rpc_respond(), exactly once. @params lives as long as the callback. */
        void (*request)(Rpc *rpc, const WireMethod *method, uint64_t id, Jval params, void *userdata);
        void (*notification)(Rpc *rpc, const WireMethod *method, Jval params, void *userdata);
        /* The host takes back a request of its own; its answer would be dropped. */
        void (*cancelled)(Rpc *rpc, uint64_t id, void *userdata);
        /* The connection is over, told once. @violation: the host broke the protocol. Free the Rpc from here or later. */
        void (*closed)(Rpc *rpc, bool violation, const char *reason, void *userdata);
} RpcEvents;

/**
 * rpc_new() - speak over one end of a socketpair
 * @fd:  taken, also on failure
 *
 * Return: 0 or -errno.
 */
int rpc_new(sd_event *event, int fd, HostTier tier, const RpcEvents *events, void *userdata, Rpc **ret);

/** rpc_free() - end it; calls that wait are answered with RPC_OUTCOME_CLOSED, closed() is not called */
Rpc *rpc_free(Rpc *rpc);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rpc, rpc_free)

typedef enum RpcFlags {
        RPC_HEARTBEAT = 1 << 0, /* may use the slot that is reserved for the heartbeat */
} RpcFlags;

/**
 * rpc_call() - send a request
 * @params:        a JSON object
 * @deadline_msec: 0 for none
 * @reply:         called exactly once, never from within rpc_call()
 * @ret:           NULL, or a handle for cancelling and pausing; dead once @reply was called
 *
 * Return: 0; -EBUSY when RPC_IN_FLIGHT_MAX requests wait; -ENOBUFS when so much waits for the host to read it that only answers,
 * cancellations and a heartbeat still go to it; -ENOTCONN after the end; -EMSGSIZE.
 */
int rpc_call(
                Rpc *rpc, RpcFlags flags, const char *method, const char *params, size_t params_size, uint64_t deadline_msec,
                RpcReply reply, void *userdata, RpcCall **ret);

/** rpc_call_cancel() - tell the host, and call the reply with RPC_OUTCOME_CANCELLED before returning */
void rpc_call_cancel(RpcCall *call, const char *reason);

/** rpc_cancel_all() - rpc_call_cancel() for every request of ours that waits */
void rpc_cancel_all(Rpc *rpc, const char *reason);

/* Stop and go on with the clock of a call's deadline; nests (contract 3.19). */
void rpc_call_pause(RpcCall *call);
void rpc_call_resume(RpcCall *call);

/** rpc_notify() - send a notification */
int rpc_notify(Rpc *rpc, const char *method, const char *params, size_t params_size);

/** rpc_respond() - answer a request of the host with a JSON value; dropped when the host cancelled it */
int rpc_respond(Rpc *rpc, uint64_t id, const char *result, size_t size);

/** rpc_respond_error() - answer it with an error; the text is cut at RPC_ERROR_BYTES_MAX */
int rpc_respond_error(Rpc *rpc, uint64_t id, int code, const char *message);

/** rpc_refuse_all() - answer every request of the host that still waits with this error */
void rpc_refuse_all(Rpc *rpc, int code, const char *message);

/** rpc_send_raw() - one frame as it is; for the go-ahead to the launcher */
int rpc_send_raw(Rpc *rpc, const char *payload, size_t size);

/** rpc_violate() - the host broke a rule that only the caller knows: end the connection with closed(violation) */
void rpc_violate(Rpc *rpc, const char *reason);

/** rpc_pending() - requests of ours that wait for an answer, the heartbeat not counted */
unsigned rpc_pending(const Rpc *rpc);
