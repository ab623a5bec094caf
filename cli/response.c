/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "cli/failure.h"
#include "cli/memory-file.h"
#include "cli/response.h"
#include "common/cleanup.h"
#include "common/errors.h"

void request_result_done(RequestResult *result) {
        g_clear_pointer(&result->result, g_free);
        g_clear_pointer(&result->call_id, g_free);
        sd_bus_error_free(&result->error);
}

static int take_text(sd_bus_message *m, char **target) {
        const char *text;
        int r = sd_bus_message_read(m, "v", "s", &text);

        if (r < 0)
                return r;

        g_free(*target);
        *target = g_strdup(text);
        return 0;
}

static int take_result(
                sd_bus_message *m, const char *key, RequestResult *result, char **name, char **message) {
        int fd, r;

        if (strcmp(key, "result") == 0)
                return take_text(m, &result->result);
        if (strcmp(key, "call-id") == 0)
                return take_text(m, &result->call_id);
        if (strcmp(key, "error-name") == 0)
                return take_text(m, name);
        if (strcmp(key, "error-message") == 0)
                return take_text(m, message);
        if (strcmp(key, "result-fd") != 0)
                return sd_bus_message_skip(m, "v");

        r = sd_bus_message_read(m, "v", "h", &fd);
        if (r < 0)
                return r;
        g_clear_pointer(&result->result, g_free);
        return memory_file_read(fd, &result->result);
}

int response_read(sd_bus_message *m, RequestResult *result) {
        g_autofree char *name = NULL, *message = NULL;
        uint32_t outcome;
        const char *key;
        int r;

        r = sd_bus_message_read(m, "u", &outcome);
        if (r < 0)
                return r;

        r = sd_bus_message_enter_container(m, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                r = sd_bus_message_read(m, "s", &key);
                if (r >= 0)
                        r = take_result(m, key, result, &name, &message);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
        }
        if (r < 0)
                return r;

        result->outcome = outcome < _REQUEST_OUTCOME_MAX ? (RequestOutcome) outcome : REQUEST_FAILED;
        if (result->outcome == REQUEST_ANSWERED && !result->result)
                return -EBADMSG;
        if (result->outcome != REQUEST_ANSWERED)
                (void) sd_bus_error_set(&result->error, name ? name : ERROR_CANCELLED,
                                message ? message : "The call was cancelled.");
        return 0;
}

int response_report(const Cli *cli, const char *name, const RequestResult *result) {
        int status;

        if (result->interrupted) {
                note_say("Cancelled.");
                return EXIT_STATUS_INTERRUPTED;
        }

        status = failure_report(cli, -EIO, &result->error, name);
        if (result->call_id)
                note_say("How it came to that: codewhalectl why %s", result->call_id);
        return status;
}
