/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "cli/client.h"
#include "cli/memory-file.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/request.h"
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"

#define MESSAGE_ROOM_BYTES KIB(16) /* header, options and the tool's name beside the input */

typedef struct Waiting {
        Cli *cli;
        const RequestCall *call;
        sd_event *event;
        Progress *progress;
        char *path;
        char *owner; /* unique name of the service that began the call; nobody else's signals count */
        bool interrupted, timed_out, done;
        RequestResult result;
        sd_bus_slot *slots[4];
        sd_event_source *sources[3];
} Waiting;

char *request_path(const char *unique_name, const char *token) {
        g_autofree char *sender = g_strdelimit(g_strdup(unique_name + (*unique_name == ':')), ".", '_');

        return g_strdup_printf("%s/request/%s/%s", CLIENT_ROOT, sender, token);
}

static void waiting_done(Waiting *waiting) {
        for (size_t i = 0; i < G_N_ELEMENTS(waiting->slots); i++)
                waiting->slots[i] = sd_bus_slot_unref(waiting->slots[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(waiting->sources); i++)
                waiting->sources[i] = sd_event_source_disable_unref(waiting->sources[i]);
        waiting->progress = progress_free(waiting->progress);
        if (waiting->cli->bus)
                (void) sd_bus_detach_event(waiting->cli->bus);
        waiting->event = sd_event_unref(waiting->event);
        g_clear_pointer(&waiting->path, g_free);
        g_clear_pointer(&waiting->owner, g_free);
        request_result_done(&waiting->result);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Waiting, waiting_done)

static void waiting_finish(Waiting *waiting, RequestOutcome outcome) {
        waiting->result.outcome = outcome;
        waiting->done = true;
        (void) sd_event_exit(waiting->event, 0);
}

static void waiting_fail(Waiting *waiting, const char *name, const char *message) {
        sd_bus_error_free(&waiting->result.error);
        (void) sd_bus_error_set(&waiting->result.error, name, message);
        waiting_finish(waiting, REQUEST_FAILED);
}

static int on_response(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Waiting *waiting = userdata;

        (void) reterr;

        if (waiting->done || g_strcmp0(sd_bus_message_get_sender(m), waiting->owner) != 0)
                return 0;

        if (response_read(m, &waiting->result) < 0)
                waiting_fail(waiting, SD_BUS_ERROR_FAILED, "The service's response cannot be read.");
        else
                waiting_finish(waiting, waiting->result.outcome);
        return 0;
}

/* The answer to CallFd, which has no request object. */
static int on_memory_reply(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const sd_bus_error *error = sd_bus_message_get_error(m);
        Waiting *waiting = userdata;
        int fd;

        (void) reterr;

        if (error) {
                (void) sd_bus_error_copy(&waiting->result.error, error);
                waiting_finish(waiting, REQUEST_FAILED);
                return 0;
        }
        if (sd_bus_message_read(m, "h", &fd) >= 0 && memory_file_read(fd, &waiting->result.result) >= 0)
                waiting_finish(waiting, REQUEST_ANSWERED);
        else
                waiting_fail(waiting, SD_BUS_ERROR_FAILED, "The service's answer cannot be read.");
        return 0;
}

static void waiting_cancel(Waiting *waiting) {
        /* No request object: the service cancels the call when its caller leaves the bus. */
        if (!waiting->path) {
                (void) sd_bus_error_set(&waiting->result.error, ERROR_CANCELLED, "The call was cancelled.");
                waiting_finish(waiting, REQUEST_CANCELLED);
                return;
        }

        (void) sd_bus_call_method_async(waiting->cli->bus, NULL, CLIENT_SERVICE, waiting->path,
                        CLIENT_SERVICE ".Request", "Close", NULL, NULL, NULL);
}

static int on_interrupt(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Waiting *waiting = userdata;
        bool again = waiting->interrupted;

        (void) source;
        (void) info;

        waiting->interrupted = true;
        if (again) { /* the service does not answer; leaving the bus cancels as well */
                (void) sd_bus_error_set(&waiting->result.error, ERROR_CANCELLED, "The call was cancelled.");
                waiting_finish(waiting, REQUEST_CANCELLED);
        } else
                waiting_cancel(waiting);
        return 0;
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        Waiting *waiting = userdata;

        (void) source;
        (void) usec;

        waiting->timed_out = true;
        waiting_cancel(waiting);
        return 0;
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Waiting *waiting = userdata;
        const char *name, *before, *after;

        (void) reterr;

        if (!waiting->done && sd_bus_message_read(m, "sss", &name, &before, &after) >= 0 &&
                        strcmp(name, CLIENT_SERVICE) == 0 && g_strcmp0(before, waiting->owner) == 0)
                waiting_fail(waiting, SD_BUS_ERROR_NAME_HAS_NO_OWNER,
                                "The service ended while the call was in progress.");
        return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        (void) m;
        (void) reterr;

        waiting_fail(userdata, SD_BUS_ERROR_DISCONNECTED,
                        "The connection to the bus was lost while the call was in progress.");
        return 0;
}

static int waiting_watch(Waiting *waiting) {
        sd_bus *bus = waiting->cli->bus;
        int r;

        r = sd_bus_match_signal(bus, &waiting->slots[1], "org.freedesktop.DBus", "/org/freedesktop/DBus",
                        "org.freedesktop.DBus", "NameOwnerChanged", on_owner_changed, waiting);
        if (r < 0)
                return r;

        r = sd_bus_match_signal_async(bus, &waiting->slots[2], "org.freedesktop.DBus.Local",
                        "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected",
                        on_disconnected, NULL, waiting);
        if (r < 0)
                return r;

        return waiting->path ? sd_bus_match_signal(bus, &waiting->slots[0], CLIENT_SERVICE, waiting->path,
                                               CLIENT_SERVICE ".Request", "Response", on_response, waiting)
                             : 0;
}

static int waiting_arm(Waiting *waiting) {
        sigset_t signals;
        int r;

        (void) sigemptyset(&signals);
        (void) sigaddset(&signals, SIGINT);
        (void) sigaddset(&signals, SIGTERM);
        if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
                return -errno;

        r = sd_event_default(&waiting->event);
        if (r >= 0)
                r = sd_bus_attach_event(waiting->cli->bus, waiting->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_event_add_signal(waiting->event, &waiting->sources[0], SIGINT, on_interrupt, waiting);
        if (r >= 0)
                r = sd_event_add_signal(
                                waiting->event, &waiting->sources[1], SIGTERM, on_interrupt, waiting);
        if (r >= 0 && waiting->cli->timeout_usec > 0)
                r = sd_event_add_time_relative(waiting->event, &waiting->sources[2], CLOCK_MONOTONIC,
                                waiting->cli->timeout_usec, 0, on_timeout, waiting);
        return r;
}

static int append_call_options(Waiting *waiting, sd_bus_message *m, const char *session, const char *token,
                sd_bus_error *reterr) {
        g_autofree char *wrong = NULL;
        guint64 deadline = 0;
        int r;

        r = option_number(waiting->cli, OPTION_DEADLINE, 1, TOOL_DEADLINE_MSEC, 0, &deadline, &wrong);
        if (r < 0)
                return errors_set(reterr, ERROR_INVALID_OPTION, "%s", wrong);

        const CallOption options[] = {
                { "session", 'o', .text = session },
                { "handle-token", 's', .text = token },
                { "deadline-ms", 'u', .number = deadline },
                {},
        };

        return client_append_options(m, options);
}

/* Start answers at once; its result comes with the Response that we watch for already. */
static int waiting_start(Waiting *waiting, const char *session, const char *token, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) m = NULL, reply = NULL;
        const char *path;
        int r;

        r = client_new_call(waiting->cli, NULL, waiting->call->interface, "Start", &m, reterr);
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", waiting->call->name, waiting->call->input);
        if (r >= 0)
                r = append_call_options(waiting, m, session, token, reterr);
        if (r >= 0)
                r = client_send(waiting->cli, m, CLIENT_WAIT_SHORT, &reply, reterr);
        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &path);
        if (r < 0)
                return r;
        if (strcmp(path, waiting->path) != 0)
                return sd_bus_error_setf(reterr, SD_BUS_ERROR_FAILED,
                                "The service made the request at another path than it promises.");

        waiting->owner = g_strdup(sd_bus_message_get_sender(reply));
        return 0;
}

