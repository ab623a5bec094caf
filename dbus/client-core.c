/* SPDX-License-Identifier: MIT */
#include "dbus/client-core.h"

#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/paths.h"
#include "service/core-result.h"

#define INTERFACE_CORE INTERFACE_ROOT ".Core"

typedef struct ClientCore {
        sd_bus *bus;
        char *client, *object;
} ClientCore;

typedef struct ClientJob {
        ClientCore *core;
        char *call_id;
        sd_bus_slot *slot;
        CoreDone done;
        void *userdata;
} ClientJob;

static void job_free(ClientJob *job) {
        sd_bus_slot_unref(job->slot);
        g_free(job->call_id);
        g_free(job);
}

/* ---- the answer ---- */

/* The client is gone or can't be reached at all; anything else is what its tool had to say. */
static bool is_unreachable(const char *name) {
        static const char *const names[] = {
                SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER, SD_BUS_ERROR_DISCONNECTED, SD_BUS_ERROR_UNKNOWN_OBJECT,
                SD_BUS_ERROR_UNKNOWN_INTERFACE, SD_BUS_ERROR_UNKNOWN_METHOD, SD_BUS_ERROR_ACCESS_DENIED,
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (strcmp(names[i], name) == 0)
                        return true;
        return false;
}

static void tell_error(ClientJob *job, const sd_bus_error *error) {
        const char *message = error->message && error->message[0] ? error->message : error->name;
        CoreAnswer answer = {};
        g_autofree char *json = NULL, *text = NULL;

        if (is_unreachable(error->name)) {
                text = g_strdup_printf("The client that is the core of this session does not answer: %s", message);
                answer.error_name = ERROR_HOST_UNAVAILABLE;
        } else if (strcmp(error->name, SD_BUS_ERROR_NO_REPLY) == 0 || strcmp(error->name, SD_BUS_ERROR_TIMEOUT) == 0) {
                text = g_strdup("The client that is the core of this session did not answer in time.");
                answer.error_name = ERROR_DEADLINE_EXCEEDED;
        } else {
                /* A core tool that failed is a result (6.8). */
                json = core_result_error(message, &answer.size);
                answer.json = json;
        }
        answer.error_message = text;
        job->done(&answer, job->userdata);
}

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        ClientJob *job = userdata;
        CoreAnswer answer = {};
        const char *text = NULL;

        (void) reterr;
        if (sd_bus_message_is_method_error(m, NULL))
                tell_error(job, sd_bus_message_get_error(m));
        else {
                /* Whoever else guesses the number of our call is not the core. */
                if (g_strcmp0(sd_bus_message_get_sender(m), job->core->client) != 0) {
                        answer.error_name = ERROR_EXECUTION_FAILED;
                        answer.error_message = "The answer came from another client than the core of this session.";
                } else if (sd_bus_message_read(m, "s", &text) <= 0) {
                        answer.error_name = ERROR_EXECUTION_FAILED;
                        answer.error_message = "The answer of the core is no text.";
                } else {
                        answer.json = text;
                        answer.size = strlen(text);
                }
                job->done(&answer, job->userdata);
        }
        job_free(job);
        return 0;
}

/* ---- the call ---- */

static int append_operands(sd_bus_message *m, const GPtrArray *operands) {
        int r = sd_bus_message_open_container(m, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append(m, "s", "operands");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'v', "a(ss)");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "(ss)");
        for (guint i = 0; r >= 0 && operands && i < operands->len; i++) {
                const CoreOperand *operand = g_ptr_array_index(operands, i);

                r = sd_bus_message_append(m, "(ss)", operand->path, operand->sha256);
        }
        for (int i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(m);
        return r;
}

static int make_call(const ClientCore *core, const CoreRequest *request, sd_bus_message **ret) {
        g_autofree char *input = g_strndup(request->input, request->input_size);
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = sd_bus_message_new_method_call(core->bus, &m, core->client, core->object, INTERFACE_CORE, "Call");
        if (r >= 0)
                r = sd_bus_message_append(m, "sss", request->call_id, request->tool->name, input);
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(m, "{sv}{sv}{sv}{sv}", "name", "s", request->name, "parent", "s", request->parent, "plugin", "s",
                                          request->plugin, "workspace", "s", request->workspace);
        if (r >= 0)
                r = append_operands(m, request->operands);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&m);
        return 0;
}

static int client_start(
                void *data, const CoreRequest *request, CoreDone done, void *userdata, void **ret_job, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) m = NULL;
        ClientCore *core = data;
        ClientJob *job;
        int r;

        if (request->input_size > BUS_MESSAGE_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "The input is larger than a message to the core may be.");
        r = make_call(core, request, &m);
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "The core can't be called: %s.", g_strerror(-r));

        job = g_new0(ClientJob, 1);
        job->core = core;
        job->call_id = g_strdup(request->call_id);
        job->done = done;
        job->userdata = userdata;
        r = sd_bus_call_async(core->bus, &job->slot, m, on_answer, job, CORE_RUN_MSEC_MAX * UINT64_C(1000));
        if (r < 0) {
                job_free(job);
                return errors_set(reterr, ERROR_HOST_UNAVAILABLE, "The core can't be called: %s.", g_strerror(-r));
        }
        *ret_job = job;
        return 0;
}

static void client_cancel(void *data) {
        ClientJob *job = data;
        g_autoptr(sd_bus_message) m = NULL;

        if (sd_bus_message_new_method_call(job->core->bus, &m, job->core->client, job->core->object, INTERFACE_CORE, "Cancel") >= 0 &&
                        sd_bus_message_append(m, "s", job->call_id) >= 0 && sd_bus_message_set_expect_reply(m, false) >= 0)
                (void) sd_bus_send(job->core->bus, m, NULL);
        job_free(job);
}

static void client_free(void *data) {
        ClientCore *core = data;

        sd_bus_unref(core->bus);
        g_free(core->client);
        g_free(core->object);
        g_free(core);
}

static const CoreBackend client_backend = {
        .start = client_start,
        .cancel = client_cancel,
        .free = client_free,
};

SessionCore *client_core_new(sd_bus *bus, const char *client, const char *object, CoreTools *tools) {
        ClientCore *core = g_new0(ClientCore, 1);

        core->bus = sd_bus_ref(bus);
        core->client = g_strdup(client);
        core->object = g_strdup(object);
        return session_core_new("client", tools, &client_backend, core);
}
