/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "sandbox/channel.h"
#include "service/rpc-deadline.h"
#include "service/rpc-envelope.h"
#include "service/rpc-pace.h"
#include "service/rpc.h"

/* Ids count up; a call sits in the slot of its id. Twice the limit, so that a few long calls leave room. */
#define SLOTS (2 * (RPC_IN_FLIGHT_MAX + 1))

struct RpcCall {
        Rpc *rpc;
        uint64_t id;
        bool heartbeat;
        RpcReply reply;
        void *userdata;
        RpcDeadline deadline;
};

struct Rpc {
        Channel *channel;
        HostTier tier;
        const RpcEvents *events;
        void *userdata;
        RpcClock *clock;
        RpcCall *slots[SLOTS];
        uint64_t next_id;
        unsigned pending; /* without the heartbeat */
        GHashTable *incoming; /* ids of requests of the host that wait for our answer */
        RpcPace pace;
        sd_event *event;
        sd_event_source *pause; /* of reading, when the host asked for too much of our time */
        bool asked;             /* the present frame is no answer */
        bool launched;
        bool closed;
        bool *freed; /* set when a callback frees us */
};

static RpcCall *rpc_take(Rpc *rpc, uint64_t id) {
        RpcCall *call = rpc->slots[id % SLOTS];

        if (!call || call->id != id)
                return NULL;

        rpc->slots[id % SLOTS] = NULL;
        if (!call->heartbeat)
                rpc->pending--;
        rpc_clock_remove(rpc->clock, &call->deadline);
        return call;
}

/* Ends a call: it is out of the table before its reply runs, which may free the whole connection. */
static void rpc_finish(RpcCall *call, const RpcAnswer *answer) {
        RpcReply reply = call->reply;
        void *userdata = call->userdata;

        g_free(call);
        reply(answer, userdata);
}

static void rpc_fail_all(Rpc *rpc, const char *reason) {
        const RpcAnswer answer = { .outcome = RPC_OUTCOME_CLOSED, .message = reason };

        for (size_t i = 0; i < SLOTS; i++)
                if (rpc->slots[i]) {
                        RpcCall *call = rpc_take(rpc, rpc->slots[i]->id);

                        rpc_finish(call, &answer);
                }
}

static void rpc_close(Rpc *rpc, bool violation, const char *reason) {
        g_autofree char *kept = g_strdup(reason);
        bool freed = false;

        if (rpc->closed)
                return;

        rpc->closed = true;
        rpc->freed = rpc->freed ?: &freed;
        bool *watch = rpc->freed;
        rpc_fail_all(rpc, kept);
        if (!*watch)
                rpc->events->closed(rpc, violation, kept, rpc->userdata);
        if (!*watch && watch == &freed)
                rpc->freed = NULL;
}

void rpc_violate(Rpc *rpc, const char *reason) {
        rpc_close(rpc, true, reason);
}

/* @due: it is counted by the requests in flight, and goes even into a full queue; only more requests do not. */
static int rpc_send(Rpc *rpc, bool due, const char *head, const char *body, size_t body_size) {
        const struct iovec parts[] = {
                { .iov_base = (char *) head, .iov_len = strlen(head) },
                { .iov_base = (char *) body, .iov_len = body_size },
                { .iov_base = (char *) "}", .iov_len = 1 },
        };

        if (rpc->closed)
                return -ENOTCONN;
        return (due ? channel_send_due : channel_send_iov)(rpc->channel, parts, G_N_ELEMENTS(parts));
}

static void rpc_cancel_on_wire(Rpc *rpc, uint64_t id) {
        char params[48];
        int n = snprintf(params, sizeof params, "{\"id\":%" PRIu64 "}", id);

        (void) rpc_send(rpc, true, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel\",\"params\":", params, (size_t) n);
}

static void on_due(void *userdata) {
        Rpc *rpc = userdata;

        if (!rpc->closed)
                channel_catch_up(rpc->channel);
}

static void on_deadline(RpcDeadline *deadline, void *userdata) {
        Rpc *rpc = userdata;
        RpcCall *call = (RpcCall *) ((char *) deadline - offsetof(RpcCall, deadline));
        const RpcAnswer answer = { .outcome = RPC_OUTCOME_TIMED_OUT, .message = "no answer before the deadline" };

        (void) rpc_take(rpc, call->id);
        rpc_cancel_on_wire(rpc, call->id);
        rpc_finish(call, &answer);
}

