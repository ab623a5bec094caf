/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "cli/approver.h"
#include "cli/client.h"
#include "cli/memory-file.h"
#include "cli/output.h"
#include "cli/polkit-agent.h"
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/sanitize.h"

#define APPROVALS ".Approvals"
#define NO_AUTHENTICATION_AGENT "no authentication agent" /* in the words of the service (dbus/polkit.c) */

int approver_register(Cli *cli, char **ret_owner, sd_bus_error *reterr) {
        static const CallOption options[] = { { "label", 's', .text = "codewhalectl" }, {} };
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = client_call_options(
                        cli, APPROVALS, "Register", CLIENT_WAIT_SHORT, NULL, options, &reply, reterr);
        if (r < 0)
                return r;

        if (ret_owner)
                *ret_owner = g_strdup(sd_bus_message_get_sender(reply));
        return 0;
}

int approver_list(Cli *cli, GArray **ret, sd_bus_error *reterr) {
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        g_autoptr(sd_bus_message) reply = NULL;
        uint64_t id;
        int r;

        r = client_call(cli, APPROVALS, "List", CLIENT_WAIT_SHORT, &reply, reterr, NULL);
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "(to)");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_read(reply, "(to)", &id, NULL)) > 0)
                g_array_append_val(ids, id);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&ids);
        return 0;
}

int approver_describe(Cli *cli, uint64_t id, Card **ret, char **ret_json, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        g_autoptr(Card) card = NULL;
        int r;

        r = client_call_text(cli, APPROVALS, "Describe", CLIENT_WAIT_SHORT, &json, reterr, "t", id);
        if (r < 0)
                return r;

        r = card_parse(cli, json, &card);
        if (r < 0 || card->id != id)
                return sd_bus_error_setf(
                                reterr, SD_BUS_ERROR_FAILED, "Card %" PRIu64 " cannot be read.", id);

        *ret = g_steal_pointer(&card);
        if (ret_json)
                *ret_json = g_steal_pointer(&json);
        return 0;
}

static int send_answer(Cli *cli, uint64_t id, const char *digest, bool allow, const CallOption *options, ClientWait wait,
                sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = client_new_call(cli, NULL, APPROVALS, "Answer", &m, reterr);
        if (r >= 0)
                r = sd_bus_message_append(m, "tss", id, allow ? "allow" : "deny", digest);
        if (r >= 0)
                r = client_append_options(m, options);
        return r < 0 ? r : client_send(cli, m, wait, NULL, reterr);
}

/* Nobody but an agent on this terminal could ask for the password. */
static bool lacks_agent(const sd_bus_error *error) {
        return sd_bus_error_has_name(error, ERROR_NOT_AUTHORIZED) && error->message && strstr(error->message, NO_AUTHENTICATION_AGENT);
}

int approver_answer(Cli *cli, uint64_t id, const char *digest, bool allow, const char *scope, uint64_t seconds,
                sd_bus_error *reterr) {
        const CallOption options[] = { { "scope", 's', .text = scope }, { "seconds", 'u', .number = seconds }, {} };
        PolkitAgent agent = {};
        int r;

        if (!allow || !scope)
                return send_answer(cli, id, digest, allow, options, CLIENT_WAIT_SHORT, reterr);
        r = send_answer(cli, id, digest, allow, options, CLIENT_WAIT_PERSON, reterr);
        if (r >= 0 || !lacks_agent(reterr))
                return r;

        polkit_agent_open(&agent);
        if (agent.pid > 0) {
                sd_bus_error_free(reterr);
                r = send_answer(cli, id, digest, allow, options, CLIENT_WAIT_PERSON, reterr);
        }
        polkit_agent_close(&agent);
        return r;
}

int approver_arguments(Cli *cli, uint64_t id, char **ret, sd_bus_error *reterr) {
        g_autofree char *path = g_strdup_printf("%s/approval/%" PRIu64, CLIENT_ROOT, id);
        g_autoptr(sd_bus_message) m = NULL, reply = NULL;
        g_autofree char *text = NULL;
        int fd, r;

        r = client_new_call(cli, path, ".Approval", "OpenArguments", &m, reterr);
        if (r >= 0)
                r = client_send(cli, m, CLIENT_WAIT_SHORT, &reply, reterr);
        if (r >= 0)
                r = sd_bus_message_read(reply, "h", &fd);
        if (r >= 0)
                r = memory_file_read(fd, &text);
        if (r < 0)
                return r;

        *ret = sanitize_block(text, OUTPUT_TEXT_BYTES_MAX, NULL);
        return 0;
}