/* For what no message holds: CallFd, both ways in memory files. */
static int waiting_start_large(Waiting *waiting, const char *session, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) m = NULL;
        _cleanup_close_ int fd = -EBADF;
        int r;

        r = memory_file_seal(waiting->call->input, &fd);
        if (r >= 0)
                r = client_new_call(waiting->cli, NULL, waiting->call->interface, "CallFd", &m, reterr);
        if (r >= 0)
                r = sd_bus_message_append(m, "sh", waiting->call->name, fd);
        if (r >= 0)
                r = append_call_options(waiting, m, session, NULL, reterr);
        if (r < 0)
                return r;

        return sd_bus_call_async(
                        waiting->cli->bus, &waiting->slots[3], m, on_memory_reply, waiting, UINT64_MAX);
}

static bool is_large(const RequestCall *call) {
        return strlen(call->input) > BUS_MESSAGE_BYTES_MAX - MESSAGE_ROOM_BYTES &&
               strcmp(call->interface, ".Tools") == 0;
}

static int waiting_begin(Waiting *waiting, sd_bus_error *reterr) {
        g_autofree char *session = NULL, *token = NULL;
        const char *unique_name;
        int r;

        r = client_connect(waiting->cli, reterr);
        if (r >= 0)
                r = client_open_session(waiting->cli, &session, reterr);
        if (r >= 0)
                r = sd_bus_get_unique_name(waiting->cli->bus, &unique_name);
        if (r < 0)
                return r;

        token = g_strdup_printf("cli%08x", g_random_int());
        if (!is_large(waiting->call))
                waiting->path = request_path(unique_name, token);

        r = waiting_watch(waiting);
        if (r >= 0)
                r = waiting_arm(waiting);
        if (r < 0)
                return r;

        waiting->progress = progress_new(waiting->cli, waiting->call->name);
        return waiting->path ? waiting_start(waiting, session, token, reterr)
                             : waiting_start_large(waiting, session, reterr);
}

int request_run(Cli *cli, const RequestCall *call, RequestResult *ret, sd_bus_error *reterr) {
        g_auto(Waiting) waiting = { .cli = cli, .call = call };
        int r;

        r = waiting_begin(&waiting, reterr);
        if (r < 0)
                return r;

        if (!waiting.done) {
                r = sd_event_loop(waiting.event);
                if (r < 0)
                        return r;
        }

        if (waiting.timed_out && waiting.result.outcome == REQUEST_CANCELLED) {
                sd_bus_error_free(&waiting.result.error);
                (void) sd_bus_error_set(&waiting.result.error, SD_BUS_ERROR_TIMEOUT,
                                "Gave up waiting, and cancelled the call.");
        }
        waiting.result.interrupted = waiting.interrupted && waiting.result.outcome == REQUEST_CANCELLED;
        *ret = waiting.result;
        waiting.result = (RequestResult){};
        return 0;
}