void rpc_call_cancel(RpcCall *call, const char *reason) {
        const RpcAnswer answer = { .outcome = RPC_OUTCOME_CANCELLED, .message = reason };
        Rpc *rpc = call->rpc;

        (void) rpc_take(rpc, call->id);
        rpc_cancel_on_wire(rpc, call->id);
        rpc_finish(call, &answer);
}

void rpc_cancel_all(Rpc *rpc, const char *reason) {
        bool freed = false, *watch;

        rpc->freed = rpc->freed ?: &freed;
        watch = rpc->freed;
        for (size_t i = 0; i < SLOTS && !*watch; i++)
                if (rpc->slots[i])
                        rpc_call_cancel(rpc->slots[i], reason);
        if (!*watch && watch == &freed)
                rpc->freed = NULL;
}

void rpc_call_pause(RpcCall *call) {
        rpc_clock_pause(call->rpc->clock, &call->deadline);
}

void rpc_call_resume(RpcCall *call) {
        rpc_clock_resume(call->rpc->clock, &call->deadline);
}

int rpc_send_raw(Rpc *rpc, const char *payload, size_t size) {
        return rpc->closed ? -ENOTCONN : channel_send(rpc->channel, payload, size);
}

int rpc_notify(Rpc *rpc, const char *method, const char *params, size_t params_size) {
        char head[128];

        (void) snprintf(head, sizeof head, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":", method);
        return rpc_send(rpc, false, head, params, params_size);
}

/* The next id whose slot is free. There is one: there are twice as many slots as calls. */
static uint64_t rpc_next_id(Rpc *rpc) {
        do
                rpc->next_id++;
        while (rpc->slots[rpc->next_id % SLOTS]);

        return rpc->next_id;
}

int rpc_call(
                Rpc *rpc, RpcFlags flags, const char *method, const char *params, size_t params_size, uint64_t deadline_msec,
                RpcReply reply, void *userdata, RpcCall **ret) {
        bool heartbeat = flags & RPC_HEARTBEAT;
        uint64_t id;
        RpcCall *call;
        char head[128];
        int r;

        if (rpc->closed)
                return -ENOTCONN;
        if (!heartbeat && rpc->pending >= RPC_IN_FLIGHT_MAX)
                return -EBUSY;

        id = rpc_next_id(rpc);
        (void) snprintf(head, sizeof head,
                        "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"method\":\"%s\",\"params\":", id, method);
        r = rpc_send(rpc, heartbeat, head, params, params_size);
        if (r < 0)
                return r;

        call = g_new(RpcCall, 1);
        *call = (RpcCall) { .rpc = rpc, .id = id, .heartbeat = heartbeat, .reply = reply, .userdata = userdata };
        rpc->slots[id % SLOTS] = call;
        if (!heartbeat)
                rpc->pending++;
        rpc_clock_add(rpc->clock, &call->deadline, deadline_msec);
        if (ret)
                *ret = call;
        return 0;
}

int rpc_respond(Rpc *rpc, uint64_t id, const char *result, size_t size) {
        char head[96];

        if (!g_hash_table_remove(rpc->incoming, &id))
                return 0;

        (void) snprintf(head, sizeof head, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"result\":", id);
        return rpc_send(rpc, true, head, result, size);
}

int rpc_respond_error(Rpc *rpc, uint64_t id, int code, const char *message) {
        g_auto(JWriter) writer = {};
        g_autofree char *error = NULL;
        char head[96];
        size_t size;

        if (!g_hash_table_remove(rpc->incoming, &id))
                return 0;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_int(&writer, "code", code);
        jwriter_key(&writer, "message");
        jwriter_string_n(&writer, message, strnlen(message, RPC_ERROR_BYTES_MAX));
        jwriter_end_object(&writer);
        error = jwriter_steal(&writer, &size);

        (void) snprintf(head, sizeof head, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"error\":", id);
        return rpc_send(rpc, true, head, error, size);
}

