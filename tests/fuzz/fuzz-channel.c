/* SPDX-License-Identifier: MIT */

/* What a host sends: lines, each in a frame of its own, or all bytes as they are when the first one is not an opening brace. They go
 * over a real channel to the real registry, beside calls of ours that wait for an answer. */

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "registered.h"
#include "sandbox/frame.h"
#include "service/command-result.h"
#include "service/core-result.h"
#include "service/rpc.h"

#define CALLS 4u

typedef struct Run {
        Registered *registered;
        unsigned replies, ends;
} Run;

static Registered *registered_once(void) {
        static Registered registered;

        if (!registered.folder)
                registered_up(&registered, NULL);
        return &registered;
}

static void on_request(Rpc *rpc, const WireMethod *method, uint64_t id, Jval params, void *userdata) {
        g_autofree char *reason = NULL, *refusal = NULL;
        Run *run = userdata;
        uint64_t handle = 0;

        if (method->id == WIRE_UNREGISTER && jval_uint64(jval_member(params, "handle"), &handle) >= 0)
                registry_unregister(run->registered->registry, run->registered->one, handle);
        if (method->id == WIRE_REGISTER) {
                if (wire_register_check(params, &reason) < 0) {
                        rpc_violate(rpc, reason);
                        return;
                }
                /* Folders of skills are read, which is another target's. */
                if (!jval_equals_text(jval_member(params, "kind"), "skill_root") &&
                    registry_register(run->registered->registry, run->registered->one, params, &handle, &refusal) < 0) {
                        MUST(refusal && g_utf8_validate(refusal, -1, NULL));
                        (void) rpc_respond_error(rpc, id, RPC_REFUSED, refusal);
                        return;
                }
        }
        (void) rpc_respond(rpc, id, "{}", 2);
}

static void on_notification(Rpc *rpc, const WireMethod *method, Jval params, void *userdata) {
        (void) rpc;
        (void) userdata;
        MUST(!method->request);
        MUST(jval_is(params, J_OBJECT));
}

static void on_cancelled(Rpc *rpc, uint64_t id, void *userdata) {
        (void) rpc;
        (void) id;
        (void) userdata;
}

static void on_closed(Rpc *rpc, bool violation, const char *reason, void *userdata) {
        Run *run = userdata;

        (void) rpc;
        (void) violation;
        MUST(reason && *reason);
        MUST(run->ends++ == 0);
}

static void on_reply(const RpcAnswer *answer, void *userdata) {
        g_autofree char *json = NULL, *inner = NULL, *words = NULL;
        Run *run = userdata;
        const char *reason = NULL;
        size_t size = 0;

        run->replies++;
        MUST(answer->outcome == RPC_OUTCOME_RESULT || answer->message);
        if (answer->outcome != RPC_OUTCOME_RESULT)
                return;
        if (command_result_shape("k-1", answer->result, &json, &size, &reason) == 0)
                MUST(g_utf8_validate(json, (gssize) size, NULL));
        else
                MUST(reason);
        if (core_result_shape(answer->result, &inner, &size, &words) == 0)
                MUST(g_utf8_validate(inner, (gssize) size, NULL));
        else
                MUST(words);
}

static const RpcEvents events = {
        .request = on_request, .notification = on_notification, .cancelled = on_cancelled, .closed = on_closed,
};

static void settle(sd_event *event) {
        while (sd_event_run(event, 0) > 0)
                ;
}

/* As much as the socket takes: the other end reads in between. */
static void put(sd_event *event, int fd, const void *data, size_t size) {
        for (size_t done = 0; done < size;) {
                ssize_t n = send(fd, (const char *) data + done, size - done, MSG_DONTWAIT | MSG_NOSIGNAL);

                if (n < 0 && errno != EAGAIN)
                        return;
                done += n > 0 ? (size_t) n : 0;
                settle(event);
        }
}

static void put_messages(sd_event *event, int fd, const char *data, size_t size) {
        while (size > 0) {
                const char *end = memchr(data, '\n', size);
                size_t length = end ? (size_t) (end - data) : size, skip = MIN(length + 1, size);
                uint8_t header[FRAME_HEADER_BYTES];

                frame_write_header(header, (uint32_t) length);
                put(event, fd, header, sizeof header);
                put(event, fd, data, length);
                data += skip;
                size -= skip;
        }
}

/* What the service sent is of no interest, but its buffer must not fill. */
static void drain(int fd) {
        char buffer[4096];

        while (recv(fd, buffer, sizeof buffer, MSG_DONTWAIT) > 0)
                ;
}

static void run_over(Run *run, const uint8_t *data, size_t size) {
        sd_event *event = NULL;
        Rpc *rpc = NULL;
        int pair[2];

        MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
        MUST(sd_event_new(&event) == 0);
        MUST(rpc_new(event, pair[0], HOST_TIER_PLUGIN, &events, run, &rpc) == 0);
        for (unsigned i = 0; i < CALLS; i++)
                MUST(rpc_call(rpc, 0, i % 2 ? "command/run" : "tool/call", "{}", 2, 0, on_reply, run, NULL) == 0);
        drain(pair[1]);
        if (size > 0 && data[0] == '{')
                put_messages(event, pair[1], (const char *) data, size);
        else
                put(event, pair[1], data, size);
        settle(event);
        close(pair[1]);
        settle(event);
        rpc_free(rpc);
        sd_event_unref(event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Registered *registered = registered_once();
        Run run = { .registered = registered };
        g_autoptr(Owner) owner = registered_owner(registered, "one");
        Owner *kept = registered->one;

        registered->one = owner;
        run_over(&run, data, size);
        MUST(run.replies == CALLS);
        registered_activate(owner);
        registry_announce(registered->registry, owner);
        registry_withdraw(registered->registry, owner, NULL);
        MUST(registry_count(registered->registry, REGISTRATION_TOOL, NULL) == 0);
        registered->one = kept;
        return 0;
}