void rpc_refuse_all(Rpc *rpc, int code, const char *message) {
        g_autofree void **ids = g_hash_table_get_keys_as_array(rpc->incoming, NULL);
        guint n = g_hash_table_size(rpc->incoming);
        g_autofree uint64_t *copies = g_new(uint64_t, n);

        /* An answer takes its id out of the table. */
        for (guint i = 0; i < n; i++)
                copies[i] = *(uint64_t *) ids[i];
        for (guint i = 0; i < n; i++)
                (void) rpc_respond_error(rpc, copies[i], code, message);
}

unsigned rpc_pending(const Rpc *rpc) {
        return rpc->pending;
}

static const char *rpc_dispatch_response(Rpc *rpc, const Envelope *envelope) {
        static const ShapeField error_fields[] = {
                { .name = "code", .type = SHAPE_ANY },
                { .name = "message", .type = SHAPE_STRING },
                { .name = "data", .type = SHAPE_ANY, .optional = true },
                {},
        };
        g_autofree char *reason = NULL;
        RpcAnswer answer = { .outcome = RPC_OUTCOME_RESULT, .result = envelope->result };
        uint64_t id;
        RpcCall *call;

        if (envelope_has(envelope->params) || envelope_has(envelope->result) == envelope_has(envelope->error))
                return "a response needs exactly one of 'result' and 'error'";
        if (jval_uint64(envelope->id, &id) < 0)
                return "the id of a response is no unsigned integer";
        if (envelope_has(envelope->error)) {
                answer.outcome = RPC_OUTCOME_ERROR;
                if (shape_check(envelope->error, error_fields, &reason) < 0 ||
                                jval_int64(jval_member(envelope->error, "code"), &answer.code) < 0)
                        return "the error of a response is malformed";
                answer.message = jval_string(jval_member(envelope->error, "message"), NULL);
        }
        if (id == 0 || id > rpc->next_id)
                return "a response to a request that was never sent";

        /* A late answer to a call that was cancelled or timed out is no fault of the host (CA-01, CA-02). */
        call = rpc_take(rpc, id);
        if (call)
                rpc_finish(call, &answer);
        return NULL;
}

static const char *rpc_dispatch_cancel(Rpc *rpc, Jval params) {
        uint64_t id;

        (void) jval_uint64(jval_member(params, "id"), &id);
        if (g_hash_table_remove(rpc->incoming, &id))
                rpc->events->cancelled(rpc, id, rpc->userdata);
        return NULL;
}

static const char *rpc_dispatch_request(Rpc *rpc, const WireMethod *method, const Envelope *envelope) {
        uint64_t id;

        if (jval_uint64(envelope->id, &id) < 0)
                return "a request needs an unsigned integer as id";
        if (g_hash_table_size(rpc->incoming) >= RPC_IN_FLIGHT_MAX)
                return "too many requests in flight";
        if (!g_hash_table_add(rpc->incoming, g_memdup2(&id, sizeof id)))
                return "the id of a request that still waits was used again";

        rpc->events->request(rpc, method, id, envelope->params, rpc->userdata);
        return NULL;
}

/* Returns why the message is a violation, or NULL. @ret_detail keeps a reason that was put together alive. */
static const char *rpc_dispatch(Rpc *rpc, Jval root, Jval no_params, char **ret_detail) {
        const WireMethod *method;
        Envelope envelope;

        if (envelope_read(root, &envelope) < 0)
                return "the envelope is not that of JSON-RPC 2.0";
        if (!envelope_has(envelope.method))
                return rpc_dispatch_response(rpc, &envelope);
        if (envelope_has(envelope.result) || envelope_has(envelope.error))
                return "a message is both a request and a response";

        rpc->asked = true;
        method = wire_method_find(jval_text(envelope.method), rpc->tier);
        if (!method)
                return "a method that a host may not send";
        if (!envelope_has(envelope.params))
                envelope.params = no_params;
        if (shape_check(envelope.params, method->fields, ret_detail) < 0)
                return *ret_detail;
        if (method->request)
                return rpc_dispatch_request(rpc, method, &envelope);
        if (envelope_has(envelope.id))
                return "a notification carries an id";
        if (method->id == WIRE_CANCEL)
                return rpc_dispatch_cancel(rpc, envelope.params);

        rpc->events->notification(rpc, method, envelope.params, rpc->userdata);
        return NULL;
}

static int on_pause_over(sd_event_source *source, uint64_t usec, void *userdata) {
        Rpc *rpc = userdata;

        (void) source;
        (void) usec;
        rpc->pause = sd_event_source_disable_unref(rpc->pause);
        if (rpc->channel)
                channel_hold(rpc->channel, false);
        return 0;
}

/* Only when it asks for too much, its answers wait too. */
static void rpc_pay(Rpc *rpc, uint64_t began_usec) {
        uint64_t now = rpc_pace_now(), pause = rpc_pace_charge(&rpc->pace, now, now - began_usec);

        if (pause > 0 && !rpc->pause && !rpc->closed &&
                        sd_event_add_time(rpc->event, &rpc->pause, CLOCK_MONOTONIC, now + pause, 1, on_pause_over, rpc) >= 0)
                channel_hold(rpc->channel, true);
}

static void on_frame(Channel *channel, const uint8_t *payload, size_t size, void *userdata) {
        const JdocLimits limits = {
                .bytes_max = FRAME_PAYLOAD_BYTES_MAX, .depth_max = JSON_FRAME_DEPTH_MAX, .nodes_max = JSON_NODES_MAX,
        };
        g_autoptr(Jdoc) doc = NULL, empty = NULL;
        g_autofree char *detail = NULL, *text = NULL;
        uint64_t began_usec = rpc_pace_now();
        Rpc *rpc = userdata;
        JdocError error;
        const char *reason;
        bool freed = false;

        (void) channel;
        if (rpc->closed)
                return;
        if (!rpc->launched) {
                rpc->launched = true;
                rpc->events->launcher(rpc, (const char *) payload, size, rpc->userdata);
                return;
        }

        if (jdoc_parse((const char *) payload, size, &limits, &doc, &error) < 0) {
                text = g_strdup_printf("a frame is not JSON: %s at byte %zu", error.message, error.byte);
                rpc_violate(rpc, text);
                return;
        }
        (void) jdoc_parse("{}", 2, NULL, &empty, NULL);

        rpc->freed = &freed;
        rpc->asked = false;
        reason = rpc_dispatch(rpc, jdoc_root(doc), jdoc_root(empty), &detail);
        if (freed)
                return;
        rpc->freed = NULL;
        if (reason)
                rpc_violate(rpc, reason);
        else if (rpc->asked)
                rpc_pay(rpc, began_usec);
}

static void on_closed(Channel *channel, int error, const char *reason, void *userdata) {
        Rpc *rpc = userdata;

        (void) channel;
        /* The end between two frames is the ordinary end of a process; anything else on the channel is a violation. */
        rpc_close(rpc, error == -EBADMSG || error == -EMSGSIZE || error == -EPIPE, reason);
}

static const ChannelEvents channel_events = {
        .frame = on_frame,
        .closed = on_closed,
};

int rpc_new(sd_event *event, int fd, HostTier tier, const RpcEvents *events, void *userdata, Rpc **ret) {
        g_autoptr(Rpc) rpc = g_new0(Rpc, 1);
        int r;

        rpc->tier = tier;
        rpc->event = event;
        rpc->events = events;
        rpc->userdata = userdata;
        rpc->launched = !events->launcher;
        rpc->incoming = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        r = rpc_clock_new(event, on_due, on_deadline, rpc, &rpc->clock);
        if (r < 0) {
                close_fd(&fd);
                return r;
        }
        r = channel_new(event, fd, &channel_events, rpc, &rpc->channel);
        if (r < 0) {
                close_fd(&fd);
                return r;
        }

        *ret = g_steal_pointer(&rpc);
        return 0;
}

Rpc *rpc_free(Rpc *rpc) {
        if (!rpc)
                return NULL;

        if (rpc->freed)
                *rpc->freed = true;
        rpc->freed = NULL;
        rpc->closed = true;
        rpc_fail_all(rpc, "the connection was ended");
        rpc->channel = channel_free(rpc->channel);
        rpc->pause = sd_event_source_disable_unref(rpc->pause);
        rpc->clock = rpc_clock_free(rpc->clock);
        g_clear_pointer(&rpc->incoming, g_hash_table_unref);
        g_free(rpc);
        return NULL;
}
